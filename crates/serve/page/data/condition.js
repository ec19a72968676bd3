// Makes the condition of the server that a field has a value.

import { asFilter } from "./time.js";

// Types whose values are whole numbers, which come as texts of digits if they are large.
const WHOLE = /^([iu](8|16|32|64)|hex|ptr|ns|bytes)$/;

/**
 * The condition that the field of this name, or at this place if it has none, has this value;
 * null if there is none, such as for arrays.
 * @param {string | null} name @param {unknown} value @param {number} place
 * @param {string | null} [type]
 */
export function condition(name, value, place, type = null) {
  const field = fieldName(name, place);
  if (typeof value === "boolean") return `${field} == ${value}`;
  if (typeof value === "number") return Number.isFinite(value) ? `${field} == ${value}` : null;
  if (typeof value !== "string") return null;
  const digits = /^-?\d+$/.test(value);
  if (digits && type === "time") return `${field} == "${asFilter(BigInt(value))}"`;
  return `${field} == ${digits && WHOLE.test(type ?? "") ? value : quoted(value)}`;
}

/** @param {string | null} name @param {number} place */
function fieldName(name, place) {
  if (!name || /^\d+$/.test(name)) return `$${name || place}`;
  if (/^(and|or|not|true|false)$/.test(name)) return `$${name}`;
  return /^[A-Za-z_]\w*(\.\w+)*$/.test(name) ? name : `$${quoted(name)}`;
}

/** @param {string} text */
function quoted(text) {
  return `"${text.replace(/["\\]/g, "\\$&")}"`;
}
