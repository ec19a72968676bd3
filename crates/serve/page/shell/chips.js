// The filters as chips that can be removed, the form that adds one, and what a value filters.

import { getJson, isAbort, ofLog } from "../data/api.js";
import { addFilter, FILTERS, removeFilter, set, state } from "../data/state.js";
import { visible } from "../data/text.js";
import { dateAndTime, fromFilter } from "../data/time.js";
import { byId, make } from "../draw/dom.js";
import { categoryRank, onColours } from "../draw/theme.js";
/** @import { Hits } from "../data/hits.js" */
/** @import { Log } from "../data/log.js" */
/** @import { Filter } from "../data/state.js" */
/** @import { ThreadObject } from "../../types/api.js" */

/** @type {Record<string, string>} */
const HINTS = {
  category: "engine, or a pattern such as net*", event: "engine.got_packet, or engine.*",
  priority: "warning, ..info or info..trace", thread: "a name, a pattern or a number",
  pid: "4242", core: "3, or 0-3,8", since: "14:03:07, or 2026-11-23 14:03, or 5m ago",
  until: "14:03:07, or 2026-11-23 14:03, or 5m ago", where: "bytes > 1.5KiB && tcp == 10",
  grep: "a text in a line of the message",
};

const PRIORITIES = ["..error", "..warning", "..info", "error", "warning", "info", "trace", "app",
  "packet", "library"];

export class Chips {
  /** @param {{ hits: Hits, leave: () => void }} parts */
  constructor({ hits, leave }) {
    this.hits = hits;
    this.leave = leave;
    /** @type {Log | null} */
    this.log = null;
    /** @type {Filter | null} */
    this.changed = null;
    /** @type {ThreadObject[] | null} */
    this.threads = null;
    this.form = byId("add-filter");
    this.kind = byId("filter-kind");
    this.value = byId("filter-value");
    this.kind.append(...Object.entries(FILTERS).map(([value, text]) => make("option",
      { value, text })));
    this.kind.addEventListener("change", () => this.#suggest());
    this.form.addEventListener("submit", (event) => {
      event.preventDefault();
      const text = this.value.value.trim();
      if (!text) return;
      const kept = state.filters.filter((one) => one !== this.changed);
      if (this.changed) set({ filters: kept }, true);
      addFilter(this.kind.value, text);
      this.form.hidePopover();
      this.leave();
    });
    this.form.addEventListener("toggle", (event) => {
      if (/** @type {ToggleEvent} */ (event).newState !== "open") {
        this.changed = null;
        return;
      }
      if (!this.changed) this.value.value = "";
      this.#suggest();
      this.value.focus();
    });
    byId("only").addEventListener("click", () => set({ only: true }));
    byId("all").addEventListener("click", () => set({ only: false }));
    hits.addEventListener("start", () => this.draw());
    onColours(() => this.draw());
  }

  /**
   * Opens the form that adds a filter, or changes one.
   * @param {Filter | null} [filter]
   */
  add(filter = null) {
    this.changed = filter;
    if (filter) [this.kind.value, this.value.value] = filter;
    this.form.showPopover();
  }

  async #suggest() {
    const kind = this.kind.value;
    this.value.placeholder = HINTS[kind];
    const options = await this.#options(kind);
    if (kind !== this.kind.value) return;
    byId("filter-values").replaceChildren(...[...new Set(options)].slice(0, 500).map((value) =>
      make("option", { value })));
  }

  /** @param {string} kind @returns {Promise<string[]>} */
  async #options(kind) {
    if (kind === "priority") return PRIORITIES;
    if (!this.log) return [];
    const { definitions } = this.log;
    if (kind === "category") return definitions.map((one) => one.category ?? "").sort();
    if (kind === "event") return definitions.map((one) => one.event ?? "").sort();
    if (kind !== "thread" && kind !== "pid") return [];
    try {
      this.threads ??= (await getJson(ofLog(this.log.id, "threads"), {}, this.log.signal)).threads;
    } catch (error) {
      if (!isAbort(error)) return [];
    }
    const values = (this.threads ?? []).map((one) => (kind === "pid" ? one.pid
      : one.name ?? one.tid));
    return values.filter((value) => value !== null).map(String);
  }

  /** @param {Log} log */
  open(log) {
    this.log = log;
    this.threads = null;
  }

  /** Shows the filters of the state. */
  draw() {
    byId("chips").replaceChildren(...state.filters.map((filter) => chip(filter,
      () => this.add(filter))));
    const active = this.hits.active;
    byId("modes").hidden = !active || state.view !== "lines";
    byId("clear").hidden = !state.filters.length;
    byId("clear").onclick = () => set({ filters: [] }, true);
    byId("only").setAttribute("aria-pressed", String(state.only));
    byId("all").setAttribute("aria-pressed", String(!state.only));
  }
}

/** @param {Filter} filter @param {() => void} change */
function chip([name, value], change) {
  const time = name === "since" || name === "until" ? fromFilter(value) : null;
  const text = time === null ? visible(value) : dateAndTime(time);
  const rank = name === "category" ? categoryRank(value) : -1;
  return make("li", { class: "chip" },
    make("span", { class: "chip-name", text: FILTERS[name].toLowerCase() }),
    make("button", { type: "button", class: `chip-value${rank >= 0 ? ` k${rank}` : ""}`, text,
      title: `Change: ${text}`, onclick: change }),
    make("button", { type: "button", class: "bare", text: "✕",
      "aria-label": `Remove the filter ${FILTERS[name].toLowerCase()} ${text}`,
      onclick: () => removeFilter(name, value) }));
}
