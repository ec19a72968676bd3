// How long spans take: a table of percentiles, and plots over time, as a spectrum, as a heat map.

import { getJson, isAbort, ofLog } from "../data/api.js";
import { notYet } from "../data/known.js";
import { onPrefs } from "../data/prefs.js";
import { set, state } from "../data/state.js";
import { counted, number, visible } from "../data/text.js";
import { dateAndTime, duration } from "../data/time.js";
import { byId, eachFrame, make, setBusy, setText } from "../draw/dom.js";
import { onColours } from "../draw/theme.js";
import { showError, showPart } from "../shell/status.js";
import { LatencyList } from "./latencylist.js";
import { LatencyPlots } from "./latencyplots.js";
/** @import { Word } from "../data/api.js" */
/** @import { Log } from "../data/log.js" */
/** @import { Answer } from "../draw/latencydraw.js" */
/** @import { DurationObject, LossObject, SeriesObject } from "../../types/api.js" */

/** While a log grows, all is asked again after so many ms, and after so many times what it took. */
const AGAIN = 2_000;
const REST = 5;

/** @type {["count", "p50", "p90", "p99", "p99_9", "p99_99", "max", "mean", "min"]} */
const FIELDS = ["count", "p50", "p90", "p99", "p99_9", "p99_99", "max", "mean", "min"];
const TITLES = ["Count", "50 %", "90 %", "99 %", "99.9 %", "99.99 %", "Longest", "Mean",
  "Shortest"];

export class LatencyView {
  /** @type {AbortController | null} */
  #asked = null;
  #timer = 0;
  #isReading = false;
  #took = 0;

  /**
   * `lines(one)` shows the events of a duration, `tracks(one)` where in time it is.
   * @param {{ lines: (one: DurationObject) => void, tracks: (one: DurationObject) => void }} parts
   */
  constructor({ lines, tracks }) {
    this.section = byId("latency");
    /** @type {Log} */
    this.log = notYet();
    /** @type {Answer | null} */
    this.answer = null;
    this.draw = eachFrame(() => this.#draw());
    this.list = new LatencyList({ lines, tracks });
    this.plots = new LatencyPlots({
      range: (from, to) => set({ from: String(from), to: String(to) }, true),
      list: (where) => this.list.show(this.log, this.#question(this.series), where),
    });
    onColours(this.draw);
    onPrefs(this.draw);
    new ResizeObserver(this.draw).observe(this.section);
    byId("what-form").addEventListener("submit", (event) => {
      event.preventDefault();
      set({ what: byId("what").value.trim(), series: null }, true);
    });
    byId("latency-all").addEventListener("click", () => this.#wholeLog());
  }

  /** @param {Log} log */
  open(log) {
    this.log = log;
    this.answer = null;
    this.list.close();
    this.plots.clear();
  }

  /** The series that is shown: the one that is chosen, or the one with the most durations. */
  get series() {
    const all = this.answer?.series ?? [];
    return all.find((one) => one.id === state.series) ?? all[0] ?? null;
  }

  /** @param {SeriesObject | null} series */
  #question(series) {
    const what = state.what.split(",").map((one) => one.trim()).filter(Boolean);
    /** @type {Word[][]} */
    const asked = [...what.map((one) => ["what", one]), ...state.filters];
    if (series) asked.push(["series", series.id]);
    return asked;
  }

  /** What is asked for is another thing. */
  asked() {
    this.list.close();
    this.plots.clear();
    if (this.section.hidden) this.answer = null;
    else this.read();
  }

  /** Shows what there is, and asks for it if it is not there. */
  shown() {
    if (this.log && !this.answer) this.read();
    this.draw();
  }

  /** The log has grown: all is asked again, but most of the time nobody reads. */
  grown() {
    // More lines may be known of the same events: the log was being indexed.
    const end = this.log.range?.to;
    if (this.answer && state.from === null && end !== undefined && end < this.answer.to) return;
    if (this.section.hidden) {
      this.answer = null;
      return;
    }
    this.#timer ||= setTimeout(() => {
      this.#timer = 0;
      if (!this.section.hidden) this.read();
    }, Math.max(AGAIN, REST * this.#took));
  }

  /** Asks for the durations. */
  async read() {
    this.#asked?.abort();
    this.#asked = new AbortController();
    const { signal } = this.#asked;
    const { log } = this;
    const columns = Math.max(20, Math.min(512, Math.round((this.section.clientWidth - 90) / 4)));
    const asked = [...this.#question(null), ["columns", columns]];
    if (state.from !== null && state.to !== null) {
      asked.push(["from", state.from], ["to", state.to]);
    }
    this.#isReading = true;
    setBusy(this.section, true);
    const began = performance.now();
    try {
      const answer = await getJson(ofLog(log.id, "durations"), asked, signal);
      if (log !== this.log) return;
      this.#took = performance.now() - began;
      this.answer = { ...answer, from: BigInt(answer.from), to: BigInt(answer.to) };
    } catch (error) {
      if (isAbort(error)) return;
      showError(error, "Latency");
    }
    this.#isReading = false;
    this.draw();
  }

  #wholeLog() {
    set({ from: null, to: null }, true);
  }

  #draw() {
    if (this.section.hidden || !this.log) return;
    // Only what is drawn can be used.
    setBusy(this.section, this.#isReading);
    const { answer, series } = this;
    if (document.activeElement !== byId("what")) byId("what").value = state.what;
    byId("latency-all").hidden = state.from === null;
    if (!answer) return;
    const all = answer.series.reduce((sum, one) => sum + one.count, 0);
    const span = answer.to - answer.from;
    setText(byId("latency-said"), `${counted(all, "duration")} in ${duration(span)}`
      + (answer.unknown ?? []).map((told) => `; ${visible(told)}`).join("") + lost(answer.losses));
    showPart("place", `${duration(span)} from ${dateAndTime(answer.from)}`);
    byId("latency-none").hidden = all > 0;
    byId("latency-plots").hidden = all === 0;
    this.#table(answer, series);
    const start = this.log.range?.from ?? answer.from;
    this.plots.show({ answer, series, from: answer.from, span: Number(span), start });
  }

  /** @param {Answer} answer @param {SeriesObject | null} series */
  #table(answer, series) {
    byId("series-head").replaceChildren(make("th", { text: "Name" }),
      ...TITLES.map((text) => make("th", { class: "number", text })));
    /** @param {string} field @param {number} value */
    const shown = (field, value) => (field === "count" ? number(value) : duration(value));
    /** @param {string} id */
    const choose = (id) => () => set({ series: id });
    const rows = answer.series.map((one) => make("tr", {
      class: one === series ? "selected" : "", "aria-selected": String(one === series),
      onclick: choose(one.id) },
    make("td", {}, make("button", { type: "button", class: "link", text: visible(one.id),
      "aria-pressed": String(one === series), title: `Show the plots of ${one.id}` })),
    ...FIELDS.map((field) => make("td", { class: "number", text: shown(field, one[field]),
      title: field === "count" ? null : `${number(Math.round(one[field]))} ns` }))));
    const more = answer.more.map((one) => make("tr", {},
      make("td", {}, make("button", { type: "button", class: "link", text: visible(one.id),
        title: "Measure only this", onclick: () => set({ what: one.id, series: null }, true) })),
      make("td", { class: "number", text: number(one.count) }), make("td", {
        class: "words", colspan: String(FIELDS.length - 1), text: "too many names to sum up" })));
    const had = document.activeElement?.closest("#series-rows button")?.textContent;
    byId("series-rows").replaceChildren(...rows, ...more);
    if (!had) return;
    const buttons = [...byId("series-rows").querySelectorAll("button")];
    buttons.find((button) => button.textContent === had)?.focus({ preventScroll: true });
  }

  /** @param {number} direction */
  #choose(direction) {
    const all = this.answer?.series ?? [];
    const next = all[all.findIndex((one) => one === this.series) + direction];
    if (next) set({ series: next.id });
  }

