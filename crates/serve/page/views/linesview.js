// The lines of a log, or those of them that are hits: draws what is seen of a list of any length.

import { debounced } from "../data/debounced.js";
import { notYet } from "../data/known.js";
import { onPrefs } from "../data/prefs.js";
import { AllLines, OnlyHits } from "../data/sources.js";
import { set, state } from "../data/state.js";
import { number } from "../data/text.js";
import { dateAndTime } from "../data/time.js";
import { byId, eachFrame, make, setBusy, setText } from "../draw/dom.js";
import { onColours } from "../draw/theme.js";
import { showPart } from "../shell/status.js";
import { chosen, startColumns, Widths } from "./columns.js";
import { HitMap } from "./hitmap.js";
import { Nodes } from "./nodes.js";
import { fillRow, patternOf } from "./row.js";
import { Scrollbar } from "./scrollbar.js";
import { Scroller } from "./scroller.js";
/** @import { Hits } from "../data/hits.js" */
/** @import { LineEvent, Log } from "../data/log.js" */
/** @import { AddFilter } from "../draw/fields.js" */
/** @import { Column } from "./columns.js" */
/** @import { Context, Node } from "./row.js" */

/**
 * What all lines that are drawn depend on.
 * @typedef {Omit<Context, "selected" | "hit" | "important" | "before">} Common
 */

/** For so many ms after a jump, the rows before it stay: drawing empty ones takes as long. */
const HELD = 50;

export class LinesView {
  /** @type {number | null} */
  #aim = null;
  /** How often somebody has gone elsewhere. */
  #moves = 0;
  /** Since when rows are held, as they are of before a jump. @type {number | null} */
  #held = null;
  #advancing = false;
  /** Those of the columns that are shown. */
  #columnIds = "";
  /** What is marked in messages, and the query that it is of. @type {RegExp | null} */
  #pattern = null;
  #patternFor = "";
  /** The line that the map shows as seen. */
  #mapLine = -1;

