// Lists the durations behind a cell or a bucket, and leads to the events of each.

import { getJson, isAbort, ofLog } from "../data/api.js";
import { isKnown } from "../data/known.js";
import { counted, number, visible } from "../data/text.js";
import { dateAndTime, duration } from "../data/time.js";
import { byId, make, setBusy, setText } from "../draw/dom.js";
import { messageOf, showError } from "../shell/status.js";
/** @import { Word } from "../data/api.js" */
/** @import { Log } from "../data/log.js" */
/** @import { DurationObject } from "../../types/api.js" */

/** So many are listed. */
const LIMIT = 200;

/**
 * Which durations are listed, and what they are called.
 * @typedef {{ from: bigint, to: bigint, min: number, max: number, said: string }} Where
 */

export class LatencyList {
  /** @type {AbortController | null} */
  #asked = null;

  /**
   * `lines(one)` shows the events of a duration, `tracks(one)` where in time it is.
   * @param {{ lines: (one: DurationObject) => void, tracks: (one: DurationObject) => void }} parts
   */
  constructor({ lines, tracks }) {
    this.lines = lines;
    this.tracks = tracks;
    this.section = byId("behind");
    byId("behind-close").addEventListener("click", () => this.close());
  }

  get isOpen() {
    return !this.section.hidden;
  }

  close() {
    this.#asked?.abort();
    this.section.hidden = true;
    byId("behind-rows").replaceChildren();
  }

  /**
   * Asks for durations.
   * @param {Log} log @param {Word[][]} question @param {Where} where
   */
  async show(log, question, { from, to, min, max, said }) {
    this.#asked?.abort();
    this.#asked = new AbortController();
    const { signal } = this.#asked;
    const asked = [...question, ["limit", LIMIT], ["min", min], ["max", max], ["from", from],
      ["to", to]];
    this.section.hidden = false;
    setBusy(this.section, true);
    setText(byId("behind-said"), `${said}: searching…`);
    try {
      const answer = await getJson(ofLog(log.id, "durations/list"), asked, signal);
      const { count, durations } = answer;
      const rest = count > durations.length ? `; the longest ${number(durations.length)}` : "";
      setText(byId("behind-said"), `${said}: ${counted(count, "duration")}${rest}`);
      byId("behind-rows").replaceChildren(...durations.map((one) => this.#row(one)));
      setBusy(this.section, false);
      this.section.scrollIntoView({ block: "nearest" });
    } catch (error) {
      if (isAbort(error)) return;
      setBusy(this.section, false);
      setText(byId("behind-said"), `${said}: ${messageOf(error)}`);
      showError(error, "Durations");
    }
  }

  /** @param {DurationObject} one */
  #row(one) {
    const begin = dateAndTime(BigInt(one.begin.unix_ns));
    const thread = visible(one.thread ?? String(one.tid ?? "?"));
    const whose = !isKnown(one.key) ? thread : `${thread}, key ${visible(String(one.key))}`;
    const row = make("tr", {},
      make("td", {}, make("button", { type: "button", class: "link", text: duration(one.duration),
        title: `${number(one.duration)} ns; show its events`, onclick: () => this.lines(one) })),
      make("td", {}, make("button", { type: "button", class: "link", text: "Tracks",
        title: "Show it among the tracks", onclick: () => this.tracks(one) })),
      make("td", { text: begin, title: `to ${dateAndTime(BigInt(one.end.unix_ns))}` }),
      make("td", { text: whose }),
      make("td", { class: "number", text: String(one.depth) }));
    row.dataset.ns = String(one.duration);
    return row;
  }
}
