// The first page: the studies there are, a new one, and a demo.
import { call, studyPath } from "./api.js";
import { h, refill } from "./dom.js";
import { limits, number } from "./words.js";

const EVERY = 3000;
const FAMILIES = { bernoulli: "yes or no: a conversion", poisson: "a count", money: "revenue: mostly nothing, or an amount", exponential: "a time, or an amount above 0", "gaussian-unknown": "any number" };
const RULES = { separated: "one arm is shown to be better, however often you look (wrong in 5 % at most)", sure: "it is 95 % sure which arm is best, given the prior (no guarantee)", surer: "it is 99 % sure which arm is best, given the prior (no guarantee)" };
const STOP = { sure: { name: "sure", level: 0.95 }, surer: { name: "sure", level: 0.99 }, separated: { name: "separated", delta: 0.05 } };
const GOALS = { "": "both beside a control, else earning", both: "both: the leader gets at most three times as much as control", decide: "decide: an even split, the soonest verdict", earn: "earn: traffic as the policy wishes" };
const THEN = { say: "report it, and go on", ship: "ship: all traffic to the winner, until somebody undoes it" };

export function listPage(main, role, link) {
  const admin = role === "admin";
  const items = h("ul", { class: "studies" });
  const error = h("p", { class: "error", role: "alert" });
  const archived = h("input", { type: "checkbox", id: "archived", onchange: () => refresh() });
  const search = h("input", { type: "search", id: "query", autocomplete: "off", oninput: () => refresh() });
  const go = (name) => { location.hash = `#/study/${encodeURIComponent(name)}`; };

  async function attempt(work) {
    error.textContent = "";
    try {
      go((await work()).name);
    } catch (problem) {
      error.textContent = problem.message;
    }
  }

  const name = h("input", { id: "name", required: true, maxlength: 200, autocomplete: "off" });
  const arms = h("input", { id: "arms", required: true, placeholder: "blue, green, red", autocomplete: "off" });
  const control = h("input", { id: "control", placeholder: "blue", autocomplete: "off" });
  const choice = (id, options) => h("select", { id }, ...Object.entries(options).map(([value, words]) => h("option", { value }, words)));
  const [family, goal, rule, then] = [choice("family", FAMILIES), choice("goal", GOALS), choice("rule", RULES), choice("then", THEN)];
  const amount = (id, more) => h("input", { id, type: "number", min: 0, step: "any", autocomplete: "off", ...more });
  const [window, floor, rate] = [amount("window"), amount("floor", { max: 50 }), amount("rate", { max: 100 })];
  const guard = h("input", { id: "guard", placeholder: "refund < 0.05", autocomplete: "off" });
  const given = (input, make) => (input.value.trim() ? make(input.value.trim()) : {});
  const form = h("form", { class: "card", onsubmit: (event) => {
    event.preventDefault();
    attempt(() => call("POST", "/api/studies", { name: name.value.trim(), family: family.value, stop_when: STOP[rule.value], then: then.value,
      arms: arms.value.split(",").map((one) => one.trim()).filter(Boolean), ...given(control, (text) => ({ control: text })), ...given(goal, (text) => ({ goal: text })), ...given(window, (hours) => ({ window: 3600 * Number(hours) })),
      ...given(floor, (percent) => ({ floor: Number(percent) / 100 })), ...given(rate, (percent) => ({ prior: [Number(percent) / 50, 2 - Number(percent) / 50] })), ...given(guard, (text) => ({ guard: limits(text) })) }));
  } },
  h("h2", {}, "A new study"),
  h("p", { class: "field" }, h("label", { for: "name" }, "Name"), name),
  h("p", { class: "field" }, h("label", { for: "arms" }, "Arms, separated by commas"), arms),
  h("p", { class: "field" }, h("label", { for: "control" }, "Control, which the others are compared with (optional)"), control),
  h("p", { class: "field" }, h("label", { for: "family" }, "A reward is"), family),
  h("p", { class: "field" }, h("label", { for: "goal" }, "It is for"), goal),
  h("p", { class: "field" }, h("label", { for: "rule" }, "Stop when"), rule),
  h("p", { class: "field" }, h("label", { for: "then" }, "Then"), then),
  h("details", {}, h("summary", {}, "More settings"),
    h("p", { class: "field" }, h("label", { for: "window" }, "Hours to wait for a reward"), window),
    h("p", { class: "field" }, h("label", { for: "floor" }, "Least traffic of every arm, in %"), floor),
    h("p", { class: "field" }, h("label", { for: "rate" }, "Conversion rate that you expect, in %"), rate),
    h("p", { class: "field" }, h("label", { for: "guard" }, "Guard-rails on metrics, separated by commas"), guard)),
  h("button", { class: "primary" }, "Create"));
  const demo = h("section", { class: "card" }, h("h2", {}, "A demo"),
    h("p", {}, "Five buttons, and visitors who press some of them more readily: watch which one the study finds."),
    h("button", { onclick: () => attempt(() => call("POST", "/api/demo")) }, "Play a demo"));

  main.replaceChildren(h("h1", { class: "studies-title" }, "Studies"),
    h("p", { class: "field" }, h("label", { for: "query" }, "Find a study"), search),
    h("p", { class: "choice" }, archived, h("label", { for: "archived" }, "Archived studies")), items, error,
    admin && h("div", { class: "pair" }, form, demo));

  function item(status) {
    const restore = archived.checked && admin && h("button", { type: "button", class: "small", onclick: () => attempt(() => call("POST", `${studyPath(status.name)}/restore`, {})) }, `Restore ${status.name}`);
    return h("li", {}, restore, h("a", { href: `#/study/${encodeURIComponent(status.name)}` }, h("strong", {}, status.name),
      h("span", {}, status.problem ? `cannot be shown: ${status.problem}` : `${status.paused ? "paused · " : ""}${number(status.arms)} arms · ${number(status.asked)} decisions · ${number(status.told)} rewards`)));
  }

  async function refresh() {
    try {
      const found = await call("GET", `/api/overview?query=${encodeURIComponent(search.value)}&archived=${archived.checked}`);
      const rest = found.total - found.studies.length;
      refill(items, ...found.studies.map(item),
        ...(rest > 0 ? [h("li", { class: "note" }, `${number(rest)} more: find them by name`)] : []),
        ...(found.total ? [] : [h("li", { class: "note" }, search.value ? "No study has this in its name." : archived.checked ? "No study is archived." : admin ? "There is no study yet: create one, or play a demo." : "There is no study yet.")]));
      link("live");
    } catch (problem) {
      link(problem.status === 401 || problem.status === 403 ? "refused" : "lost", problem);
    }
  }

  refresh();
  const timer = setInterval(refresh, EVERY);
  return () => clearInterval(timer);
}