  /**
   * Handles a key; says whether it was one of this view.
   * @param {KeyboardEvent} event
   */
  key({ key, target }) {
    if (this.plots.key(key, target)) return true;
    /** @type {Record<string, () => void>} */
    const actions = {
      j: () => this.#choose(1), k: () => this.#choose(-1),
      ArrowDown: () => this.#choose(1), ArrowUp: () => this.#choose(-1),
      Home: () => this.#wholeLog(), e: () => byId("what").focus(),
      "+": () => this.plots.zoom(0.5), "=": () => this.plots.zoom(0.5),
      "-": () => this.plots.zoom(2), "−": () => this.plots.zoom(2),
    };
    actions[key]?.();
    return key in actions;
  }

  /** Takes back what is open here; says whether there was something. */
  escape() {
    if (this.list.isOpen) this.list.close();
    else if (state.from !== null) this.#wholeLog();
    else return false;
    return true;
  }
}

/** Tells what was not measured. @param {LossObject} losses */
function lost({ ends, begins, open, threads, values, reversed, entries }) {
  const parts = [
    { count: ends, noun: "end", why: "without a begin" },
    { count: begins, noun: "begin", why: "without an end" },
    { count: open, noun: "span", why: "still open" },
    { count: threads, noun: "event", why: "of an unknown thread" },
    { count: values, noun: "event", why: "without a time or key" },
    { count: reversed, noun: "pair", why: "that ends too early" },
    { count: entries, noun: "entry", nouns: "entries", why: "overwritten unread" },
  ];
  const told = parts.filter(({ count }) => count > 0)
    .map(({ count, noun, nouns, why }) => `${counted(count, noun, nouns)} ${why}`);
  return told.length ? `; not measured: ${told.join(", ")}` : "";
}
