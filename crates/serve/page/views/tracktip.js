// What is under the pointer on the tracks, and the tip that tells it.

import { isAbort } from "../data/api.js";
import { debounced } from "../data/debounced.js";
import { number, visible } from "../data/text.js";
import { dateAndTime, duration } from "../data/time.js";
import { firstBehind } from "../data/trackdata.js";
import { make, setText } from "../draw/dom.js";
import { spanAt } from "../draw/spandraw.js";
import { TOP } from "../draw/trackdraw.js";
import { showError } from "../shell/status.js";
/** @import { Bar, SpanData } from "../data/spandata.js" */
/** @import { Answer, Cells } from "../data/trackdata.js" */
/** @import { Window } from "../data/window.js" */
/** @import { Layout } from "../draw/trackdraw.js" */
/** @import { EventObject } from "../../types/api.js" */

/**
 * What is under the pointer: so many events, or the one that begins a span.
 * @typedef {{ row: number, cells: Cells, count: number, category: string | null, from: bigint,
 *   to: bigint, span?: Bar }} Cell
 * @typedef {{ place: Layout, view: Window, answer: Answer | null, spans: SpanData }} Seen
 */

/** An event is found from so many pixels away. */
const NEAR = 6;

/** Characters of a message that a tip shows. */
const LONGEST = 400;

/**
 * The row at a height of the canvas, or -1.
 * @param {Layout} place @param {number} y
 */
export function rowAt(place, y) {
  if (y < TOP) return -1;
  const row = Math.floor((y - TOP + place.top) / place.rowHeight);
  return row < place.rows.length ? row : -1;
}

/**
 * The span at a place of the canvas as a cell, which is that of the event that begins it.
 * @param {Seen} seen @param {number} x @param {number} y @returns {Cell | null}
 */
export function spanCellAt({ place, view, spans }, x, y) {
  const row = rowAt(place, y);
  const bars = row >= 0 ? spans.rows.get(place.rows[row].key) : undefined;
  if (!bars) return null;
  const { plot, tall, gutter, rowHeight, top } = place;
  const scale = { from: spans.from, view, plot, tall };
  const span = spanAt(bars, scale, x - gutter, y - TOP + top - row * rowHeight);
  return span && { row, cells: place.rows[row].row, count: 1, category: span.name,
    from: span.begin, to: span.end, span };
}

/**
 * Whether a place is among the bars of a row.
 * @param {Layout} place @param {number} y
 */
export function isAmongBars({ rowHeight, tall, top }, y) {
  return (y - TOP + top) % rowHeight >= tall;
}

/**
 * The cell at a place of the canvas: its count, times and category, and the cells of its row.
 * @param {Seen} seen @param {number} x @param {number} y @returns {Cell | null}
 */
export function cellAt({ place, view, answer }, x, y) {
  const row = rowAt(place, y);
  const cells = row >= 0 ? answer?.rows.get(place.rows[row].key) : undefined;
  if (!answer || !cells || x < place.gutter - NEAR) return null;
  const scale = view.span / place.plot;
  const offset = Number(view.from - answer.from) + (x - place.gutter) * scale;
  /** @type {Cell | null} */
  let best = null;
  let least = NEAR * scale;
  let cell = firstBehind(cells.lasts, offset - least);
  for (; cell < cells.counts.length; cell += 1) {
    const [first, last] = [cells.firsts[cell], cells.lasts[cell]];
    if (first > offset + least) break;
    const away = Math.max(0, first - offset, offset - last);
    if (best && away >= least) continue;
    least = Math.max(away, scale / 2);
    best = { row, cells, count: cells.counts[cell],
      category: answer.categories[cells.categories[cell]] ?? null,
      from: answer.from + BigInt(Math.round(first)), to: answer.from + BigInt(Math.round(last)) };
  }
  return best;
}

export class Tip {
  /** @type {Cell | null} */
  #cell = null;

  /**
   * `eventOf(cell)` asks for the first event of a cell.
   * @param {HTMLElement} element @param {(cell: Cell) => Promise<EventObject | null>} eventOf
   */
  constructor(element, eventOf) {
    this.element = element;
    this.eventOf = eventOf;
    this.x = 0;
    this.y = 0;
    this.read = debounced(60, () => this.#read());
  }

  hide() {
    this.#cell = null;
    this.element.hidden = true;
    this.read.cancel();
  }

  /**
   * Tells of a cell beside the pointer; of none, nothing.
   * @param {Cell | null} cell @param {number} x @param {number} y
   */
  show(cell, x, y) {
    if (!cell) {
      this.hide();
      return;
    }
    Object.assign(this, { x, y });
    const same = this.#cell && cell.from === this.#cell.from && cell.row === this.#cell.row
      && cell.span === this.#cell.span;
    if (!same) {
      this.#cell = cell;
      this.#fill(cell);
    }
    this.#place();
  }

  /** @param {Cell} cell */
  #fill({ count, from, to, category, span }) {
    let when = dateAndTime(from);
    if (span) when = `${span.open ? "open for " : ""}${duration(span.length)} from ${when}`;
    else if (count > 1) when = `${number(count)} events in ${duration(to - from)} from ${when}`;
    this.element.replaceChildren(
      make("div", { class: "words", text: when }),
      make("div", { class: "tip-category", text: visible(category ?? "") }),
      make("div", { class: "tip-message" }));
    this.element.hidden = false;
    this.read();
  }

  #place() {
    const { element, x, y } = this;
    const { clientWidth: width, clientHeight: height } = element.parentElement ?? element;
    const left = Math.max(4, Math.min(width - element.offsetWidth - 4, x + 12));
    const fits = y + 16 + element.offsetHeight < height;
    const top = fits ? y + 16 : y - element.offsetHeight - 8;
    element.style.transform = `translate(${left}px, ${top}px)`;
  }

  async #read() {
    const cell = this.#cell;
    if (!cell) return;
    try {
      const event = await this.eventOf(cell);
      if (!event || cell !== this.#cell) return;
      const text = visible(event.message.slice(0, LONGEST));
      const message = this.element.querySelector(".tip-message");
      if (message) setText(message, text);
      this.#place();
    } catch (error) {
      if (!isAbort(error)) showError(error);
    }
  }
}
