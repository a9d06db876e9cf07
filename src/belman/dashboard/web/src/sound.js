// Segments, soundness and guard-rails: where the answer could mislead.
import { call, studyPath } from "./api.js";
import { coded, h, refill } from "./dom.js";
import { term } from "./glossary.js";
import { chance, number, share, signed } from "./words.js";

export class Segments {
  constructor(name) {
    this.path = (by) => `${studyPath(name)}/report?by=${encodeURIComponent(by)}`;
    this.choice = h("select", { id: "by", onchange: () => this.load() });
    this.words = h("p", { class: "note", role: "status" });
    this.table = h("div", { class: "scroll" });
    this.element = h("section", { "aria-labelledby": "segments", hidden: true },
      h("div", { class: "bar" }, h("h2", { id: "segments" }, "Segments"), h("p", { class: "field inline" }, h("label", { for: "by" }, "By"), this.choice)),
      h("p", { class: "note" }, "How the leader does in each ", term("segment"), ", read from the whole log when you choose one."), this.words, this.table);
    this.names = "";
  }

  show(view, words) {
    this.write = (value) => number(words.axis ? 100 * value : value, 3);
    this.unit = words.axis ? ", points" : "";
    this.plays = words.plays;
    const attributes = view.report?.attributes ?? [];
    this.element.hidden = !attributes.length;
    if (this.names === attributes.join()) return;
    this.names = attributes.join();
    const chosen = this.choice.value;
    this.choice.replaceChildren(h("option", { value: "" }, "choose an attribute"), ...attributes.map((one) => h("option", { selected: one === chosen }, one)));
  }

  async load() {
    const by = this.choice.value;
    this.table.replaceChildren();
    this.words.textContent = by ? "Reading the log …" : "";
    if (!by) return;
    try {
      const { segments } = await call("GET", this.path(by));
      if (by !== this.choice.value) return;
      this.words.textContent = segments.sentence;
      const head = [[by, "segment"], [this.plays, this.plays === "impressions" ? "impressions" : "plays"], [`difference${this.unit}`, "difference"], [`shrunk${this.unit}`, "drawn"], ["95 % credible", "credible"], ["chance to be worse", "worse"]];
      const cells = (row) => [number(row.plays), signed(row.difference, this.write), signed(row.drawn, this.write), `${signed(row.low, this.write)} to ${signed(row.high, this.write)}`, chance(row["P(worse)"])];
      this.table.replaceChildren(h("table", { class: "cards" }, h("caption", {}, `${segments.arm} beside ${segments.against}`),
        h("thead", {}, h("tr", {}, ...head.map(([name, id]) => h("th", { scope: "col" }, term(id, name))))),
        h("tbody", {}, ...segments.rows.map((row) => h("tr", { class: row.flag ? "flagged" : "" },
          h("th", { scope: "row" }, row[by], row.flag && h("span", { class: "tag bad" }, "loses here")),
          ...cells(row).map((cell, i) => h("td", { "data-label": head[i + 1][0] }, cell)))))));
    } catch (error) {
      this.words.textContent = error.message;
    }
  }
}

export class Soundness {
  constructor() {
    this.list = h("ul", { class: "findings" });
    this.element = h("section", { "aria-labelledby": "sound" }, h("h2", { id: "sound" }, "Is the data sound?"),
      h("p", { class: "note" }, term("sound", "Tests"), " that are valid at any time. An alarm stops nothing by itself; a guard-rail takes an arm out of play."), this.list);
  }

  show({ report }) {
    this.element.hidden = !report;
    if (!report) return;
    const quiet = report.findings.filter((one) => !one.alarm);
    const drift = quiet.filter((one) => one.question.startsWith("drift"));
    const shown = [...report.findings.filter((one) => one.alarm), ...quiet.filter((one) => !drift.includes(one))];
    const items = shown.map((one) => finding(one.alarm ? "bad" : one.question === "late rewards" ? "plain" : "good", one.sentence, one.look_at));
    if (drift.length === 1) items.push(finding("good", drift[0].sentence));
    else if (drift.length) items.push(finding("good", `None of the ${number(drift.length)} arms is seen to change over time.`));
    const floors = report.floors ?? [];
    const even = floors.length > 1 && floors.every((one) => one.share === floors[0].share);
    const gets = even ? [`Every arm gets at least ${share(floors[0].share)}`] : floors.map((one) => `${one.arm} gets at least ${share(one.share)}`);
    for (const words of gets) items.push(finding("plain", [`${words} of the traffic: its `, term("floor"), "."]));
    for (const guard of report.guards ?? []) items.push(finding(guard.crossed ? "bad" : "good", [term("guard"), ` ${guardWords(guard)}`]));
    if (!items.length) items.push(finding("plain", "There are too few data to test yet."));
    refill(this.list, ...items);
  }
}

const MARKS = { good: "✓", bad: "!", plain: "·" };

function finding(kind, sentence, more) {
  return h("li", { class: kind }, h("span", { class: "sign", "aria-hidden": "true" }, MARKS[kind]), h("span", {}, kind === "bad" && h("strong", {}, "Alarm: "), sentence, more && coded(` ${more}`)));
}

const guardWords = ({ arm, metric, limit, n, mean, crossed }) =>
  `for ${arm}: ${metric} ${limit}; ${n ? `${number(mean, 3)} on average of ${number(n)}` : "no values yet"}${crossed ? "; it is out of play" : ""}.`;
