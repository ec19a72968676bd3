// The keys that work everywhere; others are given to the view that is shown.

import { byId, isTyping } from "../draw/dom.js";
/** @import { Elements } from "../../types/elements.js" */
/** @import { View } from "../data/state.js" */

/**
 * What a key does; false, if it is none of those that are handled.
 * @typedef {(event: KeyboardEvent) => unknown} Action
 */

/** The elements that get the focus in each view. @type {Record<View, keyof Elements>} */
const FOCUSED = { lines: "grid", tracks: "canvas", overview: "overview", logs: "logs",
  latency: "latency" };

/**
 * Listens to keys. `actions` has one for each key; `view()` is what gets the others.
 * @param {Record<string, Action>} actions
 * @param {() => { key(event: KeyboardEvent): boolean } | undefined} view
 */
export function startKeys(actions, view) {
  addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    if (document.querySelector("dialog[open]")) return;
    if (isTyping(event.target)) return;
    // A control that has the focus gets the keys that it understands.
    const target = event.target instanceof Element ? event.target : null;
    const control = target?.closest("button, a, summary, input, [popover], [role=tab]");
    if (control && (event.key === "Enter" || event.key === " ")) return;
    if (target?.closest("[popover], #grip") && event.key !== "Escape") return;
    const action = actions[event.key];
    if (action ? action(event) !== false : view()?.key(event)) event.preventDefault();
  });
}

/**
 * Gives the focus to the list or the picture of the view that is shown.
 * @param {View} view
 */
export function focusView(view) {
  byId(FOCUSED[view]).focus({ preventScroll: true });
}
