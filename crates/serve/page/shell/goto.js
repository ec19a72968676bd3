// The dialog that goes to a line or a time.

import { isAbort } from "../data/api.js";
import { notYet } from "../data/known.js";
import { set, state } from "../data/state.js";
import { number } from "../data/text.js";
import { dateAndTime, parseTime } from "../data/time.js";
import { byId, setText } from "../draw/dom.js";
import { messageOf } from "./status.js";
/** @import { LineEvent, Log } from "../data/log.js" */

export class GoTo {
  /**
   * `eventOf(line)` is the event of a line, if the list has it.
   * @param {{ eventOf: (line: number) => LineEvent | null, topLine: () => number, went: (line:
   *   number) => void }} parts
   */
  constructor({ eventOf, topLine, went }) {
    this.eventOf = eventOf;
    this.topLine = topLine;
    this.went = went;
    this.dialog = byId("goto");
    this.input = byId("goto-text");
    /** @type {Log} */
    this.log = notYet();
    byId("goto-form").addEventListener("submit", (event) => {
      event.preventDefault();
      this.#go();
    });
    this.input.addEventListener("input", () => this.#explain());
  }

  open() {
    if (!this.log) return;
    this.input.value = "";
    this.#explain();
    this.dialog.showModal();
  }

  /**
   * What the text means: a line, or a time as BigInt.
   * @returns {{ line: number, time?: undefined } | { line?: undefined, time: bigint } | null}
   */
  #read() {
    const text = this.input.value.trim().replaceAll(",", "");
    const share = /^(\d+(?:\.\d+)?)\s*%$/.exec(text);
    const last = Math.max(0, this.log.lines - 1);
    if (share) return { line: Math.round(last * Math.min(1, Number(share[1]) / 100)) };
    if (/^[+-]\d+$/.test(text)) {
      const line = (state.line ?? this.topLine()) + Number(text);
      return { line: Math.max(0, Math.min(last, line)) };
    }
    if (/^[\d_]+$/.test(text)) return { line: Math.min(last, Number(text.replaceAll("_", ""))) };
    const time = parseTime(this.input.value, this.#near());
    return time === null ? null : { time };
  }

  #near() {
    const event = this.eventOf(state.line ?? this.topLine());
    if (event?.unix_ns) return BigInt(event.unix_ns);
    return this.log.range?.to ?? BigInt(Date.now()) * 1_000_000n;
  }

  #explain() {
    const said = byId("goto-means");
    if (!this.input.value.trim()) {
      const range = this.log.range;
      setText(said, `${number(this.log.lines)} lines`
        + (range ? `, ${dateAndTime(range.from)} to ${dateAndTime(range.to)}` : ""));
      return;
    }
    const goal = this.#read();
    if (!goal) setText(said, "This is neither a line nor a time");
    else if (goal.time === undefined) setText(said, `line ${number(goal.line)}`);
    else setText(said, `the first line at or after ${dateAndTime(goal.time)}`);
  }

  async #go() {
    const goal = this.#read();
    if (!goal) return;
    try {
      const last = Math.max(0, this.log.lines - 1);
      const line = goal.time === undefined ? goal.line
        : Math.min(await this.log.lineAt(goal.time), last);
      this.dialog.close();
      this.went(line);
      set({ line }, true);
    } catch (error) {
      if (!isAbort(error)) setText(byId("goto-means"), messageOf(error));
    }
  }
}
