// What is looked at, as the fragment of the address: log, view, line, query, filters, window.

/**
 * What is looked at. A filter is a pair of its name and its value.
 * @typedef {typeof VIEWS[number]} View
 * @typedef {[string, string]} Filter
 * @typedef {{ log: string | null, view: View, line: number | null, q: string, regex: boolean,
 *   case: "smart" | "sensitive", only: boolean, filters: Filter[], by: "thread" | "core",
 *   from: string | null, to: string | null, what: string, series: string | null }} State
 * @typedef {Set<keyof State>} Changed
 */

/**
 * The filters of the server, with what a reader would call them.
 * @type {Record<string, string>}
 */
export const FILTERS = {
  category: "Category", event: "Event", priority: "Priority", thread: "Thread", pid: "Process",
  core: "Core", since: "Since", until: "Until", where: "Where", grep: "Text",
};

/** The views, by the names that addresses and elements have. */
export const VIEWS = /** @type {const} */ (["logs", "lines", "tracks", "overview", "latency"]);

/** The present state. It is changed by `set` only. @type {State} */
export const state = {
  log: null, view: "lines", line: null, q: "", regex: false, case: "smart", only: true,
  filters: [], by: "thread", from: null, to: null, what: "", series: null,
};

/** @type {Set<(changed: Changed, isOfAddress?: boolean) => void>} */
const listeners = new Set();
let timer = 0;

/**
 * The state that a fragment describes. What it does not name has its first value.
 * @param {string} fragment @returns {State}
 */
export function parse(fragment) {
  const given = new URLSearchParams(fragment.replace(/^#/, ""));
  /** @param {string} name */
  const whole = (name) => (/^\d{1,20}$/.test(given.get(name) ?? "") ? given.get(name) : null);
  const from = whole("from");
  const to = whole("to");
  const range = from && to && BigInt(from) < BigInt(to);
  return {
    log: given.get("log"),
    view: VIEWS.find((view) => view === given.get("view")) ?? "lines",
    line: whole("line") === null ? null : Number(whole("line")),
    q: given.get("q") ?? "",
    regex: given.has("regex"),
    case: given.get("case") === "sensitive" ? "sensitive" : "smart",
    only: !given.has("all"),
    filters: [...given].filter(([name, value]) => Object.hasOwn(FILTERS, name) && value !== ""),
    by: given.get("by") === "core" ? "core" : "thread",
    from: range ? from : null,
    to: range ? to : null,
    what: given.get("what") ?? "",
    series: given.get("series"),
  };
}

/**
 * The fragment that describes a state.
 * @param {State} of
 */
export function format(of) {
  /** @type {[string, string][]} */
  const pairs = [];
  if (of.log !== null) pairs.push(["log", of.log]);
  if (of.view !== "lines") pairs.push(["view", of.view]);
  if (of.line !== null) pairs.push(["line", String(of.line)]);
  if (of.q) pairs.push(["q", of.q]);
  if (of.regex) pairs.push(["regex", "1"]);
  if (of.case !== "smart") pairs.push(["case", of.case]);
  if (!of.only) pairs.push(["all", "1"]);
  pairs.push(...of.filters);
  if (of.by !== "thread") pairs.push(["by", of.by]);
  if (of.from !== null && of.to !== null) pairs.push(["from", of.from], ["to", of.to]);
  if (of.what) pairs.push(["what", of.what]);
  if (of.series !== null) pairs.push(["series", of.series]);
  const text = new URLSearchParams(pairs).toString();
  return "#" + text.replaceAll("%2F", "/").replaceAll("%3A", ":").replaceAll("%40", "@");
}

/** @param {unknown} one @param {unknown} other */
const same = (one, other) => JSON.stringify(one) === JSON.stringify(other);

/** @param {Partial<State>} patch */
function take(patch) {
  /** @type {Changed} */
  const changed = new Set();
  for (const name of /** @type {(keyof State)[]} */ (Object.keys(patch))) {
    const value = patch[name];
    if (same(state[name], value)) continue;
    Object.assign(state, { [name]: value });
    changed.add(name);
  }
  return changed;
}

/**
 * Changes the state. With `push`, the way back in the browser leads to what was before.
 * @param {Partial<State>} patch @param {boolean} [push]
 */
export function set(patch, push = false) {
  if (push) writeNow();
  const changed = take(patch);
  if (!changed.size) return;
  if (push) {
    history.pushState(null, "", format(state));
  } else {
    // Browsers refuse more than a few changes of the address a second.
    timer ||= setTimeout(writeNow, 250);
  }
  for (const listener of listeners) listener(changed);
}

function writeNow() {
  if (!timer) return;
  clearTimeout(timer);
  timer = 0;
  history.replaceState(null, "", format(state));
}

/** Takes the state from the address, now and whenever that is another one. */
export function startState() {
  addEventListener("popstate", load);
  addEventListener("hashchange", load);
  load();
}

function load() {
  clearTimeout(timer);
  timer = 0;
  const changed = take(parse(location.hash));
  for (const listener of listeners) listener(changed, true);
}

/**
 * Calls `listener` with the names of what has changed, and whether the address says so.
 * @param {(changed: Changed, isOfAddress?: boolean) => void} listener
 */
export function onState(listener) {
  listeners.add(listener);
}

/** Filters of which there is one at most. */
const ONCE = ["since", "until", "priority"];

/**
 * Adds a filter, unless it is there. `since`, `until` and `priority` replace the former one.
 * @param {string} name @param {string} value
 */
export function addFilter(name, value) {
  const one = ONCE.includes(name);
  const rest = state.filters.filter(([n, v]) => (one ? n !== name : n !== name || v !== value));
  set({ filters: [...rest, [name, value]] }, true);
}

/**
 * Removes a filter.
 * @param {string} name @param {string} value
 */
export function removeFilter(name, value) {
  set({ filters: state.filters.filter(([n, v]) => n !== name || v !== value) }, true);
}

/**
 * The parameters of the server for the query and the filters of a state; none if it has none.
 * @param {Pick<State, "q" | "regex" | "case" | "filters">} of @returns {Filter[]}
 */
export function parametersOf({ q, regex, case: how, filters }) {
  const asked = [...filters];
  if (!q) return asked;
  asked.push(["q", q], ["case", how]);
  if (regex) asked.push(["regex", "true"]);
  return asked;
}
