// The dialog that tells the keys, and in which the link to the editor is set.

import { prefs } from "../data/prefs.js";
import { byId, make } from "../draw/dom.js";
import { addressOf } from "../draw/editor.js";

/** @type {[string, [string, string][]][]} */
const KEYS = [
  ["Everywhere", [
    ["/", "search as you type; Enter goes to the next hit"],
    ["n N", "next and previous hit"],
    ["F", "add a filter; a click on a category, a thread or a value adds one, too"],
    ["h", "only the hits, or all lines with the hits marked"],
    ["g", "go to a line (12,000), a time (14:03:07.5), a share (50 %) or a distance (+5 ms)"],
    ["f", "follow a log that grows, or keep the place"],
    ["1 2 3 4 0", "lines, tracks, overview, latency, list of logs"],
    ["Enter", "show or hide the details of the selected event"],
    ["m", "mark the selected event: details tell the time from it"],
    ["t", "colours: as the system, light, dark"],
    ["Esc", "close what is open, then end the search"],
    ["?", "this help"],
  ]],
  ["Lines", [
    ["j k ↓ ↑", "next and previous event"],
    ["PageDown PageUp", "a page further and back (also the space bar)"],
    ["Home End", "first and last line; at the end of a log that grows, it is followed"],
    ["← →", "scroll sideways"],
    ["c", "choose columns, and the form of times"],
  ]],
  ["Tracks", [
    ["+ − w s wheel", "zoom in and out, around the pointer"],
    ["← → a d drag", "earlier and later"],
    ["↑ ↓", "rows further up and down"],
    ["Shift and drag", "select a range of time; b does it from the keyboard"],
    ["Enter", "the lines of the selected range, or of what is seen"],
    ["z", "zoom to the selected range"],
    ["Home", "the whole log"],
    ["double click", "on a span: zoom to it"],
  ]],
  ["Latency", [
    ["j k ↓ ↑", "next and previous name in the table"],
    ["e", "what is measured"],
    ["← → ↑ ↓", "in a plot that has the focus: another cell or bucket"],
    ["Enter", "list the durations behind it"],
    ["+ −", "a shorter or longer time"],
    ["Home", "the whole log"],
  ]],
];

/** Makes the dialog. */
export function startHelp() {
  const dialog = byId("help");
  byId("help-button").addEventListener("click", openHelp);
  byId("keys").append(...KEYS.map(([title, keys]) => make("section", {},
    make("h3", { text: title }),
    make("dl", {}, keys.flatMap(([key, text]) => [
      make("dt", {}, key.split(" ").map((one) => make("kbd", { text: one }))),
      make("dd", { text })])))));
  const input = byId("editor");
  input.addEventListener("change", () => {
    const good = addressOf("/a", 1, input.value) !== null;
    const wanted = "A link with a scheme, such as vscode://file/{path}:{line}";
    input.setCustomValidity(good ? "" : wanted);
    if (good) prefs.editor = input.value;
    else input.reportValidity();
  });
  for (const one of document.querySelectorAll("dialog")) {
    one.addEventListener("click", (event) => { if (event.target === one) one.close(); });
    one.querySelector(".close")?.addEventListener("click", () => one.close());
  }
  dialog.addEventListener("close", () => byId("help-button").focus({ preventScroll: true }));
}

/** Opens the dialog. */
export function openHelp() {
  byId("editor").value = prefs.editor;
  byId("help").showModal();
}
