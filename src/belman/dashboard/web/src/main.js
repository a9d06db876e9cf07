// Which page is shown, whether it is live, and the key where the service asks for one.
import { call, key } from "./api.js";
import { h } from "./dom.js";
import { openGlossary } from "./glossary.js";
import { listPage } from "./list.js";
import { studyPage } from "./study.js";
import { capital, clock } from "./words.js";

const main = document.getElementById("main");
const light = document.getElementById("link");
const banner = document.getElementById("banner");
const WORDS = { live: "Live", lost: "Reconnecting …", trouble: "Waiting …" };
let leave = () => {};
let seen = null;
document.getElementById("words").addEventListener("click", () => openGlossary());

function link(state, error) {
  if (state === "refused") {
    if (error.status === 404) main.replaceChildren(h("section", { class: "lost" }, h("h1", {}, "No such study"), h("p", {}, error.message), h("p", {}, h("a", { href: "#/" }, "All studies"))));
    else askForKey(error);
    return;
  }
  if (state === "live") seen = Date.now() / 1000;
  if (light.dataset.state === state) return;
  light.dataset.state = state;
  light.textContent = WORDS[state];
  banner.hidden = state === "live";
  const old = seen === null ? "" : ` What you see is from ${clock(seen)}.`;
  banner.textContent = state === "live" ? "" : `${state === "lost" ? "The service cannot be reached; this page tries again by itself." : `${capital(error.detail)}; trying again.`}${old}`;
}


function askForKey(error) {
  leave();
  leave = () => {};
  const field = h("input", { id: "key", type: "password", required: true, autocomplete: "off" });
  main.replaceChildren(h("form", { class: "key", onsubmit: (event) => {
    event.preventDefault();
    key.set(field.value.trim());
    route();
  } },
  h("h1", {}, "Enter your key"), h("p", { class: "error", role: "alert" }, key.get() ? error.message : ""),
  h("p", { class: "field" }, h("label", { for: "key" }, "Key (kept until this tab is closed)"), field), h("button", { class: "primary" }, "Open")));
  field.focus();
}

// The name in an address; one that is no encoding of anything stands for itself.
function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

async function route() {
  leave();
  leave = () => {};
  const here = location.hash;
  let who;
  for (;;) {
    try {
      who = await call("GET", "/api/whoami");
      break;
    } catch (error) {
      if (error.status === 401 || error.status === 403) return askForKey(error);
      link("lost");
      await new Promise((done) => setTimeout(done, 1000));
      if (location.hash !== here) return undefined;
    }
  }
  if (location.hash !== here) return undefined;
  const found = /^#\/study\/(.+)$/.exec(here);
  document.title = "belman";
  delete main.dataset.number;
  delete main.dataset.judged;
  scrollTo(0, 0);
  leave = found ? studyPage(main, decoded(found[1]), who.role, link) : listPage(main, who.role, link);
  return undefined;
}

addEventListener("hashchange", () => {
  if (location.hash !== "#main") route();
});
route();
