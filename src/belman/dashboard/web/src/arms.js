// The arms as a table: what is expected of each, how surely, whether it is the best; and a search among all of them.
import { call, studyPath } from "./api.js";
import { h, number, percent, s } from "./dom.js";

export class Arms {
  constructor(name, palette, pinned, changed) {
    Object.assign(this, { name, palette, pinned, changed });
    this.rows = h("tbody");
    this.head = h("th", { scope: "col" }, "expected");
    this.count = h("p", { class: "note" });
    this.results = h("ul", { class: "results", "aria-label": "Arms found" });
    this.search = h("input", { type: "search", id: "search", autocomplete: "off", oninput: () => this.find() });
    this.element = h(
      "section",
      { class: "card wide" },
      h("h2", {}, "The arms"),
      h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "The arms" }, h("table", {},
        h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "arm"), this.head, h("th", { scope: "col" }, "95 % interval"),
          h("th", { scope: "col" }, "P(best)"), h("th", { scope: "col" }, "traffic"), h("th", { scope: "col" }, "rewards"))),
        this.rows)),
      this.count,
      h("p", { class: "field" }, h("label", { for: "search" }, "Find an arm"), this.search),
      this.results,
    );
  }

  show(view) {
    this.head.textContent = view.quantity;
    const finite = view.arms.flatMap((arm) => [arm.low, arm.high]).filter((end) => typeof end === "number");
    const [low, high] = [Math.min(...finite), Math.max(...finite)];
    this.rows.replaceChildren(...view.arms.map((arm) => this.row(arm, low, high)));
    const rest = view.status.arms - view.arms.length;
    this.count.textContent = rest > 0 ? `${number(rest)} more arms are less likely to be the best; find them by name.` : "";
  }

  row(arm, low, high) {
    const mark = this.palette.mark(arm.id);
    const at = (value) => (value === "inf" ? 100 : value === "-inf" ? 0 : (100 * (value - low)) / (high - low || 1));
    const interval = s("svg", { class: "interval", viewBox: "-2 0 104 12", preserveAspectRatio: "none", "aria-hidden": "true" },
      s("line", { class: mark, x1: at(arm.low), x2: at(arm.high), y1: 6, y2: 6 }),
      s("line", { class: mark, x1: at(arm.expected), x2: at(arm.expected), y1: 0, y2: 12 }));
    const unpin = this.pinned.has(arm.id) && h("button", { class: "small", "aria-label": `Put ${arm.label} away`, onclick: () => this.pin(arm.id) }, "×");
    return h("tr", {},
      h("th", { scope: "row" }, h("span", { class: `dot ${mark}` }), arm.label, unpin),
      h("td", {}, number(arm.expected, 3)),
      h("td", { class: "ends" }, interval, h("span", {}, `${number(arm.low, 3)} – ${number(arm.high, 3)}`)),
      h("td", {}, h("meter", { min: 0, max: 1, value: arm.best, "aria-label": `probability that ${arm.label} is the best` }), ` ${percent(arm.best)}`),
      h("td", {}, percent(arm.share)),
      h("td", {}, number(arm.plays)));
  }

  async find() {
    const query = this.search.value.trim();
    if (!query) {
      this.results.replaceChildren();
      return;
    }
    let found;
    try {
      found = await call("GET", `${studyPath(this.name)}/arms?limit=12&query=${encodeURIComponent(query)}`);
    } catch (error) {
      this.results.replaceChildren(h("li", {}, error.message));
      return;
    }
    if (query !== this.search.value.trim()) return;
    this.results.replaceChildren(...found.arms.map((arm) => h("li", {}, h("button", { "aria-pressed": String(this.pinned.has(arm.id)),
      onclick: () => { this.pin(arm.id); this.find(); } },
    `${arm.label}: ${number(arm.expected, 3)} expected, ${percent(arm.best)} best`))),
    ...(found.arms.length ? [] : [h("li", {}, "no arm has this in its name")]));
  }

  pin(id) {
    if (!this.pinned.delete(id)) this.pinned.add(id);
    if (this.pinned.size > 12) this.pinned.delete(this.pinned.values().next().value);
    this.changed();
  }
}
