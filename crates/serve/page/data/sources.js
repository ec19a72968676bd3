// The two lists that the lines view can show: all lines of a log, and only the hits.

import { ApiError, getJson, ofLog } from "./api.js";
import { AT_ONCE, Chunks } from "./chunks.js";
import { noteError } from "./notices.js";
/** @import { Hits } from "./hits.js" */
/** @import { LineEvent, Log } from "./log.js" */

/** Characters of messages that each list keeps, with some for the rest of an event. */
const BOUND = 24_000_000;

/**
 * Rows of the same event follow one another.
 * @param {LineEvent[]} rows
 */
const weigh = (rows) => rows.reduce((sum, event, at) => (
  event && event !== rows[at - 1] ? sum + event.message.length + 300 : sum), 0);

/**
 * That a log is being indexed is told already.
 * @param {Log} log @param {unknown} error
 */
function failed(log, error) {
  const refused = error instanceof ApiError && error.status === 503;
  if (!refused || log.info?.index?.state !== "building") noteError(error, "Lines");
}

/** All lines: row n is line n. */
export class AllLines {
  /** @param {Log} log @param {() => void} changed */
  constructor(log, changed) {
    this.log = log;
    this.count = 0;
    this.chunks = new Chunks({
      size: AT_ONCE, bound: BOUND, weigh, changed, load: (...asked) => this.#load(...asked),
      failed: (error) => failed(log, error),
    });
  }

  /** @param {number} start @param {number} count @param {AbortSignal} signal */
  async #load(start, count, signal) {
    const asked = { from: start, count };
    const answer = await getJson(ofLog(this.log.id, "lines"), asked, signal);
    this.log.heard(answer.version, answer.total);
    /** @type {LineEvent[]} */
    const rows = [];
    for (const event of /** @type {LineEvent[]} */ (answer.lines)) {
      const from = Math.max(event.line, start);
      const to = Math.min(event.line + event.lines, start + count);
      for (let line = from; line < to; line += 1) rows[line - start] = event;
    }
    return rows;
  }

  /** @param {number} row */
  get(row) {
    return this.chunks.get(row);
  }

  /** @param {number} row */
  lineOf(row) {
    return row;
  }

  /** @param {number} line */
  rowOf(line) {
    return Math.min(line, Math.max(0, this.count - 1));
  }
}

/** Only the hits: row n is the first line of hit n. */
export class OnlyHits {
  /** @param {Log} log @param {Hits} hits @param {() => void} changed */
  constructor(log, hits, changed) {
    this.log = log;
    this.hits = hits;
    this.count = 0;
    this.chunks = new Chunks({
      size: 100, bound: BOUND, weigh, changed, load: (...asked) => this.#load(...asked),
      failed: (error) => failed(log, error),
    });
  }

  /** @param {number} start @param {number} count @param {AbortSignal} signal */
  async #load(start, count, signal) {
    const lines = this.hits.lines.slice(start, start + count);
    const answer = await getJson(ofLog(this.log.id, "lines"), { at: lines.join(",") }, signal);
    this.log.heard(answer.version, answer.total);
    /** @type {LineEvent[]} */
    const rows = [];
    const events = /** @type {LineEvent[]} */ (answer.lines);
    let next = 0;
    for (const line of lines) {
      while (next < events.length - 1 && !covers(events[next], line)) next += 1;
      const event = events[next];
      rows.push(event && covers(event, line) ? event : unknown(line));
    }
    return rows;
  }

  /** @param {number} row */
  get(row) {
    return this.chunks.get(row);
  }

  /** @param {number} row */
  lineOf(row) {
    return this.hits.lines[row];
  }

  /** @param {number} line */
  rowOf(line) {
    const place = this.hits.placeOf(line);
    return Math.max(0, Math.min(place, this.count - 1));
  }
}

/** @param {LineEvent} event @param {number} line */
function covers(event, line) {
  return event.line <= line && line < event.line + event.lines;
}

/** @param {number} line @returns {LineEvent} */
function unknown(line) {
  return { line, lines: 1, time: null, unix_ns: null, category: null, priority: null, event: null,
    thread: null, tid: null, pid: null, process: null, core: null, message: "",
    definition: 0 };
}