  /**
   * `filter(name, value)` is called for a click on a value, `left()` when the end is left.
   * @param {{ hits: Hits, filter: AddFilter, left: () => void, opened: () => void }} parts
   */
  constructor({ hits, filter, left, opened }) {
    this.hits = hits;
    this.filter = filter;
    this.left = left;
    this.opened = opened;
    this.section = byId("lines");
    this.grid = byId("grid");
    this.head = byId("head");
    this.rows = byId("rows");
    this.nodes = new Nodes(this.rows);
    /** @type {Log} */
    this.log = notYet();
    /** @type {AllLines} */
    this.all = notYet();
    /** @type {OnlyHits} */
    this.only = notYet();
    /** @type {Column[]} */
    this.columns = [];
    this.filtered = false;
    this.hitsOnly = state.only;
    /** @type {LineEvent | null | undefined} */
    this.selected = null;
    this.widths = new Widths(this.grid);
    this.draw = eachFrame(() => this.#draw());
    this.ahead = debounced(80, () => this.#ahead());
    this.scroller = new Scroller(this.grid, {
      rowHeight: 18, heightOf: (row) => this.#heightOf(row), moved: (own) => this.#moved(own) });
    this.scrollbar = new Scrollbar({ bar: byId("bar"), label: byId("bar-label"),
      jump: (row) => this.scroller.toRow(row) });
    this.map = new HitMap({ map: byId("map"), hits, pick: (line) => set({ line }) });
    new ResizeObserver(() => this.#resize()).observe(this.grid);
    this.rows.addEventListener("click", (event) => this.#click(event));
    this.rows.addEventListener("dblclick", () => this.opened());
    hits.addEventListener("start", () => this.#restart());
    hits.addEventListener("more", () => this.#more());
    hits.addEventListener("end", () => this.#reach(true));
    onColours(() => this.#afresh());
    onPrefs((name) => { if (name !== "details") this.#columns(); });
    startColumns();
  }

  /**
   * Shows the lines of a log from its beginning, or around the line of the state.
   * @param {Log} log
   */
  open(log) {
    this.log = log;
    this.all = new AllLines(log, () => this.#arrived());
    this.only = new OnlyHits(log, this.hits, () => this.#arrived());
    this.filtered = false;
    this.selected = null;
    this.#afresh();
    Object.assign(this.scroller, { row: 0, px: 0, stick: false });
    this.#columns();
    // The first lines are asked for before it is known how many there are.
    this.all.chunks.want(state.line ?? 0, state.line ?? 0, Infinity);
  }

  /** The number of lines has become known, or has changed. */
  resized() {
    if (this.all.count === 0) {
      this.all.count = this.log.lines;
      this.widths.clear(this.log.lines);
      if (state.line !== null) this.show(state.line);
    }
    this.all.count = this.log.lines;
    this.draw();
  }

  /** Waits for the last lines before they are said to be there, so that none is shown empty. */
  async advance() {
    if (this.#advancing) return;
    this.#advancing = true;
    const { log, all } = this;
    while (log === this.log && all.count < log.lines) {
      const goal = log.lines;
      await all.chunks.wait(goal - this.scroller.page - 1, goal - 1, goal);
      all.count = Math.max(all.count, goal);
      this.draw();
    }
    this.#advancing = false;
  }

  /**
   * The numbers of lines have started anew: finds what was seen by its time.
   * @param {boolean} following
   */
  async anew(following) {
    const top = this.source.get(this.scroller.row);
    const [selected, line, moves] = [this.selected, state.line, this.#moves];
    this.all.chunks.clear();
    this.all.count = this.log.lines;
    this.draw();
    const keeps = !following && this.source === this.all;
    /** @param {LineEvent | null | undefined} event */
    const lineOf = (event) => (event?.unix_ns ? this.log.lineOf(event) : null);
    const [ofSelected, ofTop] = await Promise.all([lineOf(selected), lineOf(keeps ? top : null)]);
    // If somebody has moved on before the answers came, that counts.
    const stays = this.#moves === moves;
    if (ofSelected !== null && state.line === line) set({ line: ofSelected });
    if (ofTop !== null && stays) this.scroller.toRow(ofTop);
  }

  get source() {
    return this.filtered && this.hitsOnly ? this.only : this.all;
  }

  /**
   * The event of a line, if it is here.
   * @param {number} line @returns {LineEvent | null}
   */
  eventOf(line) {
    const event = this.source.get(this.source.rowOf(line));
    return event && event.line <= line && line < event.line + event.lines ? event : null;
  }

  /** The line that is at the top. */
  get topLine() {
    return this.source.lineOf(this.scroller.row) ?? 0;
  }

  /** @param {number} row @returns {number} */
  #heightOf(row) {
    const event = this.source.get(row);
    const gap = event?.missed && event.line === this.source.lineOf(row);
    return this.scroller.rowHeight * (gap ? 2 : 1);
  }

  /** @param {boolean} own */
  #moved(own) {
    if (own) {
      this.#aim = null;
      this.#moves += 1;
    }
    if (own && !this.scroller.stick) this.left();
    // What is missing is asked for at once, not only when the next frame is drawn.
    const { row, page } = this.scroller;
    if (this.source.count) this.source.chunks.want(row, row + page, this.source.count);
    this.draw();
  }

  #resize() {
    const style = getComputedStyle(this.grid);
    this.scroller.rowHeight = parseFloat(style.getPropertyValue("--row")) || 18;
    this.scroller.height = Math.max(0, this.grid.clientHeight - this.head.offsetHeight);
    const columns = chosen().map((column) => column.id).join();
    if (columns !== this.#columnIds) this.#columns();
    this.draw();
  }

  #columns() {
    this.columns = chosen();
    this.#columnIds = this.columns.map((column) => column.id).join();
    this.head.replaceChildren(...this.columns.map((column) => make("span", {
      class: `cell c-${column.id}`, role: "columnheader", title: column.title,
      text: column.label })));
    this.nodes.clear();
    if (this.log) this.widths.clear(this.log.lines);
    this.draw();
  }

  #afresh() {
    this.nodes.afresh();
    this.draw();
  }

  // A search has its first answer, or was given up: the list is another one now.
  #restart() {
    if (!this.log) return;
    const line = this.#kept();
    this.filtered = this.hits.active;
    this.only.chunks.clear();
    this.only.count = 0;
    this.#afresh();
    if (this.source === this.only) {
      Object.assign(this.scroller, { row: 0, px: 0 });
      this.#aim = line;
    } else {
      this.#place(line);
    }
    this.#map();
  }

  #more() {
    if (!this.log) return;
    this.#grow();
    this.#reach(false);
    this.#map();
    this.draw();
  }

  // New hits at the end are shown when their lines are here; while one searches, at once.
  async #grow() {
    const count = this.hits.lines.length;
    const { only, scroller } = this;
    if (scroller.stick && !this.hits.running && this.source === only) {
      await only.chunks.wait(count - scroller.page, count - 1, count);
    }
    only.count = Math.min(count, this.hits.lines.length);
    this.draw();
  }

  /**
   * Goes to where one was before a search, as soon as its hits have come so far.
   * @param {boolean} ended
   */
  #reach(ended) {
    if (this.#aim === null || this.source !== this.only) return;
    if (!ended && (this.hits.lines.at(-1) ?? -1) < this.#aim) return;
    const line = this.#aim;
    this.#aim = null;
    if (line !== 0 && this.only.count) this.#place(line);
  }

  /** The line that stays in its place when the list changes: the selected one if it is seen. */
  #kept() {
    if (state.line === null) return this.topLine;
    const row = this.source.rowOf(state.line);
    const seen = row >= this.scroller.row && row <= this.scroller.row + this.scroller.page;
    return seen || this.#aim !== null ? state.line : this.topLine;
  }

  /** @param {number} line */
  #place(line) {
    const stick = this.scroller.stick;
    const where = line === state.line ? "middle" : "top";
    this.scroller.count = this.source.count;
    this.scroller.toRow(this.source.rowOf(line), where, false);
    this.scroller.stick = stick;
  }

  /** Shows all lines, or only the hits, and keeps the place. */
  switched() {
    const line = this.log ? this.#kept() : 0;
    this.hitsOnly = state.only;
    this.#afresh();
    if (this.filtered) this.#place(line);
  }

  /**
   * Brings a line into sight.
   * @param {number} line
   */
  show(line) {
    this.#moves += 1;
    const row = this.source.rowOf(line);
    this.scroller.count = this.source.count;
    const seen = row > this.scroller.row && row < this.scroller.row + this.scroller.page - 1;
    if (!seen) this.scroller.toRow(row, "middle");
    this.draw();
  }

  // What is held was waited for: it is drawn at once, not only in the next frame.
  #arrived() {
    if (this.#held !== null) this.#draw();
    else this.draw();
  }

  /** Whether the view has jumped, and the rows there are still on their way. */
  #holds() {
    const { source, scroller } = this;
    const rows = Array.from({ length: scroller.page }, (_, n) => scroller.row + n)
      .filter((row) => row < source.count);
    const jumped = this.#held !== null || !rows.some((row) => this.nodes.has(row));
    if (!jumped || rows.every((row) => source.get(row))) {
      this.#held = null;
      return false;
    }
    const now = performance.now();
    if (this.#held === null) setTimeout(this.draw, HELD);
    this.#held ??= now;
    return now - this.#held < HELD;
  }

  #draw() {
    if (!this.log || this.section.hidden) return;
    const { source, scroller } = this;
    scroller.count = source.count;
    scroller.settle();
    if (this.#holds()) {
      source.chunks.want(scroller.row, scroller.row + scroller.page, source.count);
      setBusy(this.grid, true);
      return;
    }
    const context = this.#context();
    /** @type {Map<number, Node>} */
    const nodes = new Map();
    let waiting = false;
    let end = scroller.row;
    for (let y = -scroller.px; y < scroller.height && end < source.count; end += 1) {
      y += this.#heightOf(end);
    }
    this.nodes.recycle(scroller.row, end);
    for (let row = scroller.row; row < end; row += 1) {
      const event = source.get(row);
      waiting ||= !event;
      nodes.set(row, this.#node(row, event, context));
    }
    this.nodes.arrange(nodes);
    this.rows.style.transform = `translateY(${-scroller.px}px)`;
    source.chunks.want(scroller.row, end - 1, source.count);
    if (!waiting) this.ahead();
    this.#around(waiting);
  }

  /** @returns {Common} */
  #context() {
    const { source } = this;
    if (this.#patternFor !== state.q + state.regex + state.case) {
      this.#patternFor = state.q + state.regex + state.case;
      this.#pattern = patternOf(state);
      this.#afresh();
    }
    return {
      pattern: this.#pattern, widths: this.widths, whole: source === this.only,
      first: this.log.range?.from,
    };
  }

  /** @param {number} row @param {LineEvent | undefined} event @param {Common} context */
  #node(row, event, context) {
    const node = this.nodes.of(row, this.columns);
    const line = this.source.lineOf(row);
    const first = event?.line ?? line;
    const selected = state.line !== null && event !== undefined
      && state.line >= first && state.line < first + event.lines;
    if (selected) this.selected = event;
    const hit = this.filtered && this.source === this.all && this.hits.has(first);
    const important = line < this.log.important;
    const key = `${row} ${line} ${selected} ${hit} ${important}`;
    if (node.key === key && node.event === (event ?? null)) return node;
    node.key = key;
    node.row = row;
    node.line.id = `row-${row}`;
    node.line.setAttribute("aria-rowindex", String(row + 2));
    const before = this.source.get(row - 1);
    fillRow(node, event, line, { ...context, selected, hit, important, before });
    return node;
  }

  /** @param {boolean} waiting */
  #around(waiting) {
    const { source, scroller } = this;
    setBusy(this.grid, waiting);
    this.grid.setAttribute("aria-rowcount", String(source.count + 1));
    const selected = this.nodes.find((node) => node.line.ariaSelected === "true");
    if (selected) this.grid.setAttribute("aria-activedescendant", selected.line.id);
    else this.grid.removeAttribute("aria-activedescendant");
    const top = source.get(scroller.row);
    const at = top?.unix_ns ? dateAndTime(BigInt(top.unix_ns)) : "";
    const line = source.lineOf(scroller.row) ?? 0;
    this.scrollbar.draw({ count: source.count, row: scroller.row, page: scroller.page,
      text: `${number(line)}  ${at}` });
    const seen = `line ${number(line)} of ${number(this.log.lines)}`;
    showPart("place", this.log.lines ? seen : "");
    const empty = byId("empty");
    empty.hidden = source.count > 0;
    setText(empty, this.#emptyText());
    if (this.#mapLine !== line) this.#map();
  }

  #emptyText() {
    const only = this.source === this.only;
    if (only && this.hits.running) return "Searching…";
    if (only) return ["No line meets this", ...this.hits.unmatched].join("; ") + ".";
    if (this.log.info?.index?.state === "building") return "The log is being indexed…";
    return this.log.info ? "There are no events yet." : "Opening…";
  }

  #map() {
    this.#mapLine = this.topLine;
    this.map.show(this.filtered ? this.log.lines : 0, this.#mapLine);
  }

  #ahead() {
    const { source, scroller } = this;
    if (this.section.hidden || !source.count) return;
    source.chunks.want(scroller.row, scroller.row + scroller.page, source.count, 1);
  }

  /** @param {MouseEvent} event */
  #click(event) {
    const target = /** @type {Element} */ (event.target);
    const row = target.closest(".row");
    const node = this.nodes.find((other) => other.line === row);
    if (!node?.event || String(getSelection())) return;
    const cell = /** @type {HTMLElement | null} */ (target.closest(".clickable"));
    const column = this.columns.find((other) => other.id === cell?.dataset.column);
    const field = column?.id === "level" ? "priority" : column?.id;
    const value = node.event[/** @type {keyof LineEvent} */ (field)] ?? node.event.tid;
    if (column?.filter) this.filter(column.filter, String(value));
    else set({ line: node.event.line });
  }

  /**
   * Selects the event after (1) or before (-1) the selected one.
   * @param {number} direction
   */
  step(direction) {
    const { source } = this;
    if (!source.count) return;
    let row = state.line === null ? this.scroller.row : source.rowOf(state.line);
    if (state.line !== null) {
      const event = source.get(row);
      if (source === this.all && event) {
        row = direction > 0 ? event.line + event.lines : event.line - 1;
      } else {
        row += direction;
      }
    }
    row = Math.max(0, Math.min(source.count - 1, row));
    const line = source.get(row)?.line ?? source.lineOf(row);
    this.scroller.count = source.count;
    this.scroller.toRow(source.rowOf(line), "near");
    set({ line });
  }

  /**
   * Handles a key; says whether it was one of this view.
   * @param {{ key: string }} event
   */
  key({ key }) {
    const { scroller } = this;
    const line = scroller.rowHeight;
    /** @type {Record<string, () => void>} */
    const actions = {
      j: () => this.step(1), k: () => this.step(-1),
      ArrowDown: () => this.step(1), ArrowUp: () => this.step(-1),
      PageDown: () => scroller.moveBy(scroller.height - line),
      PageUp: () => scroller.moveBy(line - scroller.height),
      " ": () => scroller.moveBy(scroller.height - line),
      Home: () => scroller.toRow(0), End: () => scroller.toEnd(),
      ArrowLeft: () => { this.grid.scrollLeft -= 80; },
      ArrowRight: () => { this.grid.scrollLeft += 80; },
      Enter: () => this.opened(),
    };
    const action = actions[key];
    action?.();
    return action !== undefined;
  }
}
