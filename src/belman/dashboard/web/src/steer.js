// What an admin may do to live traffic; each asks first, and is one event.
import { call, studyPath } from "./api.js";
import { ask, change } from "./ask.js";
import { h } from "./dom.js";
import { term } from "./glossary.js";
import { limits } from "./words.js";

const dialWords = (dial) => {
  if (dial === null) return "set by hand";
  if (dial === 0) return "explore only";
  if (Math.abs(dial - 0.5) < 0.01) return "the default";
  return dial < 0.5 ? "more exploring" : "more exploiting";
};

export class Steer {
  constructor(name, admin, changed) {
    Object.assign(this, { name, admin, changed, path: studyPath(name) });
    this.pause = h("button", { type: "button", onclick: () => this.toggle() }, "Pause");
    this.ship = h("button", { type: "button", hidden: true, onclick: () => this.shipping() }, "Ship");
    this.buttons = h("div", { class: "buttons" }, admin && this.ship, admin && this.pause);
    this.words = h("output", { for: "dial" });
    this.dial = h("input", { type: "range", id: "dial", min: 0, max: 1, step: 0.05, value: 0.5, disabled: !admin,
      oninput: () => this.say(Number(this.dial.value)), onchange: () => this.turn() });
    this.knob = h("section", { "aria-labelledby": "steer" }, h("h2", { id: "steer" }, "Explore or exploit"),
      h("p", { class: "note" }, "The ", term("exposure"), admin ? " of this study. Moving the slider asks first, then changes live traffic." : " of this study; an admin may change it."),
      h("div", { class: "dial" }, h("span", {}, "explore"), h("label", { for: "dial", class: "only-read" }, "Exposure"), this.dial, h("span", {}, "exploit"), this.words));
  }

  // Arms that come and go while the study runs.
  get arms() {
    if (!this.admin) return null;
    const arm = h("input", { id: "change-arm", maxlength: 200, autocomplete: "off" });
    const go = (verb, path, words) => h("button", { type: "button", onclick: () => arm.value.trim() && this.asked({ title: `${verb} ${arm.value.trim()}?`, words, verb, work: change("POST", `${this.path}/${path}`, { arm: arm.value.trim() }) }) }, verb);
    return h("section", { "aria-labelledby": "change" }, h("h2", { id: "change" }, "Change its arms"),
      h("p", { class: "note" }, "A new arm is played from the next decision on, and adds a comparison to the risk. A retired one comes back with what was learnt of it."),
      h("p", { class: "field" }, h("label", { for: "change-arm" }, "Arm"), arm),
      h("div", { class: "buttons" }, go("Add", "arms", "It is played from the next decision on."), go("Retire", "arms/retire", "It is not played any more; rewards of its open tickets still count.")));
  }

  // Limits that hold from now on.
  get guards() {
    if (!this.admin) return null;
    this.limits = h("input", { id: "change-guard", maxlength: 2000, autocomplete: "off", placeholder: "none" });
    const set = () => {
      const text = this.limits.value.trim();
      return this.asked({ title: "Change its guard-rails?", verb: "Set them", work: change("PUT", `${this.path}/guard`, { guard: limits(text) }),
        words: text ? `From the next ask on, an arm that is known to break one of these is taken out of play: ${text}.` : "No metric is limited any more." });
    };
    return h("section", { "aria-labelledby": "change-guards" }, h("h2", { id: "change-guards" }, "Change its guard-rails"),
      h("p", { class: "note" }, "All limits on metrics that hold. A new one is held against tickets that are asked for from then on; an arm that is out of play stays out until it is added again."),
      h("p", { class: "field" }, h("label", { for: "change-guard" }, "Limits, separated by commas"), this.limits),
      h("div", { class: "buttons" }, h("button", { type: "button", onclick: set }, "Set")));
  }

