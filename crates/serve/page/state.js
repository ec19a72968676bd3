// What is looked at, as the fragment of the address: log, view, line, query, filters, window.

/** The filters of the server, with what a reader would call them. */
export const FILTERS = {
  category: "Category", event: "Event", priority: "Priority", thread: "Thread", pid: "Process",
  core: "Core", since: "Since", until: "Until", where: "Where", grep: "Text",
};

const VIEWS = ["logs", "lines", "tracks", "overview", "latency"];

/** The present state. It is changed by `set` only. */
export const state = {
  log: null, view: "lines", line: null, q: "", regex: false, case: "smart", only: true,
  filters: [], by: "thread", from: null, to: null, what: "", series: null,
};

const listeners = new Set();
let timer = 0;

/** The state that a fragment describes. What it does not name has its first value. */
export function parse(fragment) {
  const given = new URLSearchParams(fragment.replace(/^#/, ""));
  const whole = (name) => (/^\d{1,20}$/.test(given.get(name) ?? "") ? given.get(name) : null);
  const from = whole("from");
  const to = whole("to");
  const range = from && to && BigInt(from) < BigInt(to);
  return {
    log: given.get("log"),
    view: VIEWS.includes(given.get("view")) ? given.get("view") : "lines",
    line: whole("line") === null ? null : Number(whole("line")),
    q: given.get("q") ?? "",
    regex: given.has("regex"),
    case: given.get("case") === "sensitive" ? "sensitive" : "smart",
    only: !given.has("all"),
    filters: [...given].filter(([name, value]) => name in FILTERS && value !== ""),
    by: given.get("by") === "core" ? "core" : "thread",
    from: range ? from : null,
    to: range ? to : null,
    what: given.get("what") ?? "",
    series: given.get("series"),
  };
}

/** The fragment that describes a state. */
export function format(of) {
  const pairs = [];
  if (of.log !== null) pairs.push(["log", of.log]);
  if (of.view !== "lines") pairs.push(["view", of.view]);
  if (of.line !== null) pairs.push(["line", of.line]);
  if (of.q) pairs.push(["q", of.q]);
  if (of.regex) pairs.push(["regex", "1"]);
  if (of.case !== "smart") pairs.push(["case", of.case]);
  if (!of.only) pairs.push(["all", "1"]);
  pairs.push(...of.filters);
  if (of.by !== "thread") pairs.push(["by", of.by]);
  if (of.from !== null) pairs.push(["from", of.from], ["to", of.to]);
  if (of.what) pairs.push(["what", of.what]);
  if (of.series !== null) pairs.push(["series", of.series]);
  const text = new URLSearchParams(pairs).toString();
  return "#" + text.replaceAll("%2F", "/").replaceAll("%3A", ":").replaceAll("%40", "@");
}

const same = (one, other) => JSON.stringify(one) === JSON.stringify(other);

function take(patch) {
  const changed = new Set();
  for (const [name, value] of Object.entries(patch)) {
    if (same(state[name], value)) continue;
    state[name] = value;
    changed.add(name);
  }
  return changed;
}

/** Changes the state. With `push`, the way back in the browser leads to what was before. */
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

/** Takes the state from the address. */
export function load() {
  clearTimeout(timer);
  timer = 0;
  const changed = take(parse(location.hash));
  for (const listener of listeners) listener(changed, true);
}

/** Calls `listener` with the names of what has changed, and whether the address says so. */
export function onState(listener) {
  listeners.add(listener);
}

/** Filters of which there is one at most. */
const ONCE = ["since", "until", "priority"];

/** Adds a filter, unless it is there. `since`, `until` and `priority` replace the former one. */
export function addFilter(name, value) {
  const one = ONCE.includes(name);
  const rest = state.filters.filter(([n, v]) => (one ? n !== name : n !== name || v !== value));
  set({ filters: [...rest, [name, value]] }, true);
}

/** Removes a filter. */
export function removeFilter(name, value) {
  set({ filters: state.filters.filter(([n, v]) => n !== name || v !== value) }, true);
}

addEventListener("popstate", load);
addEventListener("hashchange", load);
