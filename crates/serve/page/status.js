// The line at the bottom: errors, what is being done, where one is.

import { byId, make, setText } from "./dom.js";

const parts = new Map();
let gone = 0;

/** Shows an error until it is closed or some seconds have passed. Reading goes on. */
export function showError(error, what = "") {
  const text = `${what ? what + ": " : ""}${error?.message ?? error}`;
  showMessage(text, true);
}

/** Shows a message for some seconds. */
export function showMessage(text, bad = false) {
  const element = byId("message");
  element.replaceChildren(
    make("span", { text }),
    make("button", { type: "button", class: "bare", "aria-label": "Close the message", text: "✕",
      onclick: clearMessage }),
  );
  element.classList.toggle("bad", bad);
  clearTimeout(gone);
  gone = setTimeout(clearMessage, bad ? 15_000 : 5_000);
}

/** Takes the message away. */
export function clearMessage() {
  clearTimeout(gone);
  byId("message").replaceChildren();
  byId("message").classList.remove("bad");
}

/** Shows a text in the part of this name, or takes the part away if there is none. */
export function showPart(name, text) {
  let part = parts.get(name);
  if (!part) {
    if (!text) return;
    part = make("span", { class: `part part-${name}` });
    parts.set(name, part);
    byId("parts").append(part);
  }
  part.hidden = !text;
  setText(part, text ?? "");
}