  // At the very end of the page, for admins: out of the list, or gone for good.
  get away() {
    return this.admin && h("section", { "aria-labelledby": "away" }, h("h2", { id: "away" }, "Put this study away"),
      h("p", { class: "note" }, "An archived study is paused and left out of the list; nothing of it is deleted. A deleted one is gone with its log."),
      h("div", { class: "buttons" }, h("button", { type: "button", onclick: () => this.put("archive") }, "Archive"),
        h("button", { type: "button", class: "danger", onclick: () => this.put("delete") }, "Delete")));
  }

  async put(where) {
    const gone = where === "delete";
    const work = gone ? (_, key) => call("POST", `${this.path}/delete`, { confirm: this.name }, { "Idempotency-Key": key }) : change("POST", `${this.path}/archive`, {});
    const done = await ask({ title: gone ? "Delete this study for good?" : "Archive this study?", typed: this.name, danger: gone, reason: !gone, work,
      verb: gone ? "Delete it" : "Archive it",
      words: gone ? "Its decisions, its rewards and its whole log are gone, and nothing brings them back." : "It decides nothing and is left out of the list. The list of archived studies brings it back." });
    if (done) location.hash = "#/";
  }

  show({ status, report }) {
    this.status = status;
    this.pause.textContent = status.paused ? "Resume" : "Pause";
    this.knob.hidden = !status.has_exposure;
    this.report = report;
    const held = [...new Set((report?.guards ?? []).map(({ metric, limit }) => `${metric} ${limit}`))].join(", ");
    if (this.limits && held !== this.held) [this.held, this.limits.value] = [held, held];
    const shipped = report?.shipped ?? null;
    this.ship.hidden = !report || report.arms.length < 2 || !(shipped !== null || report.decided);
    this.ship.textContent = shipped === null ? `Ship ${report?.arm ?? ""}` : "Undo the shipping";
    if (this.turning) return;
    this.dial.value = status.dial ?? 0.5;
    this.say(status.dial);
  }

  say(dial) {
    this.words.textContent = dialWords(dial);
    this.dial.setAttribute("aria-valuetext", dialWords(dial));
  }

  // Arrow keys turn by a step each: one question when the turning has come to rest.
  turn() {
    this.turning = true;
    clearTimeout(this.rest);
    this.rest = setTimeout(() => this.confirm(), 600);
  }

  async confirm() {
    const dial = Number(this.dial.value);
    if (dial !== this.status.dial)
      await this.asked({ title: "Change live traffic?", words: `From the next decision on, ${this.name} goes from “${dialWords(this.status.dial)}” to “${dialWords(dial)}” (${dial.toFixed(2)}, where 0 only explores and 1 only exploits).`,
        verb: "Change it", work: change("PUT", `${this.path}/exposure`, { dial }) });
    this.turning = false;
    this.show({ status: this.status, report: this.report });
    this.dial.focus();
  }

  toggle() {
    const { paused } = this.status;
    return this.asked({ title: paused ? "Resume this study?" : "Pause this study?",
      words: paused ? `${this.name} decides again: asks are answered.` : `${this.name} decides nothing until it is resumed: asks are refused. Rewards are still accepted.`,
      verb: paused ? "Resume" : "Pause", work: change("POST", `${this.path}/${paused ? "resume" : "pause"}`, {}) });
  }

  shipping() {
    const shipped = this.report.shipped ?? null;
    const undo = shipped !== null;
    return this.asked({ title: undo ? "Undo the shipping?" : `Ship ${this.report.arm}?`,
      words: undo ? `The policy decides again who gets the traffic of ${this.name}.` : `All traffic of ${this.name} goes to ${this.report.arm}, until somebody undoes it.`,
      verb: undo ? "Undo it" : "Ship it", work: change("POST", `${this.path}/${undo ? "unship" : "ship"}`, undo ? {} : { arm: this.report.arm }) });
  }

  async asked(question) {
    const status = await ask(question);
    if (status) this.status = status;
    this.changed();
  }
}
