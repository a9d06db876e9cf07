// Who gets the traffic and what it earned, against time.
import { coloured, dot, h, refill, s } from "./dom.js";
import { term } from "./glossary.js";
import { Plot, line } from "./plot.js";
import { duration, moment, number, percent, share } from "./words.js";

export class Traffic {
  constructor() {
    this.plot = new Plot("Traffic shares over time", { time: true, tall: 260 });
    this.note = h("p", { class: "note" });
    this.element = h("section", { "aria-labelledby": "traffic" }, h("h2", { id: "traffic" }, "Who gets the traffic"), this.note, this.plot.element);
  }

  show(view) {
    const { width, start, asks, others } = view.traffic;
    this.element.hidden = !start.length;
    if (!start.length) return;
    const arms = view.drawn.map((id) => view.arms.find((arm) => arm.id === id));
    const series = arms.map((arm, i) => ({ name: arm.label, colour: arm.colour, asks: asks[i] }));
    if (others.some(Boolean)) series.push({ name: view.status.arms > arms.length ? `${number(view.status.arms - arms.length)} others` : "retired arms", colour: null, asks: others });
    const totals = start.map((_, i) => series.reduce((sum, one) => sum + one.asks[i], 0));
    refill(this.note, "The ", term("share"), ` of each arm; a bar is ${/^\d/.test(duration(width)) ? "" : "a "}${duration(width)}.`);
    const busy = Math.max(...totals);
    this.plot.show({
      x: [start[0], start.at(-1) + width], y: [0, 1], stops: start.map((at) => at + width / 2), write: share,
      read: (i) => ({ title: `${moment(start[i], width)} · ${number(totals[i])} ${totals[i] === 1 ? "decision" : "decisions"}`,
        rows: series.map((one) => ({ mark: dot(one.colour), name: one.name, value: percent(one.asks[i] / totals[i]) })) }),
      draw: ({ x, y, edge }) => [...start.flatMap((at, i) => {
        let sum = 0;
        return series.filter((one) => one.asks[i]).map((one) => {
          const from = sum / totals[i];
          sum += one.asks[i];
          const faint = totals[i] < 0.02 * busy ? " faint" : "";
          return coloured(s("rect", { class: `bar-part${faint}`, x: x(at) + 0.4, width: Math.max(x(at + width) - x(at) - 0.8, 0.8),
            y: y(sum / totals[i]), height: Math.max(y(from) - y(sum / totals[i]), 0) }), one.colour);
        });
      }), ...marks(view, x, edge)],
    });
  }
}

export class Earned {
  constructor() {
    this.plot = new Plot("What was earned over time", { time: true, tall: 250 });
    this.note = h("p", { class: "note" });
    this.title = h("h2", { id: "earned" }, "What it earned");
    this.element = h("section", { "aria-labelledby": "earned" }, this.title, this.note, this.plot.element);
  }

  show(view, words) {
    const { time, rewards, total, split, low, high } = view.earned;
    this.element.hidden = !rewards.at(-1);
    if (this.element.hidden) return;
    refill(this.note, `${words.Sum} so far, compared with what a `, term("split"), " would have earned (95 % band).");
    const finite = [...total, ...high, ...low].filter(Number.isFinite);
    const best = view.arms[0];
    const write = (value) => number(Math.abs(value) >= 100 ? Math.round(value) : value, 3);
    this.plot.show({
      x: [time[0], time.at(-1)], y: [Math.min(0, ...finite), Math.max(...finite) * 1.04 || 1], stops: time, write,
      read: (i) => ({ title: `${moment(time[i], (time.at(-1) - time[0]) / 20)} · ${number(rewards[i])} ${words.plays}`,
        rows: [{ name: "this study", value: write(total[i]) }, { name: "a fixed split", value: `${write(split[i])} (${write(low[i])} to ${write(high[i])})` }] }),
      draw: ({ x, y, edge }) => [
        s("path", { class: "band", d: `${line(time, high, x, y)}${line([...time].reverse(), [...low].reverse(), x, y).replace("M", "L")}Z` }),
        s("path", { class: "split", d: line(time, split, x, y) }),
        coloured(s("path", { class: "curve", d: line(time, total, x, y) }), best.colour),
        ...marks(view, x, edge),
        ...labels([["this study", total.at(-1)], ["a fixed split", (total.at(-1) >= split.at(-1) ? low : high).at(-1)]], y, edge),
      ],
    });
  }
}

// Lines where the study noticed that the world had changed, each with its words.
function marks(view, x, edge) {
  return view.changes.filter((one) => one.kind === "change noticed").map((one) => {
    const at = x(Date.parse(one.time) / 1000);
    return s("line", { class: "noticed", x1: at, x2: at, y1: edge.top, y2: edge.tall - edge.bottom }, s("title", {}, one.reason));
  });
}

// Names at the ends of two curves, kept apart.
function labels(ends, y, edge) {
  const [first, second] = ends.map(([, value]) => y(value));
  const apart = Math.max(0, 16 - Math.abs(first - second)) / 2;
  const up = first <= second ? -1 : 1;
  return [first + up * apart, second - up * apart].map((at, i) =>
    s("text", { class: "name", x: edge.wide - edge.right - 4, y: Math.min(Math.max(at + (i === 0 ? -6 : 14) * (up === -1 ? 1 : -0.4), 12), edge.tall - edge.bottom - 4), "text-anchor": "end" }, ends[i][0]));
}
