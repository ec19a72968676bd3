// What is known, and what is not known yet.

/**
 * Whether a value is known: the server says null of what it does not know.
 * @template T @param {T} value @returns {value is NonNullable<T>}
 */
export function isKnown(value) {
  return value !== null && value !== undefined;
}

/**
 * Null, in the place of any type: parts have it before anything of them that needs more is called.
 * @returns {any}
 */
export function notYet() {
  return null;
}
