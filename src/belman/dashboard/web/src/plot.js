// Drawings over an axis, whose values are read by hovering and by the arrow keys.
import { h, s } from "./dom.js";
import { number, ticks, timeTicks } from "./words.js";

// Where a key leads among the stops from 0 to the last.
export function stop(event, from, last) {
  const step = { ArrowLeft: -1, ArrowRight: 1, ArrowDown: -1, ArrowUp: 1, PageDown: -10, PageUp: 10 }[event.key];
  const to = event.key === "Home" ? 0 : event.key === "End" ? last : step && from + step;
  if (to === undefined) return undefined;
  event.preventDefault();
  return Math.max(0, Math.min(to, last));
}

const EDGE = { left: 56, right: 10, top: 12, bottom: 26 };

export class Plot {
  constructor(label, { tall = 250, time = false } = {}) {
    Object.assign(this, { label, tall, time, at: null, given: null });
    this.drawing = s("svg", { class: "plot", "aria-hidden": "true" });
    this.cursor = s("g", { class: "cursor" });
    this.reading = h("p", { class: "reading" });
    this.host = h("div", { class: "chart", role: "slider", tabindex: 0, "aria-label": label, "aria-valuemin": 0 }, this.drawing);
    this.element = h("div", { class: "figure" }, this.host, this.reading);
    this.host.addEventListener("keydown", (event) => this.key(event));
    this.host.addEventListener("pointermove", (event) => this.point(event));
    this.host.addEventListener("pointerleave", () => this.host === document.activeElement || this.move(null));
    this.host.addEventListener("blur", () => this.move(null));
    this.host.addEventListener("focus", () => this.move(this.at ?? this.given?.rest ?? this.last));
    this.observer = new ResizeObserver(() => this.given && this.show(this.given));
    this.observer.observe(this.host);
  }

  // stops: where values can be read; read(i): the words for a stop; x, y: [low, high]; draw({x, y, edge, wide}): shapes.
  show(given) {
    this.given = given;
    const wide = Math.max(this.host.clientWidth, 260);
    const most = Math.max(2, Math.floor(wide / 110));
    const across = this.time ? timeTicks(...given.x, most) : ticks(...given.x, most).map((at) => ({ at, words: (given.writeX ?? given.write ?? number)(at, 3), below: "" }));
    const tall = this.tall + (across.some((tick) => tick.below) ? 15 : 0);
    const edge = { ...EDGE, wide, tall: this.tall };
    this.drawing.setAttribute("viewBox", `0 0 ${wide} ${tall}`);
    const scale = ([low, high], from, to) => (value) => from + ((value - low) / (high - low || 1)) * (to - from);
    const x = scale(given.x, EDGE.left, wide - EDGE.right);
    const y = scale(given.y, this.tall - EDGE.bottom, EDGE.top);
    this.x = x;
    const write = given.write ?? ((value) => number(value, 3));
    const parts = ticks(...given.y, 4).flatMap((tick) => [
      s("line", { class: tick === 0 ? "zero" : "grid", x1: EDGE.left, x2: wide - EDGE.right, y1: y(tick), y2: y(tick) }),
      s("text", { class: "tick", x: EDGE.left - 8, y: y(tick) + 4, "text-anchor": "end" }, write(tick))]);
    const below = this.tall - EDGE.bottom;
    for (const tick of across) {
      const side = x(tick.at) > wide - 40 ? "end" : x(tick.at) < EDGE.left + 20 ? "start" : "middle";
      parts.push(s("line", { class: "notch", x1: x(tick.at), x2: x(tick.at), y1: below, y2: below + 4 }),
        s("text", { class: "tick", x: x(tick.at), y: below + 17, "text-anchor": side }, tick.words),
        s("text", { class: "tick", x: x(tick.at), y: below + 32, "text-anchor": side }, tick.below));
    }
    this.drawing.replaceChildren(...parts, ...given.draw({ x, y, edge }), this.cursor);
    this.last = given.stops.length - 1;
    this.host.setAttribute("aria-valuemax", Math.max(this.last, 0));
    this.move(this.at === null ? null : Math.min(this.at, this.last));
  }

  key(event) {
    const to = stop(event, this.at ?? this.given.rest ?? this.last, this.last);
    if (to !== undefined) this.move(to);
  }

  point(event) {
    if (!this.given?.stops.length) return;
    const box = this.drawing.getBoundingClientRect();
    const at = ((event.clientX - box.left) / box.width) * Math.max(this.host.clientWidth, 260);
    const far = this.given.stops.map((stop) => Math.abs(this.x(stop) - at));
    this.move(far.indexOf(Math.min(...far)));
  }

  move(to) {
    this.at = to;
    const shown = to === null || to < 0 ? this.given.rest ?? this.last : to;
    const words = shown >= 0 ? this.given.read(shown) : { title: "nothing yet", rows: [] };
    this.host.setAttribute("aria-valuenow", Math.max(shown, 0));
    this.host.setAttribute("aria-valuetext", [words.title, ...words.rows.map(({ name, value }) => `${name} ${value}`)].join("; "));
    this.reading.replaceChildren(h("b", {}, words.title), ...words.rows.map(({ mark, name, value }) => h("span", {}, mark ?? "", `${name} `, h("b", {}, value))));
    this.cursor.replaceChildren(...(to === null || to < 0 ? [] : [
      s("line", { x1: this.x(this.given.stops[to]), x2: this.x(this.given.stops[to]), y1: EDGE.top, y2: this.tall - EDGE.bottom })]));
  }

  destroy() {
    this.observer.disconnect();
  }
}

// A path through points; what is missing breaks it.
export function line(xs, ys, x, y) {
  let pen = "M";
  return xs.map((value, i) => {
    if (ys[i] === null || ys[i] === undefined) {
      pen = "M";
      return "";
    }
    const part = `${pen}${x(value).toFixed(1)} ${y(ys[i]).toFixed(1)}`;
    pen = "L";
    return part;
  }).join("");
}
