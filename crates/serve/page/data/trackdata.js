// What the server has told of tracks: a few answers of different windows, and what to ask next.

import { getJson, isAbort, ofLog } from "./api.js";
import { noteError } from "./notices.js";
import { notYet } from "./known.js";
import { endOf } from "./window.js";
/** @import { Log } from "./log.js" */
/** @import { Filter, State } from "./state.js" */
/** @import { Window } from "./window.js" */
/** @import { Row, Tracks } from "../../types/api.js" */

/** So many answers are kept beside that of the whole log. */
const KEPT = 12;
const MOST_BUCKETS = 4096;

/** While a log grows, all is asked again after so many ms, and the whole log after so many. */
const AGAIN = 200;
const WHOLE_AGAIN = 2_000;

const NOTHING = { from: 0n, to: 0n };

/** A request for a window that has been left may run for so many ms before it is given up. */
const PATIENCE = 150;

/**
 * What is asked of the server: rows of threads or cores, and filters. Two that look alike may be of
 * different times.
 * @typedef {{ by: State["by"], filters: Filter[] }} Question
 */

/**
 * A row with its cells as columns: how many events, the place of their category, and the times of
 * the first and the last.
 * @typedef {Omit<Row, "cells"> & { counts: Uint32Array, categories: Int16Array,
 *   firsts: Float64Array, lasts: Float64Array }} Cells
 */

/** One answer, with its cells as columns. Offsets are in ns from `from`. */
export class Answer {
  /** @param {Tracks} said @param {Question} question */
  constructor(said, question) {
    this.from = BigInt(said.from);
    this.to = BigInt(said.to);
    this.width = Math.max(1, Number(this.to - this.from) / said.buckets);
    this.exact = said.exact;
    this.unknown = said.unknown_process;
    this.categories = said.categories;
    this.question = question;
    this.read = performance.now();
    // The server's keys are numbers that another answer may give to another row.
    /** @type {Map<string, Cells>} */
    this.rows = new Map();
    for (const row of said.rows) {
      const { name, tid, pid, process, core } = row;
      let key = JSON.stringify([process, pid, tid, name, core]);
      while (this.rows.has(key)) key += "+";
      this.rows.set(key, { ...columnsOf(row), key });
    }
  }

  /** @param {bigint} from @param {bigint} to */
  covers(from, to) {
    return this.from <= from && this.to >= to;
  }

  /**
   * Whether every cell that is seen is one event, so that a shorter window shows no more.
   * @param {bigint} from @param {bigint} to
   */
  isSettled(from, to) {
    if (!this.exact) return false;
    const [first, last] = [Number(from - this.from), Number(to - this.from)];
    for (const { firsts, lasts, counts } of this.rows.values()) {
      for (let cell = firstBehind(lasts, first); cell < counts.length; cell += 1) {
        if (firsts[cell] > last) break;
        if (counts[cell] > 1) return false;
      }
    }
    return true;
  }
}

/** @param {Row} row @returns {Cells} */
function columnsOf(row) {
  const size = row.cells.length;
  const columns = { counts: new Uint32Array(size), categories: new Int16Array(size),
    firsts: new Float64Array(size), lasts: new Float64Array(size) };
  row.cells.forEach(([, count, category, first, last], cell) => {
    columns.counts[cell] = count;
    columns.categories[cell] = category;
    columns.firsts[cell] = first;
    columns.lasts[cell] = last;
  });
  const { cells, ...rest } = row;
  return { ...rest, ...columns };
}

/**
 * The place of the first cell that ends at or behind an offset.
 * @param {Float64Array} lasts @param {number} offset
 */
export function firstBehind(lasts, offset) {
  let [low, high] = [0, lasts.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (lasts[middle] < offset) low = middle + 1;
    else high = middle;
  }
  return low;
}

/**
 * A request that is on its way.
 * @typedef {{ from: bigint, to: bigint, wide: number, began: number, controller: AbortController,
 *   question: Question }} Running
 */

/** Calls `changed` when there is another answer. */
export class TrackData {
  /** @type {Answer[]} */
  #answers = [];
  /** @type {Answer | null} */
  #whole = null;
  /** @type {Running | null} */
  #running = null;
  /** @type {AbortController | null} */
  #runningWhole = null;
  #timer = 0;
  #later = 0;

  /** @param {() => void} changed */
  constructor(changed) {
    this.changed = changed;
    /** @type {Log} */
    this.log = notYet();
    /** @type {Question} */
    this.question = { by: "thread", filters: [] };
    /** @type {Map<string, Cells>} */
    this.rows = new Map();
  }

  /**
   * Begins with another log.
   * @param {Log} log
   */
  open(log) {
    this.stop();
    this.log = log;
    this.#answers = [];
    this.#whole = null;
    this.rows = new Map();
  }

  /**
   * Asks for something else from now on. Former answers are shown until there are others.
   * @param {State["by"]} by @param {Filter[]} filters
   */
  ask(by, filters) {
    this.stop();
    this.question = { by, filters };
  }

