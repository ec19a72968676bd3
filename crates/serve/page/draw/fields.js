// The values of an event: its typed fields, objects with a $type, and what a click filters.

import { condition } from "../data/condition.js";
import { visible } from "../data/text.js";
import { make } from "./dom.js";
import { sourceLink } from "./editor.js";
/** @import { Child } from "./dom.js" */
/** @import { Details, FieldValue } from "../../types/api.js" */

/**
 * Adds a filter; an object of JSON; what is needed of an event.
 * @typedef {(name: string, value: string) => void} AddFilter
 * @typedef {Record<string, unknown>} JsonObject
 * @typedef {Partial<Pick<Details, "fields" | "category">>} Event
 */

/** Objects deeper than this are shown as JSON. */
const DEEPEST = 6;

/**
 * The fields of an event as rows of a table. `filter(name, value)` adds a filter.
 * @param {FieldValue[]} fields @param {AddFilter} filter
 */
export function fieldRows(fields, filter) {
  return fields.map((field, place) => {
    const { name, type, unit, value, shown } = field;
    const where = whereField(fields, place);
    const text = visible(shown);
    const size = exactly(value, text, type);
    const title = /^\d*$/.test(name) ? `$${name || place}` : visible(name);
    return make("tr", {},
      make("th", { scope: "row", text: title }),
      make("td", {},
        filterButton(text, where === null ? null : () => filter("where", where),
          `where ${where}`),
        size && make("span", { class: "words", text: ` ${size}` })),
      make("td", { class: "type", text: unit && unit !== type ? `${type}, ${unit}` : type }));
  });
}

/**
 * The condition that a value is as it is. Of several with one name, a condition names the first.
 * @param {FieldValue[]} fields @param {number} place
 */
function whereField(fields, place) {
  const { name, type, value } = fields[place];
  /** @param {string} wanted */
  const first = (wanted) => fields.findIndex((field) => field.name === wanted);
  if (!name || first(name) === place) return condition(name, value, place, type);
  return first(String(place)) < 0 ? condition(null, value, place, type) : null;
}

const UNITS = new Map([["ns", " ns"], ["bytes", " B"]]);

/**
 * What is shown may be rounded and in another unit, so the number is told as well.
 * @param {unknown} value @param {string} shown @param {string | null | undefined} type
 */
function exactly(value, shown, type) {
  const number = typeof value === "number" || (typeof value === "string" && /^-?\d+$/.test(value));
  if (!number || shown === String(value) || /^(enum|char)/.test(type ?? "")) return "";
  return `= ${value}${UNITS.get(type ?? "") ?? ""}`;
}

/**
 * A value that filters when it is clicked, or just its text.
 * @param {string} text @param {(() => void) | null} action @param {string} title
 */
export function filterButton(text, action, title) {
  if (!action) return make("span", { text });
  return make("button", { type: "button", class: "value", text, title: `Show only ${title}`,
    onclick: action });
}

/**
 * The properties of an event of an imported line, as they stood there. A filter is by its values:
 * they know how a condition names a property, and what it is exactly.
 * @param {Event} event @param {AddFilter} filter @param {JsonObject} properties
 * @param {string[]} [path] @returns {Element[]}
 */
export function propertyRows(event, filter, properties, path = []) {
  return Object.entries(properties).flatMap(([key, value]) => {
    const names = [...path, key];
    const object = asObject(value);
    const type = typeof object?.$type === "string" ? object.$type : null;
    if (object && type === null && path.length < DEEPEST) {
      return propertyRows(event, filter, object, names);
    }
    /** @param {string[]} member @param {unknown} one */
    const button = (member, one) => valueButton(event, filter, [...names, ...member], one);
    return [make("tr", {},
      make("th", { scope: "row", text: visible(names.join(".")) }),
      make("td", {}, object === null || type === null ? button([], value)
        : typedProperty(event, filter, object, properties, button)),
      make("td", { class: "type", text: visible(type ?? "") }))];
  });
}

/** What is an object of JSON, else null. @param {unknown} value @returns {JsonObject | null} */
function asObject(value) {
  const isObject = value !== null && typeof value === "object" && !Array.isArray(value);
  return isObject ? /** @type {JsonObject} */ (value) : null;
}

/**
 * A value that filters, if the event has one of this name.
 * @param {Event} event @param {AddFilter} filter @param {string[]} names @param {unknown} value
 */
function valueButton({ fields = [] }, filter, names, value) {
  // A `$text` has the name of the object around it.
  const isText = names.length > 1 && names.at(-1) === "$text";
  const name = (isText ? names.slice(0, -1) : names).join(".");
  const place = fields.findIndex((field) => field.name === name);
  const where = place < 0 ? null : whereField(fields, place);
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return filterButton(visible(text), where === null ? null : () => filter("where", where),
    `where ${where}`);
}

/**
 * An object with a `$type`, which says what it is, whatever its name is.
 * @param {Event} event @param {AddFilter} filter @param {JsonObject} value
 * @param {JsonObject} others @param {(member: string[], one: unknown) => Element} button
 */
function typedProperty(event, filter, value, others, button) {
  /** @type {Child[]} */
  const parts = Object.entries(value).filter(([key]) => key !== "$type").map(([key, one]) => {
    if (key !== "$text") {
      return make("span", { class: "words" }, ` ${visible(key)} `, button([key], one));
    }
    const text = String(one);
    if (value.$type !== "Channel" || one !== event.category || !isPlain(text)) {
      return button([key], one);
    }
    return filterButton(visible(text), () => filter("category", text), `category ${text}`);
  });
  const file = [value.file, value.$text].find((one) => typeof one === "string");
  if (value.$type === "SourceFile" && file !== undefined) {
    parts.push(" ", sourceLink(file, Number(value.line) || lineBeside(others)));
  }
  return make("span", {}, parts);
}

/**
 * Whether a name is a pattern of itself only.
 * @param {string} text
 */
function isPlain(text) {
  return /^\w[\w. -]*$/.test(text);
}

/** @param {JsonObject} others */
function lineBeside(others) {
  const line = Object.values(others).map(asObject).find((one) => one?.$type === "LineNumber");
  return line ? Number(line.$text) || null : null;
}
