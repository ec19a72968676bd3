// The lines that meet the query and the filters: found one after the other, kept in rising order.

import { ApiError, isAbort, ofLog, readStream } from "./api.js";
import { noteError } from "./notices.js";
import { asFilter } from "./time.js";
/** @import { Searched, Word } from "./api.js" */
/** @import { Log } from "./log.js" */
/** @import { Filter } from "./state.js" */
/** @import { Progress } from "../../types/api.js" */

/** So many hits are asked for at first, and ten times as many each time one wants more. */
const FIRST_LIMIT = 100_000;

/**
 * What is searched, and the time of the last event of the log when it was.
 * @typedef {{ log: Log, parameters: Filter[], last: string | null, version: number | null }}
 *   Question
 */

/**
 * Events: `start` when a search has its first answer, so that former hits are gone; `more` when
 * hits or counts have come; `end` when there is nothing more to come.
 */
export class Hits extends EventTarget {
  /** @type {AbortController | null} */
  #asked = null;
  /** @type {AbortController | null} */
  #extended = null;
  /** @type {Question | null} */
  #question = null;
  #growing = false;
  // The first line that was not searched, and what was found before a search that goes on.
  #next = 0;
  /** @type {{ found: number, unknown: number, density: number[] | null }} */
  #before = { found: 0, unknown: 0, density: null };

  /** Whether there is a query or a filter, whether it is being searched, and no further. */
  active = false;
  running = false;
  limited = false;
  /** Whether nothing was searched, because the log was being indexed. */
  refused = false;
  /** Why nothing was found: a sentence for each misspelt name in the filters. @type {string[]} */
  unmatched = [];
  /** @type {number[]} */
  lines = [];
  found = 0;
  /** The share of the log that was searched. */
  done = 0;
  /** How many are left out, because their process is not known. */
  unknown = 0;
  /** How many were found in each part of the log, if known. @type {number[] | null} */
  density = null;
  limit = FIRST_LIMIT;

  constructor() {
    super();
    this.clear();
  }

  /** Forgets all hits; then there is no query and no filter. */
  clear() {
    this.#asked?.abort();
    this.#extended?.abort();
    this.#growing = false;
    this.active = false;
    this.running = false;
    this.limited = false;
    this.refused = false;
    this.unmatched = [];
    this.lines = [];
    this.found = 0;
    this.done = 0;
    this.unknown = 0;
    this.density = null;
    this.limit = FIRST_LIMIT;
    this.dispatchEvent(new Event("start"));
  }

