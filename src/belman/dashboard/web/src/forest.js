// Lift over control (or, without one, what is expected of each arm), with both kinds of interval.
import { coloured, dot, h, refill, s } from "./dom.js";
import { term } from "./glossary.js";
import { chance, number, percent, share, signed, ticks } from "./words.js";

const TALL = 26;
const MOST = 12; // arms that are drawn; the table of the arms has the others

export class Forest {
  constructor() {
    this.title = h("h2", { id: "lift" });
    this.note = h("p", { class: "note" });
    this.table = h("table", { class: "forest" });
    this.element = h("section", { "aria-labelledby": "lift" }, this.title, this.note, this.table);
  }

  show(view, words) {
    const { report } = view;
    this.element.hidden = !report;
    if (!report) return;
    const control = report.control;
    this.title.textContent = control === null ? `The ${words.quantity} of each arm` : `Lift over ${control}`;
    const likely = report.arms.filter((arm) => arm.arm !== control && (control === null || arm.lift)).slice(0, MOST);
    const arms = report.arms.filter((arm) => likely.includes(arm) || arm.arm === control);
    const relative = arms.every((arm) => !arm.lift || arm.lift.relative);
    const write = control === null ? words.write : relative ? percent : (value) => number(value, 3);
    const level = share(report.level);
    refill(this.note, "Thick: the ", term("credible", `${level} credible interval`), ". Thin: the ", term("anytime", `interval at any look`),
      control === null ? ". Name a control when you create a study to see lifts." : ".", report.arms.length > arms.length ? ` These are the ${likely.length} arms that are most likely the best; all are in the table below.` : "");
    const rows = arms.map((arm) => row(arm, control, relative));
    const ends = rows.flatMap((one) => [one.middle, ...one.credible]).filter(Number.isFinite);
    let [low, high] = [Math.min(...ends, control === null ? Infinity : 0), Math.max(...ends, control === null ? -Infinity : 0)];
    const reach = rows.flatMap((one) => one.anytime ?? []).filter(Number.isFinite);
    const span = high - low || 1;
    [low, high] = [Math.max(Math.min(low, ...reach), low - span), Math.min(Math.max(high, ...reach), high + span)];
    const x = (value) => `${(2 + 96 * Math.max(0, Math.min(1, (clamp(value) - low) / (high - low || 1)))).toFixed(2)}%`;
    const marks = ticks(low, high, 4);
    const sign = control === null ? write : (value) => (value === 0 ? "0" : signed(value, write));
    const tick = control !== null && !relative ? sign : control === null ? (words.axis ?? write) : (value) => signed(value, share);
    const axis = s("svg", { class: "axis", height: 16, "aria-hidden": "true" },
      ...marks.map((at) => s("text", { class: "tick", x: x(at), y: 12, "text-anchor": "middle" }, at === 0 && control !== null ? "0" : tick(at))));
    const last = control === null ? ["chance to be best", "best"] : ["beats control", "beats"];
    const named = [["arm", "arm"], null, control === null ? [words.quantity, words.term] : ["lift", "lift"], [`${level} credible`, "credible"], ["at any look", "anytime"], last];
    const head = named.map((one) => one?.[0]);
    refill(this.table,
      h("thead", {}, h("tr", {}, ...named.map((one) => h("th", { scope: "col", class: one ? "" : "scale" }, one ? term(one[1], one[0]) : [h("span", { class: "only-read" }, "drawing"), axis])))),
      h("tbody", {}, ...rows.map((one) => this.row(one, { x, marks, sign, control, head, words }))));
  }

  row(one, { x, marks, sign, control, head, words }) {
    const range = (ends) => (ends ? `${sign(ends[0])} to ${sign(ends[1])}` : "–");
    const picture = s("svg", { class: "interval", height: TALL, "aria-hidden": "true" },
      ...marks.map((at) => s("line", { class: at === 0 && control !== null ? "zero" : "grid", x1: x(at), x2: x(at), y1: 0, y2: TALL })));
    const y = TALL / 2;
    if (one.isControl) picture.append(s("svg", { x: x(0), y, class: "beyond" }, coloured(s("path", { class: "diamond", d: "M0-6L6 0 0 6-6 0z" }), one.colour)));
    else {
      if (one.anytime) {
        const [from, to] = one.anytime.map(x);
        const stroke = (x1, x2, reach) => coloured(s("line", { class: "thin", x1, x2, y1: y - reach, y2: y + reach }), one.colour);
        picture.append(stroke(from, to, 0), stroke(from, from, 4), stroke(to, to, 4));
      }
      picture.append(coloured(s("line", { class: "thick", x1: x(one.credible[0]), x2: x(one.credible[1]), y1: y, y2: y }), one.colour),
        coloured(s("circle", { class: "middle", cx: x(one.middle), cy: y, r: 4.5 }), one.colour));
    }
    const cell = (i, value) => h("td", { "data-label": head[i] }, value);
    const start = [h("th", { scope: "row" }, dot(one.colour), one.name, one.isControl && h("span", { class: "tag" }, "control")), h("td", { class: "drawing" }, picture)];
    if (one.isControl) return h("tr", {}, ...start, h("td", { colspan: 4, class: "base" }, `${words.quantity} ${words.write(one.expected)}`));
    return h("tr", {}, ...start, cell(2, sign(one.middle)), cell(3, range(one.credible)), cell(4, range(one.anytime)), cell(5, chance(control === null ? one.best : one.beats)));
  }
}

const clamp = (value) => (value === "inf" ? Infinity : value === "-inf" ? -Infinity : value);

function row(arm, control, relative) {
  const base = { name: String(arm.arm), colour: arm.colour, best: arm.chance_best };
  if (control === null) return { ...base, middle: arm.expected, credible: arm.credible, anytime: arm.anytime };
  if (arm.arm === control) return { ...base, isControl: true, expected: arm.expected, middle: 0, credible: [0, 0] };
  const found = relative ? arm.lift.relative : arm.lift.absolute;
  return { ...base, middle: found.middle, credible: found.credible, anytime: relative ? arm.anytime_relative : arm.anytime_lift, beats: arm.lift.beats };
}
