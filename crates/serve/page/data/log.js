// The log that is open: what the server says of it, and how it grows.

import { getJson, isAbort, ofLog, readStream } from "./api.js";
import { noteError, notePart } from "./notices.js";
import { counted, percent } from "./text.js";
/** @import { Followed } from "./api.js" */
/**
 * @import {
 *   DefinitionObject, EventObject, Growth, Kind, Lacks, LogState, Moment
 * } from "../../types/api.js"
 */

/**
 * An event of a list of lines, where its line is known. Its message may have been parted in lines.
 * @typedef {EventObject & { line: number, parts?: string[] }} LineEvent
 */

/** What the server says that a log lacks, always and while it grows. @type {(keyof Lacks)[]} */
const LACKS = ["missed", "missed_unknown", "gone", "damaged", "missing_files"];

/**
 * Events: `info` when something has changed, `grown` when there are more lines, `anew` when the
 * numbers of lines start anew, `definitions` when these are known.
 */
export class Log extends EventTarget {
  #ended = new AbortController();
  /** @type {AbortController | null} */
  #stream = null;
  /** @type {DefinitionObject[]} */
  #definitions = [];

  /** @param {string} id */
  constructor(id) {
    super();
    this.id = id;
    this.name = id;
    /** @type {Kind | null} */
    this.kind = null;
    this.lines = 0;
    this.important = 0;
    /** @type {number | null} */
    this.version = null;
    this.growing = false;
    /** @type {Moment | null} */
    this.first = null;
    /** @type {Moment | null} */
    this.last = null;
    /** @type {Partial<Lacks>} */
    this.lacks = {};
    /** @type {LogState | null} */
    this.info = null;
  }

  /** Ends all that is asked for this log. */
  get signal() {
    return this.#ended.signal;
  }

  close() {
    this.#ended.abort();
    this.#stream?.abort();
    notePart("index", "");
    notePart("trouble", "");
  }

  /** Asks what the log is, and for its definitions; waits for the first only. */
  async open() {
    const info = await this.refresh();
    this.#readDefinitions();
    if (this.growing) this.watch();
    if (info.index?.state === "building") this.#waitForIndex();
  }

  async refresh() {
    const info = await getJson(ofLog(this.id), {}, this.signal);
    this.info = info;
    this.name = info.name ?? this.id;
    this.kind = info.kind;
    this.growing = info.growing;
    this.#take(info);
    this.dispatchEvent(new Event("info"));
    return info;
  }

  /** @param {LogState | Growth} said */
  #take(said) {
    // While a log is being indexed, nobody knows how many lines it has.
    const lines = said.lines ?? this.lines;
    const important = said.important ?? this.important;
    const anew = this.version !== null && this.lines > 0
      && (said.version !== this.version || important !== this.important);
    // What is known at first is no growth: nothing has to be searched again.
    const grown = this.version !== null && lines > this.lines;
    Object.assign(this, { version: said.version, lines, important });
    // What grows tells only of its end.
    this.first = ("first" in said ? said.first : null) ?? this.first;
    this.last = said.last ?? this.last;
    for (const what of LACKS) this.lacks[what] = said[what] ?? this.lacks[what];
    const { trouble } = said;
    notePart("trouble", trouble
      ? `${trouble.error} (${counted(trouble.waiting, "entry", "entries")})` : "");
    if (anew) this.dispatchEvent(new Event("anew"));
    else if (grown) this.dispatchEvent(new Event("grown"));
  }

  /**
   * An answer told of another version, or of more lines, than was known.
   * @param {number} version @param {number} lines
   */
  heard(version, lines) {
    const behind = this.version !== null && version !== this.version;
    if (behind || (this.version === version && lines > this.lines && !this.growing)) {
      this.refresh().catch((error) => { if (!isAbort(error)) noteError(error); });
    }
  }

  /** Follows the log while the page is seen. A hidden page costs the recorder nothing. */
  async watch() {
    let wait = 500;
    while (!this.signal.aborted && this.growing) {
      if (document.hidden) {
        await until(document, "visibilitychange", this.signal);
        continue;
      }
      try {
        await this.#follow(() => { wait = 500; });
      } catch (error) {
        if (this.signal.aborted) return;
        if (!isAbort(error)) {
          noteError(error, "Following");
          await new Promise((done) => setTimeout(done, wait));
          wait = Math.min(wait * 2, 10_000);
        }
      }
    }
  }

  /** @param {() => void} works */
  async #follow(works) {
    this.#stream = new AbortController();
    const stream = this.#stream;
    const hide = () => { if (document.hidden) stream.abort(); };
    document.addEventListener("visibilitychange", hide);
    try {
      /** @param {Followed} told */
      const take = (...[event, said]) => {
        works();
        if (event === "grown") {
          this.#take(said);
          this.dispatchEvent(new Event("info"));
        } else if (event === "end") {
          this.growing = false;
          this.dispatchEvent(new Event("info"));
        } else if (event === "error") {
          noteError(said.error, "Following");
        }
      };
      await readStream(ofLog(this.id, "follow"), {}, stream.signal, take);
    } finally {
      document.removeEventListener("visibilitychange", hide);
    }
    // A stream that ends without saying so is opened again, but not at once.
    if (this.growing) await new Promise((done) => setTimeout(done, 500));
  }

  async #waitForIndex() {
    while (!this.signal.aborted && this.info?.index?.state === "building") {
      notePart("index", `indexing ${percent(this.info.index.done ?? 0)}`);
      await new Promise((done) => setTimeout(done, 500));
      try {
        await this.refresh();
      } catch (error) {
        if (isAbort(error)) return;
        noteError(error);
      }
    }
    notePart("index", "");
  }

  async #readDefinitions() {
    try {
      const { definitions } = await getJson(ofLog(this.id, "definitions"), {}, this.signal);
      this.#definitions = definitions;
      this.dispatchEvent(new Event("definitions"));
    } catch (error) {
      if (!isAbort(error)) noteError(error, "Definitions");
    }
  }

  /** All definitions that are known. */
  get definitions() {
    return this.#definitions;
  }

  /** First and last time as BigInt, or null if the times of this log are not known. */
  get range() {
    const [first, last] = [this.first?.unix_ns, this.last?.unix_ns];
    return first && last ? { from: BigInt(first), to: BigInt(last) } : null;
  }

  /**
   * The first line at or after a time.
   * @param {bigint | string} ns @param {AbortSignal} [signal]
   */
  async lineAt(ns, signal = this.signal) {
    const { line } = await getJson(ofLog(this.id, "at"), { time: String(ns) }, signal);
    return line;
  }

  /**
   * The line of an event that was met elsewhere, or the first one of its time.
   * @param {EventObject} event @param {AbortSignal} [signal] @returns {Promise<number>}
   */
  async lineOf({ unix_ns: time, tid, message, important, line }, signal = this.signal) {
    // Important events stand before all others, whatever their time.
    const known = important && line !== undefined && line !== null;
    const from = known ? Math.max(0, line - 50) : await this.lineAt(time ?? "0", signal);
    const answer = await getJson(ofLog(this.id, "lines"), { from, count: 100 }, signal);
    const there = answer.lines.filter((event) => event.unix_ns === time);
    const same = there.find((event) => event.message === message && event.tid === tid);
    return (same ?? there[0] ?? answer.lines[0])?.line ?? Math.max(0, this.lines - 1);
  }
}

/** @param {EventTarget} target @param {string} event @param {AbortSignal} signal */
function until(target, event, signal) {
  return new Promise((done) => {
    target.addEventListener(event, done, { once: true, signal });
    signal.addEventListener("abort", done, { once: true });
  });
}
