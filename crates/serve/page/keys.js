// The keys that work everywhere; others are given to the view that is shown.

import { byId, isTyping } from "./dom.js";

/** Listens to keys. `actions` has one for each key; `view()` is what gets the others. */
export function startKeys(actions, view) {
  addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    if (document.querySelector("dialog[open]")) return;
    if (isTyping(event.target)) return;
    // A control that has the focus gets the keys that it understands.
    const control = event.target.closest?.("button, a, summary, input, [popover], [role=tab]");
    if (control && (event.key === "Enter" || event.key === " ")) return;
    if (event.target.closest?.("[popover], #grip") && event.key !== "Escape") return;
    const action = actions[event.key];
    if (action ? action(event) !== false : view()?.key(event)) event.preventDefault();
  });
}

/** Gives the focus to the list or the picture of the view that is shown. */
export function focusView(view) {
  byId({ lines: "grid", tracks: "canvas", overview: "overview", logs: "logs",
    latency: "latency" }[view])
    .focus({ preventScroll: true });
}
