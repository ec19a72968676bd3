// The spans of the tracks: asked for when few enough events are seen, and kept until others are.

import { getJson, isAbort, ofLog } from "./api.js";
import { debounced } from "./dom.js";
import { showError } from "./status.js";
import { endOf } from "./window.js";

/** Spans of fewer pixels are not asked for. */
const LEAST = 1.5;

/** While a log grows, spans are asked for again after so many ms. */
const AGAIN = 1_000;

/** Bars that are under each other in a row. Deeper ones are drawn in the last one. */
const MOST_LANES = 6;

/** Puts spans that overlap without being nested, as those with keys do, under each other. */
function lanesOf(spans) {
  const nested = spans.reduce((most, [, , , depth, keyed]) => (keyed ? most
    : Math.max(most, depth + 1)), 0);
  const ends = [];
  const lanes = spans.map(([, begin, end, depth, keyed]) => {
    if (!keyed) return depth;
    let lane = ends.findIndex((last) => last <= begin);
    if (lane < 0) lane = ends.length;
    ends[lane] = end;
    return nested + lane;
  });
  return { lanes, count: nested + ends.length };
}

export class SpanData {
  #running = null;

  /** Calls `changed` when there are others. */
  constructor(changed) {
    this.changed = changed;
    this.log = null;
    this.#drop();
    this.read = debounced(120, () => this.#read());
  }

  #drop() {
    this.answer = null;
    this.wanted = null;
    this.count = 0;
    this.rows = new Map();
    this.lanes = 0;
  }

  open(log) {
    this.log = log;
    this.forget();
  }

  /** Too much is seen for spans. */
  forget() {
    this.#running?.abort();
    this.#running = null;
    this.read.cancel();
    this.#drop();
  }

  /** Asks for the spans of a window, unless they are here. `question` is that of the tracks. */
  want(view, pixels, question) {
    const wide = view.span / Math.max(1, pixels);
    const end = endOf(view);
    const isGood = (one) => one && one.from <= view.from && one.to >= end
      && one.question.by === question.by && one.question.filters === question.filters
      && (one.complete || (one.wide <= wide * 2 && one.wide * 2 >= wide))
      && (one.question === question || this.#isNew(one));
    if (isGood(this.answer) || isGood(this.wanted)) return;
    const margin = BigInt(Math.round(view.span / 4));
    const from = view.from > margin ? view.from - margin : 0n;
    this.wanted = { from, to: end + margin, wide, question, complete: false,
      read: performance.now(), took: 0 };
    this.read();
  }

  // While a log grows, what was read a moment ago is good enough.
  #isNew(one) {
    const rest = one.read + Math.max(AGAIN, 5 * one.took) - performance.now();
    if (rest <= 0) return false;
    this.later ||= setTimeout(() => { this.later = 0; this.changed(); }, rest + 10);
    return true;
  }

  async #read() {
    const asked = this.wanted;
    const { log } = this;
    this.#running?.abort();
    this.#running = new AbortController();
    const { by, filters } = asked.question;
    const words = [["by", by], ["from", asked.from], ["to", asked.to],
      ["min", Math.floor(asked.wide * LEAST)], ...filters];
    try {
      const said = await getJson(ofLog(log.id, "spans"), words, this.#running.signal);
      if (log === this.log) this.#take(said, asked);
    } catch (error) {
      if (isAbort(error)) return;
      showError(error, "Spans");
    }
    if (this.wanted === asked) this.wanted = null;
    this.changed();
  }

  #take(said, asked) {
    asked.took = performance.now() - asked.read;
    asked.complete = said.short === 0 && said.more === 0;
    this.answer = { ...asked, names: said.names, short: said.short, more: said.more };
    this.rows = new Map();
    this.lanes = this.count = 0;
    for (const { name, tid, pid, process, core, spans } of said.rows) {
      const { lanes, count } = lanesOf(spans);
      this.lanes = Math.min(MOST_LANES, Math.max(this.lanes, count));
      this.count += spans.length;
      const key = JSON.stringify([process, pid, tid, name, core]);
      this.rows.set(key, spans.map(([place, begin, end], number) => ({
        name: said.names[place], begin: asked.from + BigInt(begin), end: asked.from + BigInt(end),
        offset: begin, length: end - begin, lane: Math.min(MOST_LANES - 1, lanes[number]),
      })));
    }
  }
}
