// One line of the list: makes its elements, and shows an event in them.

import { number, visible } from "../data/text.js";
import { make, setText } from "../draw/dom.js";
import { categoryRank, levelClass } from "../draw/theme.js";
/** @import { LineEvent } from "../data/log.js" */
/** @import { State } from "../data/state.js" */
/** @import { Column, Context as Texts, Widths } from "./columns.js" */

/**
 * The elements of a line, and what they show.
 * @typedef {{ root: HTMLElement, gap: HTMLElement, line: HTMLElement, cells: HTMLElement[],
 *   columns: Column[], row: number, event: LineEvent | null, key: string }} Node
 */

/**
 * What a line depends on besides its event.
 * @typedef {Texts & { pattern: RegExp | null, selected: boolean, hit: boolean, important: boolean,
 *   widths: Widths, whole: boolean }} Context
 */

/** Characters of a line that the list shows; the details show all. */
const LONGEST = 2_000;

/** Characters of a line in which occurrences of the query are marked. */
const MARKED = 1_000;

/**
 * The elements of a line with these columns.
 * @param {Column[]} columns @returns {Node}
 */
export function makeRow(columns) {
  const cells = columns.map((column) => make("span", {
    class: `cell c-${column.id}`, role: "gridcell", "data-column": column.id }));
  const gap = make("div", { class: "gap", hidden: true });
  const line = make("div", { class: "row", role: "row" }, cells);
  const root = make("div", { role: "presentation" }, gap, line);
  return { root, gap, line, cells, columns, row: -1, event: null, key: "" };
}

/**
 * Shows an event, or a place for it while it is on its way. `context` has what else a line
 * depends on: `pattern`, `selected`, `hit`, `important`, `widths`, and what columns use.
 * @param {Node} node @param {LineEvent | undefined} event @param {number} line
 * @param {Context} context
 */
export function fillRow(node, event, line, context) {
  node.event = event ?? null;
  const { selected, hit, important } = context;
  node.line.className = `row ${event ? levelClass(event.priority) : "waiting"}`
    + (selected ? " selected" : "") + (hit ? " hit" : "") + (important ? " important" : "");
  node.line.setAttribute("aria-selected", String(selected));
  const missed = event?.missed && line === event.line ? event.missed : 0;
  node.gap.hidden = !missed;
  if (missed) {
    setText(node.gap, `${number(missed)} ${missed === 1 ? "entry is" : "entries are"} `
      + "missing here: overwritten before anyone read them, or gone from the archive");
  }
  if (!event) {
    node.cells.forEach((cell, place) => {
      setText(cell, node.columns[place].id === "line" ? number(line) : "");
    });
    return;
  }
  const further = line > event.line;
  node.cells.forEach((cell, place) => {
    const column = node.columns[place];
    if (column.id === "message") {
      fillMessage(cell, event, line, context);
      return;
    }
    const text = further && column.once ? "" : column.text(event, line, context);
    context.widths.hold(column.id, text);
    setText(cell, text);
    const filters = column.filter !== undefined && text !== "";
    const rank = column.id === "category" ? categoryRank(event.category) : -1;
    const names = ["cell", `c-${column.id}`, filters && "clickable", rank >= 0 && `k${rank}`,
      context.widths.cuts(text) && "cut"];
    cell.className = names.filter(Boolean).join(" ");
    if (filters) cell.title = `Show only ${column.title.toLowerCase()} ${text}`;
    else cell.removeAttribute("title");
  });
}

/** The lines of a message. @param {LineEvent} event */
function partsOf(event) {
  event.parts ??= event.message.split(/\r?\n/);
  return event.parts;
}

/**
 * The text of a line of the message of an event.
 * @param {LineEvent} event @param {number} line
 */
function lineOfMessage(event, line) {
  if (event.lines <= 1) return event.message;
  return partsOf(event)[line - event.line] ?? "";
}

/**
 * @param {HTMLElement} cell @param {LineEvent} event @param {number} line @param {Context} context
 */
function fillMessage(cell, event, line, { pattern, whole }) {
  let text = lineOfMessage(event, line);
  let more = "";
  if (whole && event.lines > 1) {
    // Of an event of several lines, a list of hits shows the line that has the query.
    const parts = partsOf(event);
    const place = pattern ? parts.findIndex((part) => pattern.test(reset(pattern, part))) : 0;
    text = parts[Math.max(0, place)];
    more = ` +${event.lines - 1} lines`;
  }
  if (text.length > LONGEST) {
    more += ` … ${number(text.length - LONGEST)} more characters`;
    text = text.slice(0, LONGEST);
  }
  text = visible(text);
  if (!pattern && !more) {
    setText(cell, text);
    return;
  }
  cell.replaceChildren(...marked(text, pattern));
  if (more) cell.append(make("span", { class: "more", text: more }));
}

/** @param {RegExp} pattern @param {string} text */
function reset(pattern, text) {
  pattern.lastIndex = 0;
  return text;
}

/**
 * The text as nodes, in which what the pattern matches is marked.
 * @param {string} text @param {RegExp | null} pattern
 */
export function marked(text, pattern) {
  if (!pattern) return [document.createTextNode(text)];
  /** @type {(Text | HTMLElement)[]} */
  const nodes = [];
  let from = 0;
  pattern.lastIndex = 0;
  const part = text.slice(0, MARKED);
  for (let match = pattern.exec(part); match; match = pattern.exec(part)) {
    if (match[0] === "") {
      pattern.lastIndex += 1;
      continue;
    }
    if (match.index > from) nodes.push(document.createTextNode(text.slice(from, match.index)));
    nodes.push(make("mark", { text: match[0] }));
    from = match.index + match[0].length;
  }
  if (from < text.length) nodes.push(document.createTextNode(text.slice(from)));
  return nodes;
}

/**
 * The pattern that marks what a query finds, or null.
 * @param {Pick<State, "q" | "regex" | "case">} of
 */
export function patternOf({ q, regex, case: how }) {
  if (!q) return null;
  const small = how === "smart" && q === q.toLowerCase();
  if (!regex) return new RegExp(q.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"), small ? "gi" : "g");
  // A repeated group that repeats can take the browser, unlike the server, for ever.
  if (/[+*}?][^(]*\)[+*{?]/.test(q)) return null;
  try {
    return new RegExp(q, small ? "giu" : "gu");
  } catch {
    return null;
  }
}
