// Asks a person before live traffic is changed: what will happen, why, and for some things the name.
import { call } from "./api.js";
import { h } from "./dom.js";

let asked = 0;

// Resolves when it was done, once, or left alone.
export function ask({ title, words, verb, danger, typed, work, reason: wanted = true }) {
  asked += 1;
  const id = `ask-${asked}`;
  const reason = h("input", { id: `${id}-reason`, maxlength: 200, autocomplete: "off", placeholder: "optional; the log keeps it" });
  const name = typed && h("input", { id: `${id}-name`, autocomplete: "off", oninput: () => { go.disabled = name.value !== typed; } });
  const error = h("p", { class: "error", role: "alert" });
  const go = h("button", { class: danger ? "danger" : "primary", disabled: Boolean(typed) }, verb);
  const key = crypto.randomUUID(); // sent again, it is still one event
  return new Promise((done) => {
    const leave = (result) => {
      panel.close();
      panel.remove();
      done(result);
    };
    const panel = h("dialog", { class: "ask", "aria-labelledby": id, oncancel: (event) => { event.preventDefault(); leave(null); } },
      h("form", { onsubmit: async (event) => {
        event.preventDefault();
        go.disabled = true;
        error.textContent = "";
        try {
          leave(await work(reason.value.trim(), key));
        } catch (problem) {
          error.textContent = problem.message;
          go.disabled = false;
        }
      } },
      h("h2", { id }, title), h("p", {}, words),
      name && h("p", { class: "field" }, h("label", { for: `${id}-name` }, "Type the name of the study: ", h("strong", {}, typed)), name),
      wanted && h("p", { class: "field" }, h("label", { for: `${id}-reason` }, "Reason"), reason), error,
      h("p", { class: "buttons" }, h("button", { type: "button", onclick: () => leave(null) }, "Leave it as it is"), go)));
    document.body.append(panel);
    panel.showModal();
    (name || reason).focus();
  });
}

export const change = (method, path, body) => (reason, key) =>
  call(method, path, { ...body, reason: reason || "on the page" }, { "Idempotency-Key": key });
