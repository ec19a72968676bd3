// The columns of the lines: what each shows, how wide it is, and the choice of them.

import { isKnown } from "../data/known.js";
import { onPrefs, prefs } from "../data/prefs.js";
import { number, visible } from "../data/text.js";
import { dateAndTime, duration, seconds, timeOfDay } from "../data/time.js";
import { byId, make } from "../draw/dom.js";
/** @import { Prefs } from "../data/prefs.js" */
/** @import { LineEvent } from "../data/log.js" */

/** The widest that a column with names becomes, in characters. */
const WIDEST = 24;

/**
 * What a text of a line depends on besides its event: the first time of the log, and the event
 * before.
 * @typedef {{ first: bigint | undefined, before: LineEvent | null | undefined }} Context
 * @typedef {{ id: string, label: string, title: string, once?: boolean, width?: number,
 *   filter?: string, text: (event: LineEvent, line: number, context: Context) => string }} Column
 */

/** @param {keyof LineEvent} field @returns {(event: LineEvent) => string} */
const name = (field) => (event) => (isKnown(event[field]) ? visible(String(event[field])) : "");

/**
 * `text(event, line, context)` is what a column shows. A click on it filters by `filter`, if the
 * event has that. `once` columns show nothing on the further lines of a message. That of messages
 * shows its text by itself.
 * @type {Column[]}
 */
const COLUMNS = [
  { id: "line", label: "line", title: "Number of the line", text: (_, line) => number(line) },
  { id: "time", label: "time", title: "Time", once: true, text: timeText },
  { id: "level", label: "level", title: "Priority", once: true, width: 7, filter: "priority",
    text: name("priority") },
  { id: "category", label: "category", title: "Category", once: true, filter: "category",
    text: name("category") },
  { id: "event", label: "event", title: "Name of the event", once: true, filter: "event",
    text: name("event") },
  { id: "thread", label: "thread", title: "Thread", once: true, filter: "thread",
    text: (event) => visible(event.thread ?? String(event.tid ?? "")) },
  { id: "tid", label: "tid", title: "Number of the thread", once: true, filter: "thread",
    text: name("tid") },
  { id: "process", label: "process", title: "Process", once: true, text: name("process") },
  { id: "pid", label: "pid", title: "Number of the process", once: true, filter: "pid",
    text: name("pid") },
  { id: "core", label: "core", title: "Core", once: true, filter: "core", width: 4,
    text: name("core") },
  { id: "message", label: "message", title: "Message", text: name("message") },
];

/** @type {Record<Prefs["times"], string>} */
const TIMES = { time: "time of day", date: "date and time", relative: "seconds since the first",
  delta: "time since the line before" };

/** @param {LineEvent} event @param {number} _ @param {Context} context */
function timeText(event, _, { first, before }) {
  if (!event.unix_ns) return "";
  const at = BigInt(event.unix_ns);
  if (prefs.times === "date") return dateAndTime(at);
  if (prefs.times === "relative") return first ? seconds(at - first) : "";
  if (prefs.times === "delta") return before?.unix_ns ? duration(at - BigInt(before.unix_ns)) : "";
  return timeOfDay(at);
}

/** Whether the window is so narrow that it has columns of its own. */
function isNarrow() {
  return innerWidth < 640;
}

/** The columns that are chosen, in the order of `COLUMNS`. */
export function chosen() {
  const ids = isNarrow() ? prefs.narrowColumns : prefs.columns;
  return COLUMNS.filter((column) => ids.includes(column.id) || column.id === "message");
}

/** Keeps the widths of columns, which only grow, so that lines do not jump while one scrolls. */
export class Widths {
  /** @type {Map<string, number>} */
  #widths = new Map();

  /** @param {HTMLElement} element */
  constructor(element) {
    this.element = element;
  }

  /**
   * Forgets the widths.
   * @param {number} lines
   */
  clear(lines) {
    this.#widths.clear();
    const times = { time: 18, date: 29, relative: 18, delta: 10 };
    this.#set("line", number(Math.max(1, lines - 1)).length);
    this.#set("time", times[prefs.times]);
    for (const column of COLUMNS) if (column.width) this.#set(column.id, column.width);
  }

  /**
   * Makes room for a text.
   * @param {string} id @param {string} text
   */
  hold(id, text) {
    if (text.length > (this.#widths.get(id) ?? 0)) this.#set(id, Math.min(WIDEST, text.length));
  }

  /**
   * Whether a text may be wider than the room that is made for it.
   * @param {string} text
   */
  cuts(text) {
    return text.length > WIDEST || !/^[ -~]*$/.test(text);
  }

  /** @param {string} id @param {number} width */
  #set(id, width) {
    const label = COLUMNS.find((column) => column.id === id)?.label ?? "";
    const wide = Math.max(width, label.length);
    if ((this.#widths.get(id) ?? 0) >= wide) return;
    this.#widths.set(id, wide);
    this.element.style.setProperty(`--w-${id}`, `${wide}ch`);
  }
}

/** Fills the menu in which columns, the form of times and their zone are chosen. */
export function startColumns() {
  const menu = byId("columns");
  menu.addEventListener("toggle", (event) => {
    if (/** @type {ToggleEvent} */ (event).newState === "open") fill(menu);
  });
  onPrefs((changed) => { if (menu.matches(":popover-open") && changed !== "theme") fill(menu); });
}

/** @param {HTMLElement} menu */
function fill(menu) {
  const active = document.activeElement;
  const focused = active instanceof HTMLInputElement ? active.value : undefined;
  const key = isNarrow() ? "narrowColumns" : "columns";
  const boxes = COLUMNS.filter((column) => column.id !== "message").map((column) => choice(
    "checkbox", "column", column.id, column.title, prefs[key].includes(column.id), (on) => {
      const others = prefs[key].filter((id) => id !== column.id);
      prefs[key] = on ? [...others, column.id] : others;
    }));
  const forms = /** @type {[Prefs["times"], string][]} */ (Object.entries(TIMES));
  const times = forms.map(([id, text]) => choice(
    "radio", "times", id, text, prefs.times === id, () => { prefs.times = id; }));
  /** @type {[Prefs["zone"], string][]} */
  const known = [["local", "local time"], ["utc", "UTC"]];
  const zones = known.map(([id, text]) => choice(
    "radio", "zone", id, text, prefs.zone === id, () => { prefs.zone = id; }));
  menu.replaceChildren(
    make("fieldset", {}, make("legend", { text: "Columns" }), boxes),
    make("div", {},
      make("fieldset", {}, make("legend", { text: "Times" }), times),
      make("fieldset", {}, make("legend", { text: "Zone" }), zones)));
  [...menu.querySelectorAll("input")].find((input) => input.value === focused)?.focus();
}

/**
 * @param {string} type @param {string} group @param {string} value @param {string} text
 * @param {boolean} checked @param {(on: boolean) => void} changed
 */
function choice(type, group, value, text, checked, changed) {
  return make("label", {}, make("input", { type, name: group, value, checked,
    onchange: ({ target }) => changed(/** @type {HTMLInputElement} */ (target).checked) }), text);
}