  /**
   * Searches a log; a search that runs is ended. `parameters` are those of the server.
   * @param {Log} log @param {Filter[]} parameters @param {number} [limit]
   */
  async search(log, parameters, limit = FIRST_LIMIT) {
    this.#question = { log, parameters, last: log.last?.unix_ns ?? null, version: log.version };
    this.limit = limit;
    // Former hits are shown until the first answer, so that nothing flickers while one types.
    let fresh = false;
    await this.#ask([], () => {
      if (fresh) return;
      fresh = true;
      this.lines = [];
      this.found = 0;
      this.done = 0;
      this.unknown = 0;
      this.density = null;
      this.limited = false;
      this.#next = 0;
      this.#before = { found: 0, unknown: 0, density: null };
      this.dispatchEvent(new Event("start"));
    });
  }

  /** Searches on where the last search ended, for more hits than before. */
  async more() {
    if (!this.#question) return;
    const { log, parameters, version } = this.#question;
    const limit = this.limit * 10;
    if (log.version !== version) {
      await this.search(log, parameters, limit);
      return;
    }
    this.limit = limit;
    this.limited = false;
    this.#before = { found: this.found, unknown: this.unknown, density: this.density };
    await this.#ask([["from", this.#next]], () => {});
  }

  /**
   * Calls `begin` before each answer is taken, and at the end.
   * @param {Word[][]} place @param {() => void} begin
   */
  async #ask(place, begin) {
    if (!this.#question) return;
    const { log, parameters } = this.#question;
    this.#asked?.abort();
    this.#extended?.abort();
    const asked = new AbortController();
    this.#asked = asked;
    this.active = true;
    this.running = true;
    this.refused = false;
    this.unmatched = [];
    try {
      const all = [...parameters, ...place, ["limit", this.limit]];
      /** @param {Searched} told */
      const take = (...told) => {
        begin();
        this.#take(...told);
      };
      await readStream(ofLog(log.id, "search"), all, asked.signal, take);
      begin();
      if (this.running) this.#ended();
    } catch (error) {
      if (isAbort(error) || asked !== this.#asked) return;
      begin();
      this.refused = error instanceof ApiError && error.status === 503;
      noteError(error, "Search");
      this.#ended();
    }
  }

  /** @param {Searched} told */
  #take(...[event, said]) {
    if (event === "hits") {
      this.#add(said.lines);
      this.found = Math.max(this.found, this.lines.length);
    } else if (event === "progress") {
      this.#count(said);
      this.done = said.done;
    } else if (event === "end") {
      this.#count(said);
      this.limited = said.limited;
      this.unmatched = said.unknown;
      this.#ended();
      return;
    } else if (event === "error") {
      noteError(said.error, "Search");
      this.#ended();
      return;
    }
    this.dispatchEvent(new Event("more"));
  }

  /**
   * A search that goes on counts what it finds by itself.
   * @param {Progress} said
   */
  #count({ found, density, next, unknown_process: unknown }) {
    const { found: known, density: parts } = this.#before;
    this.found = known + found;
    // Left out by a filter of processes, because theirs is not known.
    this.unknown = this.#before.unknown + unknown;
    this.density = known === 0 ? density
      : parts && density.map((count, part) => count + parts[part]);
    this.#next = next;
  }

  /** @param {number[]} lines */
  #add(lines) {
    const last = this.lines.at(-1) ?? -1;
    for (const line of lines) this.lines.push(line);
    if (lines[0] <= last) {
      this.lines = [...new Set(this.lines)].sort((one, other) => one - other);
    }
  }

  #ended() {
    this.running = false;
    this.done = 1;
    this.dispatchEvent(new Event("more"));
    this.dispatchEvent(new Event("end"));
  }

  /** Ends the search that runs, and keeps what it found. */
  stop() {
    if (!this.running) return;
    this.#asked?.abort();
    this.limited = true;
    this.#ended();
  }

  /** Searches what came since the last search, while a log grows. */
  async extend() {
    if (!this.active || this.running || this.limited) return;
    if (this.#growing) return;
    const question = this.#question;
    if (!question) return;
    const { log, parameters, last } = question;
    if (last === null || log.version !== question.version) {
      await this.search(log, parameters, this.limit);
      return;
    }
    // Of several times to begin with, one would be enough for an event, so the last one replaces.
    const since = parameters.filter(([name]) => name !== "since");
    since.push(["since", asFilter(BigInt(last))]);
    const next = log.last?.unix_ns ?? last;
    const known = this.lines.at(-1) ?? -1;
    this.#extended = new AbortController();
    this.#growing = true;
    try {
      const all = [...since, ["limit", this.limit]];
      /** @param {Searched} told */
      const take = (...[event, said]) => {
        if (event === "end") this.unknown = Math.max(this.unknown, said.unknown_process);
        if (event !== "hits") return;
        const added = said.lines.filter((line) => line > known);
        this.#add(added);
        this.found += added.length;
        this.density = null;
        this.dispatchEvent(new Event("more"));
      };
      await readStream(ofLog(log.id, "search"), all, this.#extended.signal, take);
      question.last = next;
    } catch (error) {
      if (!isAbort(error)) noteError(error, "Search");
    } finally {
      this.#growing = false;
    }
  }

  /**
   * The place of the first hit at or behind a line.
   * @param {number} line
   */
  placeOf(line) {
    let [low, high] = [0, this.lines.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.lines[middle] < line) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** @param {number} line */
  has(line) {
    return this.lines[this.placeOf(line)] === line;
  }
}
