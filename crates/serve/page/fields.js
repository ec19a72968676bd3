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
    const where = condition(name, value, place, type);
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

/** The properties of an imported line. */
export function propertyRows(properties, filter, path = [], depth = 0) {
  return Object.entries(properties).flatMap(([key, value]) => {
    const names = [...path, key];
    const nested = value !== null && typeof value === "object" && !Array.isArray(value)
      && value.$type === undefined && depth < DEEPEST;
    if (nested) return propertyRows(value, filter, names, depth + 1);
    return [make("tr", {},
      make("th", { scope: "row", text: visible(names.join(".")) }),
      make("td", {}, property(names.join("."), value, properties, filter)),
      make("td", { class: "type", text: value?.$type ?? "" }))];
  });
}

function property(name, value, others, filter) {
  const object = value !== null && typeof value === "object" && value.$type !== undefined;
  if (!object) {
    const where = condition(name, value, 0);
    const text = typeof value === "string" ? value : JSON.stringify(value);
    return filterButton(visible(text), where && (() => filter("where", where)), `where ${where}`);
  }
  const text = String(value.$text ?? "");
  if (value.$type === "SourceFile") return sourceLink(text, lineBeside(others));
  if (value.$type === "Channel" || value.$type === "Category") {
    return filterButton(visible(text), () => filter("category", text), `category ${text}`);
  }
  const rest = Object.entries(value).filter(([key]) => key !== "$type" && key !== "$text");
  const where = condition(name, text, 0);
  return make("span", {},
    filterButton(visible(text), () => filter("where", where), `where ${where}`),
    rest.map(([key, one]) => make("span", { class: "words",
      text: ` ${key} ${visible(typeof one === "string" ? one : JSON.stringify(one))}` })));
}

function lineBeside(others) {
  const line = Object.values(others).find((one) => one?.$type === "LineNumber");
  return line ? Number(line.$text) || null : null;
}
