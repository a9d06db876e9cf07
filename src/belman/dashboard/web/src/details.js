// For whoever wants to know more: beliefs as densities, the manifold, and why this arm now.
import { coloured, dot, h, s } from "./dom.js";
import { term } from "./glossary.js";
import { Manifold } from "./manifold.js";
import { Plot, line } from "./plot.js";
import { number } from "./words.js";

export class Details {
  constructor(changed) {
    this.beliefs = new Plot("Beliefs about the arms", { tall: 250 });
    this.manifold = new Manifold();
    this.why = h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Why this arm now" });
    this.reason = h("div", {}, h("h3", {}, "Why this arm now"), h("p", { class: "note" }, "What the policy sees of each arm; the largest ", term("index"), " is chosen next."), this.why);
    this.waiting = h("p", { class: "note" }, "Working it out …");
    this.content = h("div", { hidden: true },
      h("h3", {}, "What is believed"), h("p", { class: "note" }, "The ", term("belief"), " about each arm: the higher the curve, the likelier that value. Dashed, the ", term("pseudobelief"), "."), this.beliefs.element,
      h("h3", {}, "The manifold"), h("p", { class: "note" }, "The same beliefs as points of the ", term("manifold"), ": to the right more is expected, upwards its ", term("precision"), " grows. Trails show the way since this page was opened; the square is the pseudobelief."), this.manifold.element, this.reason);
    this.element = h("details", { class: "more", ontoggle: () => changed() }, h("summary", {}, "Details: beliefs, the manifold, why this arm now"), this.waiting, this.content);
  }

  show(view) {
    const found = view.details;
    this.waiting.hidden = Boolean(found);
    this.content.hidden = !found;
    if (!found || !this.element.open) return;
    const arms = found.arms.map((id) => view.arms.find((arm) => arm.id === id));
    const { x: xs, series, pseudobelief } = found.densities;
    const top = Math.max(...series.flat(), ...pseudobelief) || 1;
    const at = (i) => arms.map((arm, j) => ({ mark: dot(arm.colour), name: arm.label, value: number(series[j][i], 3) }));
    this.beliefs.show({ x: [xs[0], xs.at(-1)], y: [0, 1.05 * top], stops: xs, rest: series[0].indexOf(Math.max(...series[0])),
      read: (i) => ({ title: `${view.quantity} ${number(xs[i], 3)}: density`, rows: at(i) }),
      draw: ({ x, y }) => [s("path", { class: "split", d: line(xs, pseudobelief, x, y) }), ...arms.map((arm, i) => coloured(s("path", { class: "curve", d: line(xs, series[i], x, y) }), arm.colour))] });
    this.manifold.show(found.manifold, arms);
    this.reason.hidden = !found.why; // where the arm depends on the context
    if (found.why) this.why.replaceChildren(explanation(found.why, view));
  }

  destroy() {
    this.beliefs.destroy();
  }
}

function explanation(why, view) {
  const colour = (id) => view.arms.find((arm) => arm.id === id)?.colour;
  const head = h("tr", {}, h("th", { scope: "col" }, "arm"), ...why.columns.map((name) => h("th", { scope: "col" }, name)));
  const rows = why.rows.map((row) => h("tr", {}, h("th", { scope: "row" }, dot(colour(row.id)), row.label), ...row.cells.map((cell) => h("td", {}, number(cell)))));
  return h("table", {}, h("caption", {}, why.title + (why.more ? ` (${number(why.more)} more)` : "")), h("thead", {}, head), h("tbody", {}, ...rows));
}
