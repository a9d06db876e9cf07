// The page of one study, which moves as the study does.
import { listen, studyPath } from "./api.js";
import { Arms } from "./arms.js";
import { Chart } from "./charts.js";
import { Controls } from "./controls.js";
import { h, number, percent } from "./dom.js";
import { Manifold } from "./manifold.js";
import { Palette } from "./palette.js";

export function studyPage(main, name, role, link) {
  const palette = new Palette();
  const pinned = new Set();
  const counts = h("p", { class: "counts" }, "…");
  const controls = new Controls(name, role === "admin");
  const beliefs = new Chart("What is believed", "How likely each expected reward is, arm by arm; dashed in grey the pseudobelief.", "expected reward", "density");
  const manifold = new Manifold(palette);
  const traffic = new Chart("Who gets the traffic", "The share of each arm in the decisions, from the first to the last, one upon the other.", "decisions", "share", { stacked: true });
  const earned = new Chart("What it earned", "The sum of all rewards, beside what uniform play would have earned by what is believed now (95 % band).", "rewards told", "sum", { band: [3, 4] });
  const arms = new Arms(name, palette, pinned, () => stream.again());
  const why = h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Why this arm now" });
  const whyCard = h("section", { class: "card wide" }, h("h2", {}, "Why this arm now"), why);
  const charts = [beliefs, traffic, earned];

  main.replaceChildren(
    h("div", { class: "title" }, h("h1", {}, name), counts),
    controls.element,
    h("div", { class: "grid" }, beliefs.element, manifold.element, traffic.element, earned.element, arms.element, whyCard),
  );

  // the window of a study, where it has one, what silence counts as, and what open tickets count
  function windowOf({ window: seconds, silence, accumulate, early, waits }) {
    if (seconds === undefined) return "";
    const [size, unit] = [[86400, "d"], [3600, "h"], [60, "min"]].find(([size]) => seconds >= size) ?? [1, "s"];
    const silent = silence === null ? "is forgotten" : `counts as ${number(silence)}`;
    return ` · window ${number(seconds / size)} ${unit}${accumulate ? ", rewards add up" : ""}, silence ${silent}${early ? ", learning early" : ""}${waits ? ` · ${waits}` : ""}`;
  }

  function show(view) {
    const { status } = view;
    document.title = `${name} · belman`;
    main.dataset.number = view.number;
    counts.textContent = `${status.family} · ${number(status.arms)} arms · ${number(status.asked)} asked · ${number(status.told)} told · ${number(status.outstanding)} out${windowOf(status)}${status.paused ? " · paused" : ""}`;
    controls.show(status);
    palette.assign(view.arms.map((arm) => arm.id));
    const line = (arm, named) => ({ label: arm.label, colour: palette.name(arm.id), dash: palette.dash(arm.id), named });
    const first = view.arms[0];
    beliefs.axes[0] = view.quantity;
    beliefs.show(
      [...view.arms.map((arm) => line(arm, "peak")), { label: "pseudobelief", colour: "--soft", dash: [4, 4], width: 1.5 }],
      [view.densities.x, ...view.densities.series, view.densities.pseudobelief],
      `Densities of the beliefs about ${view.arms.length} arms; ${first.label} is the best with probability ${percent(first.best)}`,
    );
    manifold.show(view);
    const shares = view.shares;
    const others = shares.others ? [{ label: `${number(status.arms - view.arms.length)} others`, colour: "--soft", named: "band", width: 1.5 }] : [];
    traffic.show(
      [...view.arms.map((arm) => line(arm, "band")), ...others],
      [shares.x, ...stacked([...shares.series, ...(shares.others ? [shares.rest] : [])])],
      `Share of traffic; ${first.label} has had ${percent(first.share)} of all decisions`,
      { y: [0, 1] },
    );
    const sum = view.earned;
    earned.axes[1] = view.quantity.replace("expected ", "sum of ");
    earned.show(
      [{ label: "this study", colour: "--arm-1", named: "end" }, { label: "uniform play", colour: "--soft", dash: [6, 4], named: "end" },
        { label: "high", width: 0 }, { label: "low", width: 0 }],
      [sum.x, sum.total, sum.uniform, sum.high, sum.low],
      `This study has a sum of ${number(sum.total.at(-1))}; uniform play would have had about ${number(sum.uniform.at(-1))}`,
    );
    arms.show(view);
    why.replaceChildren(explanation(view.why, palette));
  }

  const path = () => `${studyPath(name)}/live?arms=${[...pinned].join(",")}`;
  const stream = listen(path, (event, data) => (event === "view" ? (link("live"), show(data)) : link("trouble")), (state, error) => {
    link(state, error);
  });
  const redraw = () => charts.forEach((chart) => chart.redraw());
  const dark = matchMedia("(prefers-color-scheme: dark)");
  dark.addEventListener("change", redraw);
  return () => {
    stream.stop();
    dark.removeEventListener("change", redraw);
    charts.forEach((chart) => chart.destroy());
  };
}

function stacked(series) {
  const sum = [];
  return series.map((values) => values.map((value, i) => (sum[i] = (sum[i] ?? 0) + value)));
}

function explanation(why, palette) {
  const head = h("tr", {}, h("th", { scope: "col" }, "arm"), ...why.columns.map((name) => h("th", { scope: "col" }, name)));
  const rows = why.rows.map((row) => h("tr", {}, h("th", { scope: "row" }, h("span", { class: `dot ${palette.mark(row.id)}` }), row.label),
    ...row.cells.map((cell) => h("td", {}, number(cell)))));
  return h("table", {}, h("caption", {}, why.title + (why.more ? ` (${number(why.more)} more)` : "")), h("thead", {}, head), h("tbody", {}, ...rows));
}
