// What is told beside the reward: means of every metric, arm by arm.
import { h, refill } from "./dom.js";
import { term } from "./glossary.js";
import { number } from "./words.js";

const HEAD = ["metric", "arm", "values", "mean", "95 % interval, one look"];

export class Metrics {
  constructor() {
    this.rows = h("tbody");
    this.element = h("section", { "aria-labelledby": "metrics", hidden: true }, h("h2", { id: "metrics" }, "Metrics"),
      h("p", { class: "note" }, "What is told beside the reward. No policy sees it; a ", term("guard"), " may limit it. Intervals are for one look at a moment fixed ahead."),
      h("div", { class: "scroll" }, h("table", { class: "cards" }, h("thead", {}, h("tr", {}, ...HEAD.map((name) => h("th", { scope: "col" }, name)))), this.rows)));
  }

  show({ report }) {
    const found = report?.metrics ?? [];
    this.element.hidden = !found.length;
    const cells = (one) => [one.arm, number(one.n), number(one.mean), `${number(one.low)} to ${number(one.high)}`];
    refill(this.rows, ...found.map((one) => h("tr", {}, h("th", { scope: "row" }, one.metric), ...cells(one).map((cell, i) => h("td", { "data-label": HEAD[i + 1] }, cell)))));
  }
}
