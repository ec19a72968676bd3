// Tells of errors and of what is being done, to whatever shows it: the line at the bottom.

/**
 * Whatever shows notices.
 * @typedef {{ error: (error: unknown, what: string) => void,
 *   part: (name: string, text: string) => void }} Listener
 */

/** @type {Set<Listener>} */
const listeners = new Set();

/**
 * Calls `error(error, what)` for each error, and `part(name, text)` for what is being done.
 * @param {Listener} listener
 */
export function onNotices(listener) {
  listeners.add(listener);
}

/**
 * Tells of an error; `what` is what failed.
 * @param {unknown} error @param {string} [what]
 */
export function noteError(error, what = "") {
  for (const listener of listeners) listener.error(error, what);
}

/**
 * Tells of what is being done, by the name of a part of the line; no text ends it.
 * @param {string} name @param {string} text
 */
export function notePart(name, text) {
  for (const listener of listeners) listener.part(name, text);
}
