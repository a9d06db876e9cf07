// Arms and pseudobelief as points, mean against precision, with the way they came; read by hovering and by the arrow keys.
import { coloured, dot, h, s } from "./dom.js";
import { stop } from "./plot.js";
import { number, ticks } from "./words.js";

const TALL = 270;
const EDGE = { left: 78, right: 16, top: 16, bottom: 40 };
const LONGEST = 80;

export class Manifold {
  constructor() {
    this.trails = new Map();
    this.at = 0;
    this.drawing = s("svg", { class: "manifold", "aria-hidden": "true" });
    this.reading = h("p", { class: "reading" });
    this.host = h("div", { class: "chart", role: "slider", tabindex: 0, "aria-label": "The manifold, arm by arm", "aria-valuemin": 0,
      onkeydown: (event) => this.read(stop(event, this.at, this.arms.length - 1)), onpointermove: (event) => this.read(this.nearest(event)) }, this.drawing);
    this.element = h("div", { class: "figure" }, this.host, this.reading);
  }

  nearest(event) {
    const box = this.drawing.getBoundingClientRect();
    const far = this.spots.map(([x, y]) => Math.hypot(x - event.clientX + box.left, y - event.clientY + box.top));
    return far.indexOf(Math.min(...far));
  }

  // The numbers of one arm, in words.
  read(to) {
    if (to === undefined || to < 0) return;
    this.at = to;
    const { label, colour, id } = this.arms[to];
    const point = this.trails.get(id)?.at(-1) ?? [];
    const rows = [[this.quantity, point[0]], ["precision", point[1]]].map(([name, value]) => [name, number(value, 3)]);
    this.host.setAttribute("aria-valuenow", to);
    this.host.setAttribute("aria-valuemax", this.arms.length - 1);
    this.host.setAttribute("aria-valuetext", [label, ...rows.map((row) => row.join(" "))].join("; "));
    this.reading.replaceChildren(h("b", {}, dot(colour), label), ...rows.map(([name, value]) => h("span", {}, `${name} `, h("b", {}, value))));
  }

  show({ points, pseudobelief, quantity }, arms) {
    const now = new Map(arms.map((arm, i) => [arm.id, points[i]]));
    now.set("pseudobelief", pseudobelief);
    for (const id of [...this.trails.keys()]) if (!now.has(id)) this.trails.delete(id);
    for (const [id, point] of now) {
      if (point.some((part) => part === null)) continue;
      const trail = this.trails.get(id) ?? [];
      trail.push(point);
      this.trails.set(id, trail.slice(-LONGEST));
    }
    Object.assign(this, { arms, quantity });
    this.draw(arms, quantity);
    this.read(Math.min(this.at, arms.length - 1));
  }

  draw(arms, quantity) {
    const wide = Math.max(this.drawing.clientWidth, 280);
    this.drawing.setAttribute("viewBox", `0 0 ${wide} ${TALL}`);
    const all = [...this.trails.values()].flat();
    const [x, xTicks] = scale(all.map((point) => point[0]), EDGE.left, wide - EDGE.right, false);
    const [y, yTicks] = scale(all.map((point) => point[1]), TALL - EDGE.bottom, EDGE.top, true);
    const parts = [];
    for (const tick of xTicks) {
      parts.push(s("line", { class: "grid", x1: x(tick), x2: x(tick), y1: EDGE.top, y2: TALL - EDGE.bottom }));
      parts.push(s("text", { class: "tick", x: x(tick), y: TALL - EDGE.bottom + 16, "text-anchor": "middle" }, number(tick, 3)));
    }
    for (const tick of yTicks) {
      parts.push(s("line", { class: "grid", x1: EDGE.left, x2: wide - EDGE.right, y1: y(tick), y2: y(tick) }));
      parts.push(s("text", { class: "tick", x: EDGE.left - 6, y: y(tick) + 4, "text-anchor": "end" }, number(tick, 3)));
    }
    parts.push(s("text", { class: "tick", x: (wide + EDGE.left) / 2, y: TALL - 6, "text-anchor": "middle" }, quantity));
    parts.push(s("text", { class: "tick", transform: `translate(13 ${TALL / 2}) rotate(-90)`, "text-anchor": "middle" }, "precision"));
    const labels = [];
    for (const [id, trail] of this.trails) {
      const middle = id === "pseudobelief";
      const arm = arms.find((one) => one.id === id);
      const mark = (shape) => (middle ? shape : coloured(shape, arm.colour));
      const [px, py] = [x(trail.at(-1)[0]), y(trail.at(-1)[1])];
      parts.push(mark(s("polyline", { class: "trail", points: trail.map((point) => `${x(point[0])},${y(point[1])}`).join(" ") })));
      parts.push(middle
        ? s("rect", { class: "point", x: px - 5, y: py - 5, width: 10, height: 10 })
        : mark(s("circle", { class: "point", cx: px, cy: py, r: 6 })));
      labels.push({ x: px, y: py - 10, text: middle ? "pseudobelief" : arm.label });
    }
    parts.push(...spread(labels, wide).map(({ x: at, y: up, text }) =>
      s("text", { class: "name", x: at, y: up, "text-anchor": "middle" }, text.length > 18 ? `${text.slice(0, 17)}…` : text)));
    this.spots = arms.map(({ id }) => this.trails.get(id)?.at(-1)).map((point) => (point ? [x(point[0]), y(point[1])] : [Infinity, Infinity]));
    this.drawing.replaceChildren(...parts);
  }
}

// Labels that step up, or below their point, where they would cover one another or a point, and stay inside.
function spread(labels, wide) {
  const placed = labels.map(({ x, y }) => ({ x, y: y + 14, half: 7 }));
  for (const label of labels.sort((a, b) => b.y - a.y)) {
    const half = Math.min(label.text.length, 18) * 3.6 + 3;
    label.x = Math.max(EDGE.left + half, Math.min(label.x, wide - EDGE.right - half));
    const free = (y) => y >= 12 && y <= TALL - EDGE.bottom
      && !placed.some((other) => Math.abs(other.x - label.x) < half + other.half && Math.abs(other.y - y) < 14);
    const steps = [...Array(10).keys()].flatMap((step) => [label.y - 14 * step, label.y + 28 + 14 * step]);
    label.y = steps.find(free) ?? Math.max(label.y, 12);
    placed.push({ x: label.x, y: label.y, half });
  }
  return labels;
}

function scale(values, from, to, logarithmic) {
  const bend = logarithmic ? Math.log : (value) => value;
  let low = Math.min(...values);
  let high = Math.max(...values);
  if (logarithmic) [low, high] = [low / 1.3, high * 1.6];
  else [low, high] = [low - 0.06 * (high - low || 1), high + 0.06 * (high - low || 1)];
  const at = (value) => from + ((bend(value) - bend(low)) / (bend(high) - bend(low))) * (to - from);
  return [at, logarithmic ? decades(low, high) : ticks(low, high)];
}

function decades(low, high) {
  const found = [];
  const factors = high / low < 200 ? [1, 2, 5] : [1];
  for (let power = Math.floor(Math.log10(low)); power <= Math.log10(high); power += 1)
    for (const factor of factors) if (factor * 10 ** power >= low && factor * 10 ** power <= high) found.push(factor * 10 ** power);
  return found;
}
