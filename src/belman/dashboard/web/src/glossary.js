// Every term of the page: a tooltip where it stands, and an entry in the glossary.
import { h } from "./dom.js";

const TERMS = {
  arm: ["arm", "One of the things that are tried: a button, a price, a text."],
  control: ["control", "The arm that the others are held against, often what was there before."],
  lift: ["lift", "By how much an arm does better than control: relative, as +20 %, or as a difference."],
  credible: ["credible interval", "Given the prior and the data so far, the true value lies in it with this chance. It is a statement about now; who looks again and again until it pleases is misled more often."],
  anytime: ["interval at any look", "It holds at every look at once, however often one looks and whenever one stops. It is wider for that."],
  beats: ["chance to beat control", "How likely it is, by what is believed now, that the arm is truly better than control."],
  best: ["chance to be best", "How likely it is, by what is believed now, that no other arm is better."],
  loss: ["expected loss", "What a turn is expected to lose if this arm is chosen for good now and another one is truly better."],
  share: ["traffic share", "The part of all tickets that an arm was given."],
  impressions: ["impressions", "How often an arm was shown and its outcome counted."],
  conversions: ["conversions", "How many impressions had the outcome that was wanted."],
  rate: ["conversion rate", "Conversions by impression: here, what is expected of the arm by what is believed."],
  reward: ["expected reward", "What a turn of the arm earns on average, by what is believed."],
  cost: ["expected cost", "What a turn of the arm costs on average, by what is believed."],
  plays: ["plays", "How many rewards of an arm counted."],
  split: ["fixed split", "What an even split of the same turns over all arms would have earned, by what is believed of the arms now."],
  ticket: ["ticket", "One decision: it names an arm, and its reward is told later."],
  decided: ["decided", "The rule to stop by, which was chosen ahead, says that one may stop."],
  shipped: ["shipped", "All traffic goes to one arm, by one event; another one undoes it."],
  sound: ["soundness", "Questions to the data that may be asked at any time. Each gives a false alarm in at most one study of a hundred, and none stops anything by itself."],
  ratio: ["sample ratio", "Whether the arms got the traffic that they were meant to get."],
  segment: ["segment", "A part of the traffic, such as phones. Small segments show large differences by luck, so each difference is drawn towards that of all segments."],
  difference: ["difference", "What the leader earned more on average than the arm beside it, in this segment alone. Points are hundredths: from 5 % to 6 % is one point."],
  drawn: ["drawn to all", "The same difference, drawn towards that of all segments: the more, the fewer rewards this one has and the more alike segments are (partial pooling)."],
  worse: ["chance to be worse", "How likely it is, by what is believed now, that the leader is truly worse than the other arm in this segment."],
  running: ["running", "The rule to stop by has not decided yet."],
  paused: ["paused", "The study decides nothing until it is resumed: asks are refused, and rewards are still welcome."],
  wrong: ["something is wrong", "A question to the data gave an alarm: look at that before you trust the rest."],
  waiting: ["waiting for its first ask", "Nobody has asked this study anything yet."],
  precision: ["precision", "How closely a value is known: one over the variance of the belief."],
  floor: ["floor", "The share of traffic that an arm gets at least."],
  guard: ["guard-rail", "A limit on a metric; an arm that is known to break it is paused, by an event with a reason."],
  window: ["window", "How long after its ask a ticket may be told; then it counts, and silence counts too."],
  exposure: ["exposure", "How greedy the policy is: between exploring all arms and exploiting the one that looks best."],
  belief: ["belief", "What is known of an arm, as a probability of each value that its expected reward may have."],
  manifold: ["manifold", "The space of all beliefs. Each is a point: how much is expected, and how precisely that is known."],
  pseudobelief: ["pseudobelief", "The barycentre of the beliefs about all arms, by which BelMan explores."],
  index: ["index", "The number by which the policy compares arms; the largest is chosen."],
};

const tip = h("div", { id: "tip", role: "tooltip", hidden: true });
const list = h("dl", {}, ...Object.entries(TERMS).sort(([, a], [, b]) => a[0].localeCompare(b[0])).flatMap(([id, [name, words]]) => [
  h("dt", { id: `term-${id}`, tabindex: -1 }, name), h("dd", {}, words)]));
const panel = h("dialog", { id: "glossary", "aria-labelledby": "glossary-title" },
  h("div", { class: "bar" }, h("h2", { id: "glossary-title" }, "Glossary"), h("button", { type: "button", onclick: () => panel.close() }, "Close")), list);
document.body.append(panel, tip);

export function openGlossary(id) {
  hide();
  panel.showModal();
  const entry = id && document.getElementById(`term-${id}`);
  if (entry) {
    entry.scrollIntoView({ block: "center" });
    entry.focus();
  }
}

function show(element) {
  tip.textContent = TERMS[element.dataset.term][1];
  tip.hidden = false;
  const box = element.getBoundingClientRect();
  const wide = tip.offsetWidth;
  tip.style.left = `${Math.max(8, Math.min(box.left, document.documentElement.clientWidth - wide - 8)) + scrollX}px`;
  const below = box.bottom + tip.offsetHeight + 14 < innerHeight;
  tip.style.top = `${(below ? box.bottom + 7 : box.top - tip.offsetHeight - 7) + scrollY}px`;
  element.setAttribute("aria-describedby", "tip");
}

function hide() {
  document.querySelectorAll("[aria-describedby=tip]").forEach((one) => one.removeAttribute("aria-describedby"));
  tip.hidden = true;
}

const termOf = (event) => event.target.closest?.("[data-term]");
for (const kind of ["mouseover", "focusin"]) document.addEventListener(kind, (event) => (termOf(event) ? show(termOf(event)) : hide()));
document.addEventListener("focusout", hide);
document.addEventListener("keydown", (event) => event.key === "Escape" && hide());

// A word with its tooltip; pressed, it opens the glossary at its entry.
export const term = (id, words = TERMS[id][0]) =>
  h("button", { type: "button", class: "term", "data-term": id, onclick: () => openGlossary(id) }, words);
