// What a study knows by context: the best arm of every segment, or the coefficient of every feature.
import { h } from "./dom.js";
import { term } from "./glossary.js";
import { chance, number, share } from "./words.js";

const SEGMENTS = ["segment", "most likely best", "rewards", "expected", "95 %", "chance to be best", "borrowed"];
const SHOWN_TO = "Which arm is best depends on the context: the averages above are over those to whom each arm was shown. ";
const COEFFICIENTS = ["feature", "of", "coefficient", "95 %", "per"];

export class Contexts {
  constructor() {
    this.words = h("p", { class: "note" });
    this.table = h("div", { class: "scroll", tabindex: 0, role: "region", "aria-labelledby": "contexts" });
    this.element = h("section", { "aria-labelledby": "contexts", hidden: true }, h("h2", { id: "contexts" }, "By context"), this.words, this.table);
  }

  show({ contexts }, words) {
    this.element.hidden = !contexts;
    if (!contexts) return;
    const { segments, coefficients } = contexts;
    if (segments) {
      this.words.replaceChildren(SHOWN_TO, "The most likely best arm of every ", term("segment"), ". A small one borrows rewards from the others: the last column says which share of them counts in it.");
      const rows = segments.segment.map((name, i) => [name, segments.arm[i], number(segments.plays[i]), words.write(segments.expected[i]),
        `${words.write(segments.low[i])} to ${words.write(segments.high[i])}`, chance(segments.best[i]), share(segments.borrowed[i])]);
      this.table.replaceChildren(table(SEGMENTS, rows));
    } else {
      this.words.replaceChildren(SHOWN_TO, "The coefficient of every feature in the one model that all arms share; of numbers, per standard deviation. Where the interval leaves out 0, the sign is known.");
      const rows = coefficients.feature.map((name, i) => [name, coefficients.of[i], number(coefficients.coefficient[i], 3),
        `${number(coefficients.low[i], 3)} to ${number(coefficients.high[i], 3)}`, number(coefficients.per[i], 3)]);
      this.table.replaceChildren(table(COEFFICIENTS, rows));
    }
  }
}

function table(head, rows) {
  const cell = (text, i) => h("td", { "data-label": head[i + 1] }, text);
  return h("table", { class: "cards" }, h("thead", {}, h("tr", {}, ...head.map((name) => h("th", { scope: "col" }, name)))),
    h("tbody", {}, ...rows.map(([first, ...rest]) => h("tr", {}, h("th", { scope: "row" }, first), ...rest.map(cell)))));
}
