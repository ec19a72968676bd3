// Asks for the spans of a range of time, and keeps them until others are wanted.

import { getJson, isAbort, ofLog } from "./api.js";
import { debounced } from "./debounced.js";
import { noteError } from "./notices.js";
import { notYet } from "./known.js";
import { endOf } from "./window.js";
/** @import { Log } from "./log.js" */
/** @import { Question } from "./trackdata.js" */
/** @import { Window } from "./window.js" */
/** @import { SpanRow } from "../../types/api.js" */

/** Spans of fewer pixels are not asked for. */
const LEAST = 1.5;

/** While a log grows, spans are asked for again after so many ms. */
const AGAIN = 1_000;

/**
 * What is asked for, and an answer to that.
 * @typedef {{ from: bigint, to: bigint, wide: number, question: Question, complete: boolean,
 *   read: number, took: number, isAll?: boolean, behind?: boolean }} Asked
 * @typedef {Asked & { names: string[], rows: SpanRow[], short: number, more: number }} Spans
 */

export class SpanReader {
  /** @type {AbortController | null} */
  #running = null;
  /** What the running request is for, and what is wanted since. @type {Asked | null} */
  #asked = null;
  /** @type {Asked | null} */
  #wanted = null;
  #later = 0;

  /**
   * `long`: whether those that last long are read, or the others. Calls `changed` when there are
   * others.
   * @param {boolean} long @param {() => void} changed
   */
  constructor(long, changed) {
    this.long = long;
    this.changed = changed;
    /** @type {Log} */
    this.log = notYet();
    /** @type {Spans | null} */
    this.answer = null;
    this.read = debounced(120, () => this.#read());
  }

  /** @param {Log} log */
  open(log) {
    this.log = log;
    this.forget();
  }

  /** They are not wanted any more. */
  forget() {
    this.#running?.abort();
    this.#running = null;
    this.read.cancel();
    this.answer = null;
    this.#asked = null;
    this.#wanted = null;
  }

  /**
   * Asks for the spans of a window, unless they are here. `question` is that of the tracks.
   * @param {Window} view @param {number} pixels @param {Question} question
   */
  want(view, pixels, question) {
    const wide = view.span / Math.max(1, pixels);
    const end = endOf(view);
    /** @param {Asked} one */
    const covers = (one) => one.from <= view.from && one.to >= end
      && (one.complete || (one.wide <= wide * 2 && one.wide * 2 >= wide));
    /** @param {Asked | null} one */
    const isGood = (one) => one && (one.isAll || covers(one))
      && one.question.by === question.by && one.question.filters === question.filters
      && ((one.question === question && !one.behind) || this.#isNew(one));
    if (isGood(this.answer) || isGood(this.#wanted)) return;
    const margin = BigInt(Math.round(view.span / 4));
    const from = view.from > margin ? view.from - margin : 0n;
    this.#wanted = { from, to: end + margin, wide, question, complete: false,
      read: performance.now(), took: 0 };
    this.read();
  }

  /**
   * While a log grows, what was read a moment ago is good enough.
   * @param {Asked} one
   */
  #isNew(one) {
    const rest = one.read + Math.max(AGAIN, 5 * one.took) - performance.now();
    if (rest <= 0) return false;
    this.#later ||= setTimeout(() => { this.#later = 0; this.changed(); }, rest + 10);
    return true;
  }

  async #read() {
    const asked = this.#wanted;
    if (!asked) return;
    const { log } = this;
    // Long ones are found in all of the log, once: to begin again for another window takes longer.
    /** @param {Asked} one */
    const isSame = ({ question: { by, filters } }) => by === asked.question.by
      && filters === asked.question.filters;
    if (this.long && this.#asked && isSame(this.#asked)) return;
    this.#running?.abort();
    this.#running = new AbortController();
    this.#asked = asked;
    const { by, filters } = asked.question;
    const words = [["by", by], ["from", asked.from], ["to", asked.to],
      ["min", Math.floor(asked.wide * LEAST)], ["long", this.long], ...filters];
    try {
      const said = await getJson(ofLog(log.id, "spans"), words, this.#running.signal);
      if (log === this.log) {
        asked.took = performance.now() - asked.read;
        asked.complete = said.short === 0 && said.more === 0;
        const { names, rows, short, more, behind, elsewhere } = said;
        const isAll = asked.complete && !elsewhere;
        this.answer = { ...asked, names, rows, short, more, behind, isAll };
      }
    } catch (error) {
      if (isAbort(error)) return;
      noteError(error, "Spans");
    }
    this.#asked = null;
    if (this.#wanted === asked) this.#wanted = null;
    else if (this.#wanted) this.read();
    this.changed();
  }
}
