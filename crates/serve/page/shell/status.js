// The line at the bottom: errors, what is being done, where one is.

import { onNotices } from "../data/notices.js";
import { byId, make, setText } from "../draw/dom.js";

/** @type {Map<string, HTMLElement>} */
const parts = new Map();
let gone = 0;

/** Shows what other parts of the page tell. */
export function startStatus() {
  onNotices({ error: showError, part: showPart });
}

/** What an error says. @param {unknown} error @returns {string} */
export function messageOf(error) {
  return /** @type {{ message?: string } | null} */ (error)?.message ?? String(error);
}

/**
 * Shows an error until it is closed or some seconds have passed. Reading goes on.
 * @param {unknown} error @param {string} [what]
 */
export function showError(error, what = "") {
  showMessage(`${what ? what + ": " : ""}${messageOf(error)}`, true);
}

/**
 * Shows a message for some seconds.
 * @param {string} text @param {boolean} [bad]
 */
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

/**
 * Shows a text in the part of this name, or takes the part away if there is none.
 * @param {string} name @param {string} text
 */
export function showPart(name, text) {
  let part = parts.get(name);
  if (!part) {
    if (!text) return;
    part = make("span", { class: `part part-${name}` });
    parts.set(name, part);
    byId("parts").append(part);
  }
  part.hidden = !text;
  setText(part, text);
}
