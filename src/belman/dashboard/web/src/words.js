// Numbers, shares and times as people write them.
const WORDS = { inf: "∞", "-inf": "−∞", nan: "–" };

export function number(value, digits = 4) {
  if (typeof value !== "number") return WORDS[value] ?? String(value ?? "–");
  if (Number.isInteger(value)) return value.toLocaleString("en").replace("-", "−");
  return value.toLocaleString("en", { maximumSignificantDigits: digits }).replace("-", "−");
}

export function percent(value) {
  if (typeof value !== "number") return WORDS[value] ?? "–";
  const size = Math.abs(100 * value);
  const digits = size < 0.0005 || size >= 99.95 ? 0 : size < 0.095 ? 3 : size < 0.95 ? 2 : 1;
  const written = size.toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits });
  return `${value < 0 && size >= 0.0005 ? "−" : ""}${written}\u00a0%`;
}

// A share without more digits than it has: for levels and axes.
export const share = (value) => `${number(Number((100 * value).toPrecision(3)))} %`;

// No line breaks between a number and its sign.
export const unbroken = (text) => text.replaceAll(" %", "\u00a0%");
export const capital = (text) => text && `${text[0].toUpperCase()}${text.slice(1)}`;

export function signed(value, write = percent) {
  const text = write(value);
  return typeof value === "number" && value > 0 && /[1-9]/.test(text) ? `+${text}` : text;
}

// A chance: nobody knows it to be nothing or certain.
export function chance(value) {
  if (value > 0.999) return "> 99.9\u00a0%";
  if (value < 0.001) return "< 0.1\u00a0%";
  return percent(value);
}

// Limits on metrics as a person writes them: refund < 0.05, latency < 2.
export const limits = (text) => Object.fromEntries(text.split(",").map((one) => one.trim()).filter(Boolean).map((one) => { const [name, limit = ""] = one.split(/\s*(?=[<>])/); return [name, limit]; }));

const format = (options) => new Intl.DateTimeFormat("en-GB", options);
const DAY = format({ day: "numeric", month: "short" });
const YEAR = format({ day: "numeric", month: "short", year: "numeric" });
const MINUTE = format({ hour: "2-digit", minute: "2-digit" });
const SECOND = format({ hour: "2-digit", minute: "2-digit", second: "2-digit" });
const date = (seconds) => new Date(1000 * seconds);

export const clock = (seconds) => SECOND.format(date(seconds));
export const moment = (seconds, width = 1) =>
  width >= 86400 ? YEAR.format(date(seconds)) : `${DAY.format(date(seconds))}, ${(width >= 60 ? MINUTE : SECOND).format(date(seconds))}`;

export function duration(seconds) {
  const [size, unit] = [[86400, "day"], [3600, "hour"], [60, "minute"]].find(([size]) => seconds >= size) ?? [1, "second"];
  const count = Number((seconds / size).toPrecision(3));
  return count === 1 ? unit : `${number(count)} ${unit}s`;
}

// Ticks of time where a person would put them: each with its words, and the date where it changes.
export function timeTicks(low, high, most) {
  const sizes = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400, 172800, 604800, 1209600, 2592000, 7776000, 31536000];
  const size = sizes.find((one) => (high - low) / one <= most) ?? sizes.at(-1);
  const shift = -60 * date(low).getTimezoneOffset();
  const found = [];
  let day = "";
  for (let at = Math.ceil((low + shift) / size) * size - shift; at <= high; at += size) {
    const today = (size > 2e6 ? YEAR : DAY).format(date(at));
    const words = size >= 86400 ? today : (size >= 60 ? MINUTE : SECOND).format(date(at));
    found.push({ at, words, below: size < 86400 && today !== day ? today : "" });
    day = today;
  }
  return found;
}

export function ticks(low, high, most = 5) {
  const raw = (high - low || 1) / most;
  const unit = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 2.5, 5, 10].map((factor) => factor * unit).find((size) => size >= 0.999999 * raw);
  const found = [];
  for (let at = Math.ceil(low / step - 1e-9) * step; at <= high + 1e-9 * step; at += step) found.push(Number(at.toPrecision(12)));
  return found;
}
