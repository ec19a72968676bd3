// What a reader has chosen for all logs: kept in the browser, with a value for each if it is not.

/**
 * What can be chosen.
 * @typedef {{ theme: "system" | "light" | "dark", zone: "local" | "utc",
 *   times: "time" | "date" | "relative" | "delta", columns: string[], narrowColumns: string[],
 *   details: boolean, detailsWidth: number, editor: string }} Prefs
 */

/** @type {Prefs} */
const DEFAULTS = {
  theme: "system",
  zone: "local",
  times: "time",
  columns: ["line", "time", "level", "category", "thread", "message"],
  narrowColumns: ["time", "message"],
  details: true,
  detailsWidth: 400,
  editor: "vscode://file/{path}:{line}",
};

/** @type {Set<(name: keyof Prefs) => void>} */
const listeners = new Set();
const values = { ...DEFAULTS };

try {
  const kept = JSON.parse(localStorage.getItem("timeline") ?? "{}");
  for (const [name, value] of Object.entries(DEFAULTS)) {
    /** @param {unknown} of */
    const kind = (of) => (Array.isArray(of) ? "array" : typeof of);
    if (kind(kept[name]) === kind(value)) Object.assign(values, { [name]: kept[name] });
  }
} catch {
  // A browser that keeps nothing has the defaults.
}

/** What is chosen now. Setting one keeps it and tells those that `onPrefs` has. */
export const prefs = new Proxy(values, {
  set(target, name, value) {
    Object.assign(target, { [name]: value });
    try {
      localStorage.setItem("timeline", JSON.stringify(target));
    } catch {
      // It holds until the page is closed.
    }
    for (const listener of listeners) listener(/** @type {keyof Prefs} */ (name));
    return true;
  },
});

/**
 * Calls `listener` with the name of each choice that changes.
 * @param {(name: keyof Prefs) => void} listener
 */
export function onPrefs(listener) {
  listeners.add(listener);
}
