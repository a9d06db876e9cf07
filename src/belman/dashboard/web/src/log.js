// The log: what people did to the study, and, on demand, the newest events of all kinds.
import { call, studyPath } from "./api.js";
import { h } from "./dom.js";
import { moment, number } from "./words.js";

const NEWEST = 30;

export class Log {
  constructor(name) {
    this.path = (after) => `${studyPath(name)}/history?after=${after}&limit=${NEWEST}`;
    this.changes = h("ol", { class: "changes" });
    this.newest = h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "The newest events" });
    this.all = h("details", { ontoggle: () => this.load() }, h("summary", {}, "The newest events of all kinds"), this.newest);
    this.element = h("section", { "aria-labelledby": "log" }, h("h2", { id: "log" }, "The log"),
      h("p", { class: "note" }, "What was done to this study, the newest first. Every change is one event, and events are never edited or removed."), this.changes, this.all);
  }

  show(view) {
    this.number = view.number;
    this.changes.replaceChildren(...view.changes.slice(0, 12).map((one) => h("li", {}, h("time", { datetime: one.time }, moment(Date.parse(one.time) / 1000)),
      h("span", {}, h("b", {}, one.kind), one.arm !== null && ` ${one.arm}`, one.reason && `: ${one.reason}`))));
    if (this.all.open && Date.now() - this.loaded > 5000) this.load();
  }

  async load() {
    if (!this.all.open) return;
    this.loaded = Date.now();
    let found;
    try {
      found = await call("GET", this.path(Math.max(this.number - NEWEST, 0)));
    } catch (error) {
      this.newest.replaceChildren(h("p", { class: "error" }, error.message));
      return;
    }
    this.newest.replaceChildren(h("table", {}, h("thead", {}, h("tr", {}, ...["event", "time", "what", "arm", "reward"].map((name) => h("th", { scope: "col" }, name)))),
      h("tbody", {}, ...found.events.reverse().map((event) => h("tr", {}, h("th", { scope: "row" }, number(event.number)), h("td", {}, moment(Date.parse(event.time) / 1000)),
        h("td", {}, event.kind.replaceAll("_", " ")), h("td", {}, event.arm === undefined ? "–" : String(event.arm)), h("td", {}, number(event.reward)))))));
  }
}
