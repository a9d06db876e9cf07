// What an admin may turn: the dial between explore and exploit, and pause.
import { call, studyPath } from "./api.js";
import { h } from "./dom.js";

export class Controls {
  constructor(name, admin) {
    Object.assign(this, { name, admin });
    this.error = h("p", { class: "error", role: "alert" });
    this.words = h("output", { for: "dial" });
    this.dial = h("input", { type: "range", id: "dial", min: 0, max: 1, step: 0.05, value: 0.5, disabled: !admin,
      oninput: () => this.say(Number(this.dial.value)), onchange: () => this.turn() });
    this.pause = h("button", { onclick: () => this.toggle() }, "Pause");
    this.knob = h("div", { class: "dial" }, h("label", { for: "dial" }, "Exposure"), h("span", {}, "explore"), this.dial, h("span", {}, "exploit"), this.words);
    this.element = h("div", { class: "controls" }, this.knob, admin && this.pause, this.error);
    this.turning = false;
  }

  show(status) {
    this.paused = status.paused;
    this.pause.textContent = status.paused ? "Resume" : "Pause";
    this.knob.hidden = !status.has_exposure;
    if (this.turning || document.activeElement === this.dial && this.dirty) return;
    this.dial.value = status.dial ?? 0.5;
    this.say(status.dial);
  }

  say(dial) {
    this.dirty = true;
    const words = dial === null ? "set by hand" : dial === 0 ? "explore only" : Math.abs(dial - 0.5) < 0.01 ? "BelMan’s own" : dial < 0.5 ? "more exploring" : "more exploiting";
    this.words.textContent = words;
    this.dial.setAttribute("aria-valuetext", words);
  }

  async turn() {
    this.turning = true;
    await this.attempt(() => call("PUT", `${studyPath(this.name)}/exposure`, { dial: Number(this.dial.value), reason: "turned on the page" }));
    this.turning = this.dirty = false;
  }

  toggle() {
    return this.attempt(() => call("POST", `${studyPath(this.name)}/${this.paused ? "resume" : "pause"}`, { reason: "on the page" }));
  }

  async attempt(work) {
    this.error.textContent = "";
    try {
      this.show(await work());
    } catch (error) {
      this.error.textContent = error.message;
    }
  }
}
