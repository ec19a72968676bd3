// The spans of the tracks as bars by row: long ones, and short ones where events are few.

import { SpanReader } from "./spanread.js";
/** @import { Log } from "./log.js" */
/** @import { Spans } from "./spanread.js" */
/** @import { Question } from "./trackdata.js" */
/** @import { Window } from "./window.js" */
/** @import { SpanRow } from "../../types/api.js" */

/** Bars that are under each other in a row. Deeper ones are drawn in the last one. */
const MOST_LANES = 6;

/** What the flags of a span say: its events are paired by a key; it has not ended. */
const KEYED = 1;
const OPEN = 2;

/**
 * A span as a bar: what it is, its place in its row in ns, and the lane that it is drawn in.
 * @typedef {{ name: string, begin: bigint, end: bigint, open: boolean }} Span
 * @typedef {{ offset: number, length: number, depth: number, keyed?: boolean, lane: number }} Place
 * @typedef {Span & Place} Bar
 */

/**
 * Puts bars that lie in others under those. A short one may not know of the long one that it
 * lies in. Bars with keys, which overlap without being nested, come below all others.
 * @param {Place[]} bars
 */
export function setLanes(bars) {
  bars.sort((one, other) => one.offset - other.offset || one.depth - other.depth
    || other.length - one.length);
  /** @type {number[]} */
  const around = [];
  let nested = 0;
  for (const bar of bars.filter((one) => !one.keyed)) {
    while (around.length && around[around.length - 1] <= bar.offset) around.pop();
    bar.lane = Math.max(bar.depth, around.length);
    nested = Math.max(nested, bar.lane + 1);
    around.push(bar.offset + bar.length);
  }
  /** @type {number[]} */
  const ends = [];
  for (const bar of bars.filter((one) => one.keyed)) {
    let free = ends.findIndex((last) => last <= bar.offset);
    if (free < 0) free = ends.length;
    ends[free] = bar.offset + bar.length;
    bar.lane = nested + free;
  }
  for (const bar of bars) bar.lane = Math.min(MOST_LANES - 1, bar.lane);
  return Math.min(MOST_LANES, nested + ends.length);
}

export class SpanData {
  /** From where the offsets of bars count. */
  from = 0n;
  /** How many are not drawn; unknown, and so none, if only long ones were asked for. */
  left = 0;
  /** @type {Map<string, Bar[]>} */
  rows = new Map();
  count = 0;
  lanes = 0;
  /** The answers that the bars are of. @type {(Spans | null)[]} */
  taken = [null, null];

  /**
   * Calls `changed` when there are others.
   * @param {() => void} changed
   */
  constructor(changed) {
    this.changed = changed;
    this.readers = [false, true].map((long) => new SpanReader(long, changed));
  }

  /** @param {Log} log */
  open(log) {
    for (const reader of this.readers) reader.open(log);
  }

  /**
   * Asks for the spans of a window, unless they are here. `question` is that of the tracks. Of
   * many events, only long spans can be seen.
   * @param {Window} view @param {number} pixels @param {Question} question @param {boolean} areFew
   */
  want(view, pixels, question, areFew) {
    const [short, long] = this.readers;
    if (areFew) short.want(view, pixels, question);
    else this.#forget(short);
    long.want(view, pixels, question);
  }

  /** @param {SpanReader} reader */
  #forget(reader) {
    const had = reader.answer !== null;
    reader.forget();
    if (had) this.changed();
  }

  /** Takes over what was read since. */
  refresh() {
    const [short, long] = this.readers.map((reader) => reader.answer);
    if (short !== this.taken[0] || long !== this.taken[1]) this.#put(short, long);
  }

  /** @param {(Spans | null)[]} answers */
  #put(...answers) {
    this.taken = answers;
    const there = answers.filter((answer) => answer !== null);
    this.from = there[0]?.from ?? 0n;
    this.left = answers[0] ? there.reduce((sum, { short, more }) => sum + short + more, 0) : 0;
    this.rows = new Map();
    for (const { from, names, rows } of there) {
      for (const row of rows) this.#add(row, names, from);
    }
    this.count = this.lanes = 0;
    for (const bars of this.rows.values()) {
      this.count += bars.length;
      this.lanes = Math.max(this.lanes, setLanes(bars));
    }
  }

  /** @param {SpanRow} row @param {string[]} names @param {bigint} from */
  #add({ name, tid, pid, process, core, spans }, names, from) {
    const key = JSON.stringify([process, pid, tid, name, core]);
    const bars = this.rows.get(key) ?? [];
    this.rows.set(key, bars);
    for (const [place, begin, end, depth, flags] of spans) {
      const begun = from + BigInt(begin);
      bars.push({ name: names[place], begin: begun, end: from + BigInt(end),
        offset: Number(begun - this.from), length: end - begin, depth, lane: 0,
        keyed: (flags & KEYED) !== 0, open: (flags & OPEN) !== 0 });
    }
  }
}
