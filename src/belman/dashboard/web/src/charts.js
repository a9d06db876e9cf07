// Line charts, drawn by uPlot in the colours of the page.
import uPlot from "uplot";
import { colour, h, number } from "./dom.js";

const TALL = 240;

export class Chart {
  constructor(title, note, xLabel, yLabel, options = {}) {
    this.host = h("div", { class: "plot", role: "img" });
    this.caption = h("p", { class: "note" }, note);
    this.element = h("section", { class: "card" }, h("h2", {}, title), this.host, this.caption);
    this.axes = [xLabel, yLabel];
    this.options = options;
    this.plot = null;
    this.shape = "";
    this.observer = new ResizeObserver(() => this.resize());
    this.observer.observe(this.host);
  }

  resize() {
    if (this.plot && this.host.clientWidth) this.plot.setSize({ width: this.host.clientWidth, height: TALL });
  }

  // `lines`: {label, colour (a CSS variable), dash, width, named}; `data`: x and one array for each of them.
  show(lines, data, words, range) {
    this.host.setAttribute("aria-label", words);
    this.range = range;
    const shape = JSON.stringify([lines, this.axes]);
    if (!this.plot || shape !== this.shape) {
      this.plot?.destroy();
      this.shape = shape;
      this.plot = new uPlot(this.settings(lines), data, this.host);
    } else {
      this.plot.setData(data);
    }
  }

  settings(lines) {
    const ink = () => colour("--soft");
    const axis = (label, size) => ({
      label,
      stroke: ink,
      font: "12px system-ui, sans-serif",
      labelFont: "12px system-ui, sans-serif",
      labelSize: 18,
      size,
      grid: { stroke: () => colour("--line"), width: 1 },
      ticks: { show: false },
      values: (_, values) => values.map((value) => (value === null ? "" : number(value, 3))),
    });
    return {
      width: this.host.clientWidth || 320,
      height: TALL,
      legend: { show: false },
      cursor: { drag: { x: false, y: false }, points: { show: false }, y: false },
      padding: [14, 12, 0, 0],
      scales: {
        x: { time: false, range: (_, low, high) => this.range?.x ?? [low, high > low ? high : low + 1] },
        y: { range: (_, low, high) => this.range?.y ?? [Math.min(0, low ?? 0), (high || 1) * 1.08] },
      },
      axes: [axis(this.axes[0], 34), axis(this.axes[1], 52)],
      series: [
        {},
        ...lines.map((line) => ({
          label: line.label,
          stroke: line.colour ? () => colour(line.colour) : undefined,
          width: line.width ?? 2,
          dash: line.dash,
          points: { show: false },
          fill: this.options.stacked ? () => `${colour(line.colour)}40` : undefined,
        })),
      ],
      bands: this.options.stacked
        ? lines.slice(1).map((line, i) => ({ series: [i + 2, i + 1], fill: () => `${colour(line.colour)}40` }))
        : this.options.band && [{ series: this.options.band, fill: () => colour("--band") }],
      hooks: { draw: [(plot) => this.label(plot, lines)] },
    };
  }

  // Each named line carries its name where it is highest (or at its end), so that nobody has to look up a colour.
  label(plot, lines) {
    const { ctx } = plot;
    const ratio = devicePixelRatio;
    const { left, top, width } = plot.bbox;
    const placed = [];
    ctx.save();
    ctx.font = `600 ${12 * ratio}px system-ui, sans-serif`;
    ctx.textBaseline = "bottom";
    ctx.textAlign = "left";
    lines.forEach((line, i) => {
      if (!line.named) return;
      const values = plot.data[i + 1];
      let at = values.length - 1;
      if (line.named === "peak") values.forEach((value, j) => (value > values[at] ? (at = j) : null));
      if (at < 0 || values[at] === null) return;
      const text = line.label.length > 18 ? `${line.label.slice(0, 17)}…` : line.label;
      const wide = ctx.measureText(text).width;
      let x = plot.valToPos(plot.data[0][at], "x", true) - wide / 2;
      x = Math.max(left + 2, Math.min(x, left + width - wide - 2));
      const tall = 14 * ratio;
      let y = Math.max(plot.valToPos(values[at], "y", true) - 3 * ratio, top + tall);
      if (line.named === "band") {
        const below = i ? plot.data[i][at] : 0;
        if (values[at] - below < 0.07) return;
        y = plot.valToPos((values[at] + below) / 2, "y", true) + tall / 2;
        x = left + width - wide - 4 * ratio;
      }
      const hits = (box) => x < box.x + box.wide + 4 && box.x < x + wide + 4 && Math.abs(box.y - y) < tall;
      for (let tries = 0; tries < 12 && placed.some(hits); tries += 1) y += tall;
      placed.push({ x, y, wide });
      ctx.lineWidth = 3 * ratio;
      ctx.strokeStyle = colour("--card");
      ctx.strokeText(text, x, y);
      ctx.fillStyle = colour(line.colour);
      ctx.fillText(text, x, y);
    });
    ctx.restore();
  }

  redraw() {
    this.plot?.redraw(false);
  }

  destroy() {
    this.observer.disconnect();
    this.plot?.destroy();
  }
}
