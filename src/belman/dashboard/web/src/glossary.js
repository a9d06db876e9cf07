// Every term of the page: a tooltip where it stands, and an entry in the glossary.
import { h } from "./dom.js";

const TERMS = {
  arm: ["arm", "One of the options that are tried: a button, a price, a text."],
  control: ["control", "The arm that the others are compared with, often what was there before."],
  lift: ["lift", "By how much an arm does better than control: relative, as +20 %, or as a difference."],
  credible: ["credible interval", "Given the prior and the data so far, the true value lies in it with this probability. It is a statement about now: if you look again and again until you like it, it misleads more often."],
  anytime: ["interval at any look", "An anytime-valid confidence interval, also called a confidence sequence: it holds at every look at once, however often you look and whenever you stop. It is wider for that."],
  beats: ["chance to beat control", "The probability, given the prior and the data so far, that the arm is truly better than control."],
  best: ["chance to be best", "The probability, given the prior and the data so far, that no other arm is better."],
  loss: ["expected loss", "What each decision is expected to lose if this arm is chosen for good now, since another one may truly be better."],
  share: ["traffic share", "The share of all decisions that went to an arm."],
  impressions: ["impressions", "How often an arm was shown and its outcome counted."],
  conversions: ["conversions", "How many impressions had the outcome that was wanted."],
  rate: ["conversion rate", "Conversions per impression, as estimated from the prior and the data so far."],
  reward: ["expected reward", "What a decision for the arm earns on average, as estimated from the prior and the data so far."],
  cost: ["expected cost", "What a decision for the arm costs on average, as estimated from the prior and the data so far."],
  plays: ["plays", "How many rewards of an arm counted."],
  attainable: ["attainable", "What the best arm, known from the start, would have earned in the same number of decisions, by what is believed now. No policy attains it, since it must learn which arm is best."],
  split: ["fixed split", "What an A/B test with equal shares would have earned in the same number of decisions, by the estimates of the arms now."],
  ticket: ["ticket", "One decision: it names an arm, and its reward is told later."],
  decided: ["decided", "The stopping rule, which was chosen in advance, is met: you may stop."],
  shipped: ["shipped", "All traffic goes to one arm, until somebody undoes it."],
  sound: ["soundness", "Tests of the data that are valid at any time. Each gives a false alarm in at most one study of a hundred. An alarm stops nothing by itself."],
  ratio: ["sample ratio", "Whether the arms got the traffic shares that were intended; where they did not, there is a sample ratio mismatch."],
  segment: ["segment", "A part of the traffic, such as phones. Small segments show large differences by luck, so each difference is shrunk towards that of all segments."],
  difference: ["difference", "What the leader earned more on average than the arm beside it, in this segment alone. Points are hundredths: from 5 % to 6 % is one point."],
  drawn: ["shrunk", "The same difference, shrunk towards that of all segments (partial pooling): the more, the fewer rewards this one has and the more alike segments are."],
  worse: ["chance to be worse", "The probability, given the prior and the data so far, that the leader is truly worse than the other arm in this segment."],
  running: ["running", "The stopping rule is not met yet."],
  paused: ["paused", "The study decides nothing until it is resumed: asks are refused, and rewards are still accepted."],
  wrong: ["something is wrong", "A test of the data raised an alarm: look at that before you trust the rest."],
  waiting: ["waiting for its first ask", "Nobody has asked this study anything yet."],
  precision: ["precision", "How closely a value is known: one over the variance of the belief."],
  floor: ["floor", "The share of traffic that an arm gets at least."],
  guard: ["guard-rail", "A limit on a metric. An arm that is known to break it is taken out of play, with the reason in the log."],
  window: ["window", "How long to wait for the reward of a decision. Then the decision counts, and if no reward came, that counts too."],
  exposure: ["exposure", "How greedy the policy is: between exploring all arms and exploiting the one that looks best."],
  belief: ["belief", "What is known of an arm: a probability distribution of its expected reward (the posterior)."],
  manifold: ["manifold", "The space of all beliefs. Each is a point: how much is expected, and how precisely that is known."],
  pseudobelief: ["pseudobelief", "One belief that sums up those about all arms: by default that of an arm that had every reward, under the paper's rule their barycentre."],
  index: ["index", "The number by which the policy compares arms; the largest is chosen."],
};

const tip = h("div", { id: "tip", role: "tooltip", hidden: true });
const list = h("dl", {}, ...Object.entries(TERMS).sort(([, a], [, b]) => a[0].localeCompare(b[0])).flatMap(([id, [name, words]]) => [
  h("dt", { id: `term-${id}`, tabindex: -1 }, name), h("dd", {}, words)]));
const panel = h("dialog", { id: "glossary", "aria-labelledby": "glossary-title" },
  h("div", { class: "bar" }, h("h2", { id: "glossary-title" }, "Glossary"), h("button", { type: "button", onclick: () => panel.close() }, "Close")), list);
document.body.append(panel, h("aside", { "aria-label": "What a term means" }, tip));

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
