// Elements without markup in strings: names of studies and arms are text, never HTML.
const SVG = "http://www.w3.org/2000/svg";

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === false || value === null) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

export const h = (tag, attributes = {}, ...children) => fill(document.createElement(tag), attributes, children);
export const s = (tag, attributes = {}, ...children) => fill(document.createElementNS(SVG, tag), attributes, children);

// New content in place of the old, with the keyboard where it was: views come every second.
const REACHED = "a, button, input, [tabindex]";
export function refill(parent, ...children) {
  const place = parent.contains(document.activeElement) ? [...parent.querySelectorAll(REACHED)].indexOf(document.activeElement) : -1;
  parent.replaceChildren(...children);
  if (place >= 0) parent.querySelectorAll(REACHED)[place]?.focus({ preventScroll: true });
}

// Words in which `names in code` are marked as such.
export const coded = (text) => text.split("`").map((part, i) => (i % 2 ? h("code", {}, part) : part));

// The colour of an arm, for good, on a light and on a dark page; grey for what has none.
export function coloured(element, colour) {
  element.classList.add("arm");
  if (colour) {
    element.style.setProperty("--light", colour.light);
    element.style.setProperty("--dark", colour.dark);
  }
  return element;
}

export const dot = (colour) => coloured(h("span", { class: "dot" }), colour);
