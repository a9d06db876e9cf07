// The page of one study, the verdict first, which moves as the study does.
import { key, listen, studyPath } from "./api.js";
import { Arms } from "./arms.js";
import { Contexts } from "./contexts.js";
import { Details } from "./details.js";
import { h } from "./dom.js";
import { Forest } from "./forest.js";
import { Log } from "./log.js";
import { Metrics } from "./metrics.js";
import { Earned, Traffic } from "./past.js";
import { Segments, Soundness } from "./sound.js";
import { Steer } from "./steer.js";
import { Verdict, stateOf } from "./verdict.js";
import { number, percent, share } from "./words.js";

const SUMS = { conversions: "conversions", cost: "cost", reward: "reward" };

// What things are called, where the family makes it true, and how they are written.
function wordsOf({ report, quantity }) {
  const coin = Boolean(report?.conversions) && !report.minimise;
  const sum = coin ? SUMS.conversions : report?.minimise ? SUMS.cost : SUMS.reward;
  return { plays: report?.words.plays ?? "plays", quantity: report?.words.quantity ?? quantity, sum, Sum: coin ? "Conversions" : report?.minimise ? "All cost" : "All reward",
    term: coin ? "rate" : report?.minimise ? "cost" : "reward", write: coin ? percent : (value) => number(value, 3), axis: coin ? share : null };
}

// One number per fact: what the report says of an arm is said everywhere, until the next report.
function withReport(view) {
  const known = new Map((view.report?.arms ?? []).map((arm) => [arm.id, arm]));
  const arms = view.arms.map((arm) => {
    const told = known.get(arm.id);
    return told ? { ...arm, expected: told.expected, low: told.credible[0], high: told.credible[1], best: told.chance_best, plays: told.plays, open: told.out, share: told.share } : arm;
  });
  return { ...view, arms };
}

export function studyPage(main, name, role, link) {
  const pinned = new Set();
  const steer = new Steer(name, role === "admin", () => stream.again());
  const verdict = new Verdict(name, steer.buttons);
  const details = new Details(() => stream.again());
  const parts = [new Forest(), new Traffic(), new Earned(), new Arms(name, pinned, () => stream.again()), new Contexts(), new Segments(name), new Metrics(), new Soundness(), new Log(name)];
  const first = h("section", { class: "first", "aria-labelledby": "first" });
  const rest = h("div", { class: "rest" }, ...parts.map((part) => part.element), steer.knob, steer.arms || "", steer.guards || "", details.element, steer.away || "");
  const waiting = h("div", { class: "loading", role: "status" }, h("h1", { class: "sentence" }, `Opening ${name} …`),
    ...[90, 70, 80].map(() => h("div", { class: "bone", "aria-hidden": "true" })));
  main.replaceChildren(waiting);
  let shown = false;

  function show(found) {
    const view = withReport(found);
    if (!shown) main.replaceChildren(verdict.element, first, rest);
    shown = true;
    document.title = `${name} · belman`;
    main.dataset.number = view.number;
    main.dataset.judged = view.report ? view.report.number : "";
    const empty = stateOf(view) === "waiting";
    first.hidden = !empty;
    rest.classList.toggle("quiet", empty);
    const named = () => view.arms.map((arm) => (arm.label === view.control ? `${arm.label} (control)` : arm.label)).join(", ");
    if (empty && !first.childElementCount) first.append(h("p", { class: "note" }, `Its arms: ${named()}.`), ...firstAsk(name));
    const words = wordsOf(view);
    verdict.show(view, words);
    for (const part of parts) part.show(view, words);
    steer.show(view);
    details.show(view);
  }

  const path = () => `${studyPath(name)}/live?arms=${[...pinned].join(",")}${details.element.open ? "&details=true" : ""}`;
  const stream = listen(path, (event, data) => (event === "view" ? (link("live"), show(data)) : link("trouble", data)), link);
  return () => {
    stream.stop();
    details.destroy();
    for (const part of parts) part.plot?.destroy();
  };
}

// What to send to a study that nobody asked anything yet.
function firstAsk(name) {
  const where = `${location.origin}${studyPath(name)}`;
  const guarded = key.get() ? ` \\\n  -H "Authorization: Bearer $BELMAN_KEY"` : "";
  const line = (path, body) => `curl -X POST '${where}/${path}'${guarded} \\\n  -H 'Content-Type: application/json' -d '${body}'`;
  const copied = h("span", { role: "status" });
  const block = (title, text) => [h("h3", {}, title), h("div", { class: "code" }, h("pre", { tabindex: 0 }, text),
    h("button", { type: "button", class: "small", onclick: async () => { await navigator.clipboard?.writeText(text); copied.textContent = "Copied."; } }, "Copy"))];
  return [h("h2", { id: "first" }, "Send your first ask"), h("p", {}, "A ticket comes back with the arm to show. When you know what came of it, tell its reward; this page moves by itself."),
    ...block("Ask", line("ask", "{}")), ...block("Tell", line("tell", '{"ticket": "THE ID", "reward": 1}')), copied];
}
