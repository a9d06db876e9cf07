// The arms as a table that can be sorted and searched; on a phone each arm is a card with the same numbers.
import { call, studyPath } from "./api.js";
import { dot, h, refill } from "./dom.js";
import { chance, number, percent, signed } from "./words.js";

// Arms that are not played any more, which have no number above.
const retired = (report) => (report?.retired.length ? ` Not played any more: ${report.retired.map((one) => `${one.arm} (${number(one.told)} counted)`).join(", ")}.` : "");

export class Arms {
  constructor(name, pinned, changed) {
    Object.assign(this, { name, pinned, changed, by: "best", down: true, query: "" });
    this.head = h("tr");
    this.rows = h("tbody");
    this.count = h("p", { class: "note", "aria-live": "polite" });
    this.results = h("ul", { class: "results", "aria-label": "More arms found" });
    this.search = h("input", { type: "search", id: "search", autocomplete: "off", oninput: () => this.find() });
    this.element = h("section", { "aria-labelledby": "arms" },
      h("div", { class: "bar" }, h("h2", { id: "arms" }, "The arms"), h("p", { class: "field inline" }, h("label", { for: "search" }, "Find an arm"), this.search)),
      this.results, h("div", { class: "scroll" }, h("table", { class: "cards" }, h("thead", {}, this.head), this.rows)), this.count);
  }

  columns(view, words) {
    const known = new Map((view.report?.arms ?? []).map((arm) => [arm.id, arm]));
    const report = (arm) => known.get(arm.id);
    const lift = (arm) => report(arm)?.lift && (report(arm).lift.relative ?? report(arm).lift.absolute);
    const writeLift = (arm) => signed(lift(arm).middle, report(arm).lift.relative ? percent : (value) => number(value, 3));
    return [
      view.control !== null && { id: "lift", name: "lift", term: "lift", value: (arm) => lift(arm)?.middle ?? (arm.label === view.control ? 0 : null), write: (arm) => (lift(arm) ? writeLift(arm) : "–") },
      { id: "expected", name: words.quantity, term: words.term, value: (arm) => arm.expected, write: (arm) => words.write(arm.expected) },
      { id: "low", name: "95 % credible", term: "credible", value: (arm) => arm.low, write: (arm) => `${words.write(arm.low)} to ${words.write(arm.high)}` },
      { id: "best", name: "chance to be best", term: "best", value: (arm) => arm.best, write: (arm) => chance(arm.best) },
      { id: "share", name: "traffic share", term: "share", value: (arm) => arm.share, write: (arm) => percent(arm.share) },
      { id: "plays", name: words.plays, term: words.plays === "impressions" ? "impressions" : "plays", value: (arm) => arm.plays, write: (arm) => `${number(Math.round(arm.plays))}${arm.open ? `, ${number(arm.open)} open` : ""}` },
      { id: "loss", name: "expected loss", term: "loss", value: (arm) => report(arm)?.expected_loss ?? null, write: (arm) => (report(arm) ? this.words.write(report(arm).expected_loss) : "–") },
    ].filter(Boolean);
  }

  show(view, words) {
    this.view = view;
    this.words = words;
    const columns = this.columns(view, words);
    const names = ["arm", ...columns.map((one) => one.name)].join();
    if (this.names !== names) {
      this.names = names;
      const button = (id, name, term) => h("th", { scope: "col", "data-by": id }, h("button", { type: "button", class: "sort", "data-term": term, onclick: () => this.sort(id) }, name));
      this.head.replaceChildren(button("label", "arm", "arm"), ...columns.map((one) => button(one.id, one.name, one.term)));
    }
    for (const cell of this.head.children) cell.setAttribute("aria-sort", cell.dataset.by !== this.by ? "none" : this.down ? "descending" : "ascending");
    const by = columns.find((one) => one.id === this.by);
    const value = (arm) => (by ? by.value(arm) : arm.label);
    const rank = (one, other) => {
      const [a, b] = [value(one), value(other)];
      if (a === null || b === null) return (a === null) - (b === null);
      const order = typeof a === "string" ? a.localeCompare(b, "en", { numeric: true }) : a - b;
      return this.down ? -order : order;
    };
    const listed = view.arms.filter((arm) => arm.label.toLowerCase().includes(this.query)).sort(rank);
    refill(this.rows, ...listed.map((arm) => this.row(arm, columns, view)));
    const { arms, window, outstanding } = view.status;
    const rest = arms - view.arms.length;
    const open = window !== undefined && outstanding ? "Open tickets count when their windows close. " : "";
    this.count.textContent = open + (this.query ? `${number(listed.length)} of the ${number(view.arms.length)} arms above match.` : rest > 0 ? `${number(rest)} more arms are less likely to be the best; find them by name.` : "") + retired(view.report);
  }

  row(arm, columns, view) {
    const away = this.pinned.has(arm.id) && h("button", { class: "small", "aria-label": `Put ${arm.label} away`, onclick: () => this.pin(arm.id) }, "×");
    return h("tr", {}, h("th", { scope: "row" }, dot(arm.colour), arm.label, arm.label === view.control && h("span", { class: "tag" }, "control"), away),
      ...columns.map((one) => h("td", { "data-label": one.name }, one.write(arm))));
  }

  sort(id) {
    this.down = this.by === id ? !this.down : id !== "label";
    this.by = id;
    this.show(this.view, this.words);
  }

  // Among the arms that are listed at once, and, where there are more, among all of them.
  async find() {
    const query = this.search.value.trim();
    this.query = query.toLowerCase();
    if (this.view) this.show(this.view, this.words);
    if (!query || !this.view || this.view.status.arms <= this.view.arms.length) {
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
    const more = found.arms.filter((arm) => !this.view.arms.some((one) => one.id === arm.id));
    this.results.replaceChildren(...more.map((arm) => h("li", {}, h("button", { type: "button", onclick: () => { this.pin(arm.id); this.search.focus(); } },
      `Show ${arm.label}: ${this.words.write(arm.expected)} expected, ${chance(arm.best)} best`))),
    ...(found.arms.length ? [] : [h("li", { class: "note" }, "No arm has this in its name.")]));
  }

  pin(id) {
    if (!this.pinned.delete(id)) this.pinned.add(id);
    if (this.pinned.size > 12) this.pinned.delete(this.pinned.values().next().value);
    this.results.replaceChildren();
    this.changed();
  }
}
