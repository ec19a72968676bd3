// What is in a log: its time, its size, what was lost, who wrote it, and counts of its events.

import { getJson, isAbort, ofLog } from "../data/api.js";
import { isKnown } from "../data/known.js";
import { onPrefs } from "../data/prefs.js";
import { bytes, counted, number, percent, visible } from "../data/text.js";
import { dateAndTime, duration } from "../data/time.js";
import { byId, make, setBusy } from "../draw/dom.js";
import { categoryRank, levelClass, onColours } from "../draw/theme.js";
import { showError } from "../shell/status.js";
import { showControl } from "./control.js";
import { Rate } from "./rate.js";
/** @import { Log } from "../data/log.js" */
/** @import { AddFilter } from "../draw/fields.js" */
/** @import { LogState, Overview as Counts, ServerObject } from "../../types/api.js" */

/** So many bars of a kind are shown before all are asked for. */
const FEW = 25;

/**
 * The looks of a bar: its class, what stands behind its name, and the name itself.
 * @typedef {{ kind?: string, more?: string, text?: string }} Looks
 */

export class Overview {
  /** @type {AbortController | null} */
  #asked = null;

  /**
   * `filter(name, value)` shows the events of a bar, `range(from, to)` a range as tracks.
   * @param {{ filter: AddFilter, range: (from: bigint, to: bigint) => void }} parts
   */
  constructor({ filter, range }) {
    this.filter = filter;
    this.range = range;
    this.section = byId("overview");
    /** @type {Log | null} */
    this.log = null;
    /** @type {ServerObject | null} */
    this.server = null;
    /** @type {Counts | null} */
    this.counts = null;
    this.rate = new Rate(byId("rate"), byId("rate-said"), (from, to) => this.range(from, to));
    onColours(() => this.draw());
    onPrefs((name) => { if (name === "zone") this.draw(); });
  }

  /** @param {Log} log */
  open(log) {
    this.log = log;
    this.counts = null;
    byId("bars").replaceChildren();
    this.rate.show(null);
  }

  /** Asks for the counts and shows them. */
  async read() {
    this.#asked?.abort();
    this.#asked = new AbortController();
    const { log } = this;
    if (!log) return;
    this.draw();
    showControl(log, this.server);
    setBusy(this.section, true);
    try {
      this.counts = await getJson(ofLog(log.id, "overview"), {}, this.#asked.signal);
      if (log !== this.log) return;
      this.rate.show(this.counts.rate ?? null);
    } catch (error) {
      if (isAbort(error)) return;
      showError(error, "Overview");
    }
    setBusy(this.section, false);
    this.draw();
  }

  draw() {
    if (!this.log?.info || this.section.hidden) return;
    byId("facts").replaceChildren(...this.#facts(this.log, this.log.info));
    this.rate.draw();
    if (!this.counts) return;
    const { categories, priorities, names, threads } = this.counts;
    const messages = new Map(this.log.definitions.map((one) => [one.event, one.message]));
    byId("bars").replaceChildren(
      this.#bars("Categories", categories, (one) => ["category", one.name],
        (one) => ({ kind: `k${categoryRank(one.name)}` })),
      this.#bars("Priorities", priorities, (one) => ["priority", one.name],
        (one) => ({ kind: levelClass(one.name) })),
      this.#bars("Events", names, (one) => ["event", one.name], (one) => ({
        kind: `k${categoryRank(one.category)}`,
        more: visible((messages.get(one.name) ?? "").split("\n")[0]) })),
      this.#bars("Threads", threads, (one) => ["thread", one.tid ?? one.name], (one) => ({
        text: visible(one.name ?? String(one.tid ?? "?")),
        more: [one.tid, one.process && `of ${one.process}`, one.pid].filter(Boolean).join(" ") })));
  }

  /** @param {Log} log @param {LogState} info */
  #facts(log, info) {
    /** @type {Element[]} */
    const rows = [];
    /** @param {string} name @param {string | null} value @param {boolean} [bad] */
    const fact = (name, value, bad = false) => {
      if (!value) return;
      rows.push(make("dt", { text: name }), make("dd", { text: value, class: bad && "bad" }));
    };
    const { range, important } = log;
    fact("path", visible(info.path));
    fact("kind", info.kind + (log.growing ? ", grows" : ""));
    fact("size", bytes(info.bytes));
    fact("from", range && dateAndTime(range.from));
    fact("to", range && dateAndTime(range.to));
    fact("duration", range && duration(range.to - range.from));
    fact("events", number(this.counts?.events ?? info.events));
    fact("lines", number(log.lines)
      + (important ? `, ${number(important)} of important events` : ""));
    const { missed, missed_unknown: places, gone, damaged, missing_files: files } = log.lacks;
    const unknown = places ? `an unknown number in ${counted(places, "place")}` : "";
    const entries = missed ? `${number(missed)} entries were overwritten` : "";
    fact("missed", [entries, unknown].filter(Boolean).join(", and ") || "nothing",
      (missed ?? 0) + (places ?? 0) > 0);
    fact("gone", gone ? `${number(gone)} entries, with a part that was damaged or removed` : "",
      true);
    fact("damaged", damaged ? bytes(damaged) : "", true);
    fact("files", files ? `${number(files)} missing between the others` : "", true);
    const programs = info.programs.map((one) => [one.timeline, one.host && `on ${one.host}`]
      .filter(Boolean).join(" "));
    fact("writers", visible([...new Set(programs)].join("; ")));
    return rows;
  }

  /**
   * @template {{ count: number }} T @param {string} title @param {T[]} list
   * @param {(one: T) => [string, string | number | null | undefined]} filterOf
   * @param {(one: T) => Looks} looks
   */
  #bars(title, list, filterOf, looks) {
    const sum = list.reduce((all, one) => all + one.count, 0) || 1;
    const most = Math.max(1, ...list.map((one) => one.count));
    const rows = list.map((one) => {
      const [name, value] = filterOf(one);
      const { kind = "", more = "", text = visible(String(value ?? "unknown")) } = looks(one);
      const bar = make("span", { class: `bar-fill ${kind}` });
      bar.style.width = `${(one.count / most) * 100}%`;
      const known = isKnown(value);
      return make("li", {}, make("button", { type: "button", class: "bar-row",
        disabled: !known, title: known ? `Show the events with ${name} ${value}` : null,
        onclick: () => this.filter(name, String(value)) },
      bar, make("span", { class: `bar-name ${kind}`, text }),
      make("span", { class: "bar-more", text: more }),
      make("span", { class: "bar-count", text: number(one.count) }),
      make("span", { class: "bar-share", text: percent(one.count / sum) })));
    });
    const items = make("ul", { class: "bar-list" }, rows.slice(0, FEW));
    const rest = rows.length > FEW && make("button", { type: "button", class: "link",
      text: `Show all ${number(rows.length)}`, onclick: ({ target }) => {
        items.append(...rows.slice(FEW));
        /** @type {Element} */ (target).remove();
      } });
    const wide = title === "Events" || title === "Threads";
    return make("section", { class: wide ? "wide" : "" }, make("h3", { text: title }), items, rest);
  }

  /** Handles a key; says whether it was one of this view. */
  key() {
    return false;
  }
}
