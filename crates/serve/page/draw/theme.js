// Light or dark, and the colours of categories and levels, also for what is drawn on a canvas.

import { onPrefs, prefs } from "../data/prefs.js";
import { byId } from "./dom.js";
/** @import { Prefs } from "../data/prefs.js" */

/** @type {Prefs["theme"][]} */
const ORDER = ["system", "light", "dark"];
const COLOURS = 12;
const dark = matchMedia("(prefers-color-scheme: dark)");
/** @type {Set<() => void>} */
const listeners = new Set();
/** @type {Map<string, string>} */
const known = new Map();
/** @type {Map<string, number>} */
const ranks = new Map();

/** Shows the theme that is chosen, and changes it by the button. */
export function startTheme() {
  apply();
  byId("theme").addEventListener("click", nextTheme);
  dark.addEventListener("change", apply);
  onPrefs((name) => { if (name === "theme") apply(); });
}

/** Chooses the next of: as the system says, light, dark. */
export function nextTheme() {
  prefs.theme = ORDER[(ORDER.indexOf(prefs.theme) + 1) % ORDER.length];
}

/**
 * Calls `listener` when colours have changed.
 * @param {() => void} listener
 */
export function onColours(listener) {
  listeners.add(listener);
}

function apply() {
  const root = document.documentElement;
  if (prefs.theme === "system") delete root.dataset.theme;
  else root.dataset.theme = prefs.theme;
  const button = byId("theme");
  const text = { system: "as the system", light: "light", dark: "dark" }[prefs.theme];
  button.textContent = { system: "◐", light: "☀", dark: "☾" }[prefs.theme];
  button.title = `Colours: ${text} (t)`;
  button.setAttribute("aria-label", button.title);
  known.clear();
  tell();
}

function tell() {
  for (const listener of listeners) listener();
}

/**
 * The colour that a name such as `--accent` has now, in a form that a canvas understands.
 * @param {string} name
 */
export function colour(name) {
  let value = known.get(name);
  if (value === undefined) {
    // The text of a custom property may hold light-dark(), so the browser has to resolve it.
    const probe = byId("probe");
    probe.style.color = `var(${name})`;
    value = getComputedStyle(probe).color;
    known.set(name, value);
  }
  return value;
}

/**
 * Gives the categories of a log colours in their order, so that few share one.
 * @param {string[]} names
 */
export function rankCategories(names) {
  ranks.clear();
  [...new Set(names)].sort().forEach((name, rank) => ranks.set(name, rank));
  tell();
}

/**
 * The number of the colour of a category, from 0 on, or -1 for none.
 * @param {string | null | undefined} name
 */
export function categoryRank(name) {
  if (!name) return -1;
  let rank = ranks.get(name);
  if (rank === undefined) {
    rank = 0;
    for (const character of name) rank = (rank * 31 + (character.codePointAt(0) ?? 0)) % 9973;
    ranks.set(name, rank);
  }
  return rank % COLOURS;
}

/**
 * The colour of a category for a canvas.
 * @param {string | null | undefined} name
 */
export function categoryColour(name) {
  const rank = categoryRank(name);
  return colour(rank < 0 ? "--dim" : `--k${rank}`);
}

const LEVELS = ["fatal", "error", "warning", "info", "trace", "app", "debug", "packet", "library"];

/**
 * The class of a row or a word that has the colour of this priority.
 * @param {string | null | undefined} priority
 */
export function levelClass(priority) {
  return LEVELS.includes(priority ?? "") ? `level-${priority}` : "level-none";
}
