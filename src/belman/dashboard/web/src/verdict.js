// What one came for: the state of the study, the sentence, and the few numbers behind it.
import { coded, h, refill } from "./dom.js";
import { term } from "./glossary.js";
import { capital, chance, clock, number, percent, signed, unbroken } from "./words.js";

const STATES = {
  running: "Running",
  decided: "Decided",
  paused: "Paused",
  wrong: "Something is wrong",
  waiting: "Waiting for its first ask",
};

export function stateOf({ status, report }) {
  if (!status.asked && !status.told) return "waiting";
  return status.paused && report?.state !== "wrong" ? "paused" : report?.state ?? "running";
}

export class Verdict {
  constructor(name, buttons) {
    this.state = h("p", { class: "state" });
    this.sentence = h("p", { class: "sentence" });
    this.why = h("p", { class: "why" });
    this.figures = h("dl", { class: "figures" });
    this.element = h("section", { class: "verdict", "aria-labelledby": "study" },
      h("div", { class: "bar" }, h("div", {}, h("h1", { id: "study" }, name), this.state), buttons), this.sentence, this.why, this.figures);
  }

  show(view, words) {
    const { status, report } = view;
    const state = stateOf(view);
    this.state.dataset.state = state;
    const shipped = state === "decided" ? report.shipped ?? null : null;
    const title = shipped === null ? STATES[state] : `Decided: ${shipped} gets all traffic`;
    if (this.state.textContent !== title) refill(this.state, term(shipped === null ? state : "shipped", title));
    this.sentence.textContent = report ? unbroken(report.sentence) : `${view.arms[0].label} is most likely the best, with a chance of ${chance(view.arms[0].best)}; the verdict follows.`;
    const alarms = report ? report.findings.filter((one) => one.alarm) : [];
    const shared = report && report.shipped === null && !alarms.length ? report.promise : "";
    const why = state === "waiting" ? "" : alarms.length ? `${alarms[0].sentence} ${alarms[0].look_at}` : report ? `${capital(report.why)}.` : "";
    this.why.replaceChildren(...coded(unbroken(`${why} ${shared}`.trim())));
    this.figures.hidden = state === "waiting";
    const best = report?.arms[0] ?? view.arms[0];
    const rows = [];
    const lift = report?.arms[0]?.lift;
    if (lift) {
      const found = lift.relative ?? lift.absolute;
      const write = lift.relative ? percent : (value) => number(value, 3);
      rows.push([term("lift", `lift of ${best.arm}`), signed(found.middle, write), `${signed(found.credible[0], write)} to ${signed(found.credible[1], write)}`]);
    }
    if (report) {
      rows.push([term("best", `chance that ${best.arm} is best`), chance(best.chance_best), lift ? `${chance(lift.beats)} to beat ${report.control}` : ""]);
      if (report.earned?.rewards) {
        const write = (value) => number(Math.abs(value) >= 100 ? Math.round(value) : value, 3);
        const { gain, total, fixed_split: split } = report.earned;
        const [high, low] = split.credible.map((end) => total - end);
        const doubt = Number.isFinite(high - low) ? `${signed(low, write)} to ${signed(high, write)}; ` : "";
        rows.push([term("split", `${words.sum} vs a fixed split`), signed(gain, write), `${doubt}${write(total)} in all`]);
      }
      if (report.attained) {
        const { share, credible } = report.attained;
        rows.push([term("attainable", "of what was attainable"), percent(share), `${percent(credible[0])} to ${percent(credible[1])}`]);
      }
    }
    const window = status.window === undefined ? "" : status.waits ?? "";
    rows.push([term("ticket", "decisions"), number(status.asked), `${number(status.told)} counted, ${number(status.outstanding)} open${window ? `; ${window}` : ""}`]);
    refill(this.figures, ...rows.map(([name, value, more]) => h("div", {}, h("dt", {}, name), h("dd", {}, h("strong", {}, value), more && h("span", {}, more)))));
    this.figures.title = report ? `as of ${clock(report.time)}` : "";
  }
}
