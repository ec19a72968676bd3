// The log that is open: what the server says of it, and how it grows.

import { getJson, isAbort, ofLog, readStream } from "./api.js";
import { showError, showPart } from "./status.js";
import { counted, percent } from "./text.js";

/** What the server says that a log lacks, always and while it grows. */
const LACKS = ["missed", "missed_unknown", "gone", "damaged", "missing_files"];

/**
 * Events: `info` when something has changed, `grown` when there are more lines, `anew` when the
 * numbers of lines start anew, `definitions` when these are known.
 */
export class Log extends EventTarget {
  #ended = new AbortController();
  #stream = null;
  #definitions = new Map();

  constructor(id) {
    super();
    this.id = id;
    this.name = id;
    this.kind = null;
    this.lines = 0;
    this.important = 0;
    this.version = null;
    this.growing = false;
    this.first = null;
    this.last = null;
    this.lacks = {};
    this.info = null;
  }

  /** Ends all that is asked for this log. */
  get signal() {
    return this.#ended.signal;
  }

  close() {
    this.#ended.abort();
    this.#stream?.abort();
    showPart("index", "");
    showPart("trouble", "");
  }

  /** Asks what the log is, and for its definitions; waits for the first only. */
  async open() {
    await this.refresh();
    this.#readDefinitions();
    if (this.growing) this.watch();
    if (this.info.index?.state === "building") this.#waitForIndex();
  }

  async refresh() {
    this.info = await getJson(ofLog(this.id), {}, this.signal);
    this.name = this.info.name ?? this.id;
    this.kind = this.info.kind;
    this.growing = this.info.growing;
    this.#take(this.info);
    this.dispatchEvent(new Event("info"));
  }

  #take(said) {
    // While a log is being indexed, nobody knows how many lines it has.
    const lines = said.lines ?? this.lines;
    const important = said.important ?? this.important;
    const anew = this.version !== null && this.lines > 0
      && (said.version !== this.version || important !== this.important);
    // What is known at first is no growth: nothing has to be searched again.
    const grown = this.version !== null && lines > this.lines;
    Object.assign(this, { version: said.version, lines, important });
    this.first = said.first ?? this.first;
    this.last = said.last ?? this.last;
    for (const what of LACKS) this.lacks[what] = said[what] ?? this.lacks[what];
    const { error, waiting } = said.trouble ?? {};
    showPart("trouble", error && `${error} (${counted(waiting, "entry", "entries")})`);
    if (anew) this.dispatchEvent(new Event("anew"));
    else if (grown) this.dispatchEvent(new Event("grown"));
  }

  /** An answer told of another version, or of more lines, than was known. */
  heard(version, lines) {
    const behind = this.version !== null && version !== this.version;
    if (behind || (this.version === version && lines > this.lines && !this.growing)) {
      this.refresh().catch((error) => { if (!isAbort(error)) showError(error); });
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
          showError(error, "Following");
          await new Promise((done) => setTimeout(done, wait));
          wait = Math.min(wait * 2, 10_000);
        }
      }
    }
  }

  async #follow(works) {
    this.#stream = new AbortController();
    const stream = this.#stream;
    const hide = () => { if (document.hidden) stream.abort(); };
    document.addEventListener("visibilitychange", hide);
    try {
      await readStream(ofLog(this.id, "follow"), {}, stream.signal, (event, said) => {
        works();
        if (event === "grown") {
          this.#take(said);
          this.dispatchEvent(new Event("info"));
        } else if (event === "end") {
          this.growing = false;
          this.dispatchEvent(new Event("info"));
        } else if (event === "error") {
          showError(said.error, "Following");
        }
      });
    } finally {
      document.removeEventListener("visibilitychange", hide);
    }
    // A stream that ends without saying so is opened again, but not at once.
    if (this.growing) await new Promise((done) => setTimeout(done, 500));
  }

  async #waitForIndex() {
    while (!this.signal.aborted && this.info.index?.state === "building") {
      showPart("index", `indexing ${percent(this.info.index.done ?? 0)}`);
      await new Promise((done) => setTimeout(done, 500));
      try {
        await this.refresh();
      } catch (error) {
        if (isAbort(error)) return;
        showError(error);
      }
    }
    showPart("index", "");
  }

  async #readDefinitions() {
    try {
      const { definitions } = await getJson(ofLog(this.id, "definitions"), {}, this.signal);
      for (const one of definitions) this.#definitions.set(one.definition, one);
      this.dispatchEvent(new Event("definitions"));
    } catch (error) {
      if (!isAbort(error)) showError(error, "Definitions");
    }
  }

  /** All definitions that are known. */
  get definitions() {
    return [...this.#definitions.values()];
  }

  /** First and last time as BigInt, or null if the times of this log are not known. */
  get range() {
    const [first, last] = [this.first?.unix_ns, this.last?.unix_ns];
    return first && last ? { from: BigInt(first), to: BigInt(last) } : null;
  }

  /** The first line at or after a time. */
  async lineAt(ns, signal = this.signal) {
    const { line } = await getJson(ofLog(this.id, "at"), { time: String(ns) }, signal);
    return line;
  }

  /** The line of an event that was met elsewhere, or the first one of its time. */
  async lineOf({ unix_ns: time, tid, message, important, line }, signal = this.signal) {
    // Important events stand before all others, whatever their time.
    const known = important && line !== undefined;
    const from = known ? Math.max(0, line - 50) : await this.lineAt(time, signal);
    const answer = await getJson(ofLog(this.id, "lines"), { from, count: 100 }, signal);
    const there = answer.lines.filter((event) => event.unix_ns === time);
    const same = there.find((event) => event.message === message && event.tid === tid);
    return (same ?? there[0] ?? answer.lines[0])?.line ?? Math.max(0, this.lines - 1);
  }
}

function until(target, event, signal) {
  return new Promise((done) => {
    target.addEventListener(event, done, { once: true, signal });
    signal.addEventListener("abort", done, { once: true });
  });
}