  /** The log has grown, so all has to be asked again. */
  refresh() {
    this.#timer ||= setTimeout(() => {
      this.#timer = 0;
      this.question = { ...this.question };
      this.changed();
    }, AGAIN);
  }

  // Whether the answer of the whole log is of now, or nearly so while the log grows.
  #isWholeGood() {
    const whole = this.#whole;
    if (!whole || this.isFresh(whole)) return whole !== null;
    const same = whole.question.by === this.question.by
      && whole.question.filters === this.question.filters;
    const rest = whole.read + WHOLE_AGAIN - performance.now();
    if (!same || rest <= 0) return false;
    this.#later ||= setTimeout(() => { this.#later = 0; this.changed(); }, rest + 10);
    return true;
  }

  stop() {
    this.#running?.controller.abort();
    this.#runningWhole?.abort();
    this.#running = null;
    this.#runningWhole = null;
  }

  get busy() {
    return this.#running !== null;
  }

  /** The answer of the whole log, if it is there. */
  get whole() {
    return this.#whole;
  }

  /**
   * Whether an answer is one to what is asked now.
   * @param {Answer} answer
   */
  isFresh(answer) {
    return answer.question === this.question;
  }

  /**
   * The best answer for a window: one that has all of it, with the shortest buckets.
   * @param {Window} view @returns {Answer | null}
   */
  best(view) {
    const [from, to] = this.#needed(view);
    const all = this.#whole ? [...this.#answers, this.#whole] : this.#answers;
    let best = null;
    for (const answer of all) {
      if (!best || this.#betterThan(best, answer, from, to)) best = answer;
    }
    return best;
  }

  /** @param {Answer} best @param {Answer} answer @param {bigint} from @param {bigint} to */
  #betterThan(best, answer, from, to) {
    const [a, b] = [answer.covers(from, to), best.covers(from, to)];
    if (a !== b) return a;
    if (!a) return answer.width > best.width;
    if (answer.width !== best.width) return answer.width < best.width;
    return this.isFresh(answer);
  }

  /** That of the log. Without one, there are no times, and nothing is asked for. */
  get #range() {
    return this.log.range ?? NOTHING;
  }

  /**
   * The part of a window in which there can be events.
   * @param {Window} view @returns {[bigint, bigint]}
   */
  #needed(view) {
    const range = this.#range;
    const end = endOf(view);
    return [view.from > range.from ? view.from : range.from,
      end < range.to + 1n ? end : range.to + 1n];
  }

  /**
   * Asks for what is missing to draw a window that is so many pixels wide.
   * @param {Window} view @param {number} pixels
   */
  want(view, pixels) {
    const [from, to] = this.#needed(view);
    if (!this.#isWholeGood()) this.#readWhole(pixels);
    if (from >= to) return;
    const wide = view.span / Math.max(1, pixels);
    const best = this.best(view);
    if (best && this.isFresh(best) && best.covers(from, to)
      && (best.width <= wide * 1.5 || best.isSettled(from, to))) return;
    const running = this.#running;
    if (running) {
      const useful = running.from <= from && running.to >= to && running.wide <= wide * 1.5;
      if (useful && running.question === this.question) return;
      const near = running.from < to && running.to > from;
      if (near && performance.now() - running.began < PATIENCE) return;
      running.controller.abort();
    }
    this.#read(view, from, to, wide);
  }

  /** @param {Window} view @param {bigint} from @param {bigint} to @param {number} wide */
  async #read(view, from, to, wide) {
    const margin = BigInt(Math.round(view.span / 4));
    const range = this.#range;
    const asked = {
      from: from - margin > range.from ? from - margin : range.from,
      to: to + margin < range.to + 1n ? to + margin : range.to + 1n,
      wide, began: performance.now(), controller: new AbortController(), question: this.question,
    };
    this.#running = asked;
    const span = Number(asked.to - asked.from);
    const buckets = Math.max(1, Math.min(MOST_BUCKETS, span, Math.ceil(span / wide)));
    try {
      const said = await this.#ask(asked, buckets, asked.controller.signal);
      if (this.#running !== asked) return;
      this.#take(new Answer(said, asked.question));
    } catch (error) {
      if (isAbort(error)) return;
      noteError(error, "Tracks");
      // An error is not asked for again until the window is another one.
      await new Promise((done) => setTimeout(done, 2000));
    }
    if (this.#running === asked) {
      this.#running = null;
      this.changed();
    }
  }

  /** @param {number} pixels */
  async #readWhole(pixels) {
    if (this.#runningWhole) return;
    const controller = new AbortController();
    this.#runningWhole = controller;
    const range = this.#range;
    const question = this.question;
    const asked = { from: range.from, to: range.to + 1n };
    try {
      const buckets = Math.max(1, Math.min(1500, Math.round(pixels) || 1000));
      const said = await this.#ask(asked, Math.min(buckets, Number(asked.to - asked.from)),
        controller.signal);
      this.#whole = new Answer(said, question);
      this.#answers = this.#answers.filter((answer) => answer.question.by === question.by);
      this.rows = new Map([...this.#whole.rows].map(([key, row]) => [key, row]));
    } catch (error) {
      if (isAbort(error)) return;
      noteError(error, "Tracks");
      await new Promise((done) => setTimeout(done, 2000));
    }
    if (this.#runningWhole === controller) {
      this.#runningWhole = null;
      this.changed();
    }
  }

  /**
   * @param {{ from: bigint, to: bigint }} range @param {number} buckets @param {AbortSignal} signal
   */
  #ask({ from, to }, buckets, signal) {
    const { by, filters } = this.question;
    const asked = [["by", by], ["from", from], ["to", to], ["buckets", buckets], ...filters];
    return getJson(ofLog(this.log.id, "tracks"), asked, signal);
  }

  /** @param {Answer} answer */
  #take(answer) {
    this.#answers = this.#answers.filter((old) => this.isFresh(old)
      || !answer.covers(old.from, old.to));
    this.#answers.push(answer);
    if (this.#answers.length > KEPT) this.#answers.shift();
    for (const [key, row] of answer.rows) if (!this.rows.has(key)) this.rows.set(key, row);
  }

  /**
   * How many events there are in a range, from the server.
   * @param {bigint} from @param {bigint} to @param {AbortSignal} signal
   */
  async count(from, to, signal) {
    const said = await this.#ask({ from, to }, 1, signal);
    const count = said.rows.reduce((sum, row) => sum + row.count, 0);
    return { count, exact: said.exact };
  }
}
