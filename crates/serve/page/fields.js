// The values of an event: its typed fields, objects with a $type, and what a click filters.

import { condition } from "./condition.js";
import { make } from "./dom.js";
import { sourceLink } from "./editor.js";
import { visible } from "./text.js";

/** Objects deeper than this are shown as JSON. */
const DEEPEST = 6;

/** The fields of an event as rows of a table. `filter(name, value)` adds a filter. */
export function fieldRows(fields, filter) {
  return fields.map((field, place) => {
    const { name, type, unit, doc, value, shown } = field;
    const where = whereField(fields, place);
    const text = visible(shown ?? String(value));
    const size = exactly(value, text, type);
    const title = /^\d*$/.test(name ?? "") ? `$${name || place}` : visible(name);
    return make("tr", {},
      make("th", { scope: "row", title: doc, text: title }),
      make("td", {},
        filterButton(text, where && (() => filter("where", where)), `where ${where}`),
        size && make("span", { class: "words", text: ` ${size}` }),
        doc && make("div", { class: "doc", text: doc })),
      make("td", { class: "type", text: unit && unit !== type ? `${type}, ${unit}` : type }));
  });
}

// The condition that a value is as it is. Of several with one name, a condition names the first.
function whereField(fields, place) {
  const { name, type, value } = fields[place];
  const first = (wanted) => fields.findIndex((field) => field.name === wanted);
  if (!name || first(name) === place) return condition(name, value, place, type);
  return first(String(place)) < 0 ? condition(null, value, place, type) : null;
}

// What is shown may be rounded and in another unit, so the number is told as well.
function exactly(value, shown, type) {
  const number = typeof value === "number" || (typeof value === "string" && /^-?\d+$/.test(value));
  if (!number || shown === String(value) || /^(enum|char)/.test(type ?? "")) return "";
  return `= ${value}${{ ns: " ns", bytes: " B" }[type] ?? ""}`;
}

/** A value that filters when it is clicked, or just its text. */
export function filterButton(text, action, title) {
  if (!action) return make("span", { text });
  return make("button", { type: "button", class: "value", text, title: `Show only ${title}`,
    onclick: action });
}

/**
 * The properties of an event of an imported line, as they stood there. A filter is by its values:
 * they know how a condition names a property, and what it is exactly.
 */
export function propertyRows(event, filter, properties = event.properties, path = []) {
  return Object.entries(properties).flatMap(([key, value]) => {
    const names = [...path, key];
    const isObject = value !== null && typeof value === "object" && !Array.isArray(value);
    const type = isObject && typeof value.$type === "string" ? value.$type : null;
    if (isObject && type === null && path.length < DEEPEST) {
      return propertyRows(event, filter, value, names);
    }
    const button = (member, one) => valueButton(event, filter, [...names, ...member], one);
    return [make("tr", {},
      make("th", { scope: "row", text: visible(names.join(".")) }),
      make("td", {}, type === null ? button([], value)
        : typedProperty(event, filter, value, properties, button)),
      make("td", { class: "type", text: visible(type ?? "") }))];
  });
}

// A value that filters, if the event has one of this name.
function valueButton({ fields }, filter, names, value) {
  // A `$text` has the name of the object around it.
  const isText = names.length > 1 && names.at(-1) === "$text";
  const name = (isText ? names.slice(0, -1) : names).join(".");
  const place = fields.findIndex((field) => field.name === name);
  const where = place < 0 ? null : whereField(fields, place);
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return filterButton(visible(text), where && (() => filter("where", where)), `where ${where}`);
}

// An object with a `$type`, which says what it is, whatever its name is.
function typedProperty(event, filter, value, others, button) {
  const parts = Object.entries(value).filter(([key]) => key !== "$type").map(([key, one]) => {
    if (key !== "$text") {
      return make("span", { class: "words" }, ` ${visible(key)} `, button([key], one));
    }
    if (value.$type !== "Channel" || one !== event.category || !isPlain(one)) {
      return button([key], one);
    }
    return filterButton(visible(one), () => filter("category", one), `category ${one}`);
  });
  const file = [value.file, value.$text].find((one) => typeof one === "string");
  if (value.$type === "SourceFile" && file !== undefined) {
    parts.push(" ", sourceLink(file, Number(value.line) || lineBeside(others)));
  }
  return make("span", {}, parts);
}

// Whether a name is a pattern of itself only.
function isPlain(text) {
  return /^\w[\w. -]*$/.test(text);
}

function lineBeside(others) {
  const line = Object.values(others).find((one) => one?.$type === "LineNumber");
  return line ? Number(line.$text) || null : null;
}
