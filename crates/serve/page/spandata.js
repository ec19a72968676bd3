// The spans of the tracks as bars by row. Short ones are asked for when few enough events are
// seen, long ones always.

import { SpanReader } from "./spanread.js";

/** Bars that are under each other in a row. Deeper ones are drawn in the last one. */
const MOST_LANES = 6;

/** What the flags of a span say: its events are paired by a key; it has not ended. */
const KEYED = 1;
const OPEN = 2;

/** Puts bars that lie in others under those. A short one may not know of the long one that it
 * lies in. Bars with keys, which overlap without being nested, come below all others. */
export function setLanes(bars) {
  bars.sort((one, other) => one.offset - other.offset || one.depth - other.depth
    || other.length - one.length);
  const around = [];
  let nested = 0;
  for (const bar of bars.filter((one) => !one.keyed)) {
    while (around.length && around.at(-1) <= bar.offset) around.pop();
    bar.lane = Math.max(bar.depth, around.length);
    nested = Math.max(nested, bar.lane + 1);
    around.push(bar.offset + bar.length);
  }
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
  /** Calls `changed` when there are others. */
  constructor(changed) {
    this.changed = changed;
    this.readers = [false, true].map((long) => new SpanReader(long, changed));
    this.#put(null, null);
  }

  open(log) {
    for (const reader of this.readers) reader.open(log);
  }

  /** Asks for the spans of a window, unless they are here. `question` is that of the tracks. Of
   * many events, only long spans can be seen. */
  want(view, pixels, question, areFew) {
    const [short, long] = this.readers;
    if (areFew) short.want(view, pixels, question);
    else this.#forget(short);
    long.want(view, pixels, question);
  }

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

  #put(...answers) {
    this.taken = answers;
    const there = answers.filter(Boolean);
    /** From where the offsets of bars count. */
    this.from = there[0]?.from ?? 0n;
    /** How many are not drawn; unknown, and so none, if only long ones were asked for. */
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

  #add({ name, tid, pid, process, core, spans }, names, from) {
    const key = JSON.stringify([process, pid, tid, name, core]);
    if (!this.rows.has(key)) this.rows.set(key, []);
    const bars = this.rows.get(key);
    for (const [place, begin, end, depth, flags] of spans) {
      const begun = from + BigInt(begin);
      bars.push({ name: names[place], begin: begun, end: from + BigInt(end),
        offset: Number(begun - this.from), length: end - begin, depth,
        keyed: (flags & KEYED) !== 0, open: (flags & OPEN) !== 0 });
    }
  }
}
