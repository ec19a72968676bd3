// The panel with everything that is known of one event.

import { getJson, isAbort, ofLog } from "../data/api.js";
import { debounced } from "../data/debounced.js";
import { isKnown } from "../data/known.js";
import { onPrefs, prefs } from "../data/prefs.js";
import { state } from "../data/state.js";
import { number, visible } from "../data/text.js";
import { dateAndTime, duration } from "../data/time.js";
import { byId, make, setBusy } from "../draw/dom.js";
import { sourceLink } from "../draw/editor.js";
import { fieldRows, filterButton, propertyRows } from "../draw/fields.js";
import { categoryRank, levelClass, onColours } from "../draw/theme.js";
import { showError, showMessage } from "./status.js";
/** @import { LineEvent, Log } from "../data/log.js" */
/** @import { Child } from "../draw/dom.js" */
/** @import { AddFilter, JsonObject } from "../draw/fields.js" */
/** @import { Details as DetailsObject, StackFrame } from "../../types/api.js" */

/** Events that are passed faster than this, in ms, are not asked for. */
const PAUSE = 40;

/**
 * An event of which all is known, or what a list knows of it.
 * @typedef {LineEvent & Partial<DetailsObject>} Known
 */

export class Details {
  /** @type {AbortController | null} */
  #asked = null;
  /** @type {Known | null} */
  #shown = null;

  /**
   * `known(line)` is the event of a line, if the list has it; `filter` adds a filter.
   * @param {{ known: (line: number) => LineEvent | null, filter: AddFilter }} parts
   */
  constructor({ known, filter }) {
    this.known = known;
    this.filter = filter;
    /** The line that was shown last. @type {number | null} */
    this.filled = null;
    this.panel = byId("details");
    /** @type {Log | null} */
    this.log = null;
    /** @type {Known | null} */
    this.mark = null;
    this.read = debounced(PAUSE, () => this.#read());
    onPrefs((name) => { if (name !== "theme") this.draw(); });
    onColours(() => this.draw());
    this.#resizable();
  }

  /** @param {Log} log */
  open(log) {
    this.log = log;
    this.mark = null;
    this.#shown = null;
    this.draw();
  }

  /** Whether the panel is open. */
  get isOpen() {
    return !this.panel.hidden;
  }

  /** Shows the event of the line of the state: at once what the list has, then all. */
  draw() {
    const { line } = state;
    const wanted = prefs.details && line !== null && this.log !== null
      && (state.view === "lines" || state.view === "tracks");
    this.panel.hidden = !wanted;
    byId("grip").hidden = !wanted;
    this.panel.style.setProperty("--wide", `${prefs.detailsWidth}px`);
    this.#asked?.abort();
    if (!wanted) {
      this.read.cancel();
      return;
    }
    const shown = this.#shown;
    if (shown && shown.line <= line && line < shown.line + shown.lines) {
      this.#fill(shown);
      return;
    }
    const known = this.known(line);
    if (known) this.#fill(known);
    setBusy(this.panel, true);
    this.read();
  }

  async #read() {
    if (!this.log) return;
    const asked = new AbortController();
    this.#asked = asked;
    try {
      const path = ofLog(this.log.id, `lines/${Number(state.line)}`);
      const event = /** @type {Known} */ (await getJson(path, {}, asked.signal));
      this.#shown = event;
      this.#fill(event);
    } catch (error) {
      if (isAbort(error)) return;
      showError(error, "Details");
    }
    setBusy(this.panel, false);
  }

  /** Remembers the selected event, or forgets it; details then tell the time from it. */
  setMark() {
    const event = this.#shown;
    this.mark = event && this.mark?.line !== event.line ? event : null;
    showMessage(this.mark ? `Times are told from line ${number(this.mark.line)} on` : "No mark");
    this.draw();
  }

  /** @param {Known} event */
  #fill(event) {
    const top = this.panel.scrollTop;
    const parts = [
      this.#head(event),
      make("pre", { class: `whole ${levelClass(event.priority)}`, text: visible(event.message) }),
      this.#facts(event),
      section("Values", event.fields && event.fields.length > 0
        && make("table", {}, make("tbody", {}, fieldRows(event.fields, this.filter)))),
      section("Properties", this.#properties(event)),
      stack(event.backtrace),
      this.#definition(event),
    ];
    this.panel.replaceChildren(...parts.filter((part) => part !== null));
    this.panel.scrollTop = event.line === this.filled ? top : 0;
    this.filled = event.line;
  }

  /** @param {Known} event */
  #properties(event) {
    const properties = /** @type {JsonObject | null | undefined} */ (event.properties);
    return properties && make("table", {},
      make("tbody", {}, propertyRows(event, this.filter, properties)));
  }

  /** @param {Known} event */
  #head(event) {
    const link = () => copy(location.href, "The address of this line is copied");
    return make("div", { class: "details-head" },
      make("h2", { text: event.event ?? event.category ?? "Event" }),
      make("button", { type: "button", class: "bare", text: "Copy link", onclick: link }),
      make("button", { type: "button", class: "bare", text: "Copy text",
        onclick: () => copy(event.message, "The message is copied") }),
      make("button", { type: "button", class: "bare", text: "✕",
        "aria-label": "Close the details", title: "Close (Esc)",
        onclick: () => { prefs.details = false; } }));
  }

  /** @param {Known} event */
  #facts(event) {
    /** @type {Element[]} */
    const rows = [];
    /** @param {string} name @param {Child[]} what */
    const fact = (name, ...what) => rows.push(make("dt", { text: name }), make("dd", {}, what));
    /** @param {string} name @param {string | number} value */
    const by = (name, value) => filterButton(visible(String(value)),
      () => this.filter(name, String(value)), `${name} ${value}`);
    const lines = event.lines > 1 ? ` to ${number(event.line + event.lines - 1)}` : "";
    fact("line", number(event.line) + lines);
    if (event.unix_ns) fact("time", dateAndTime(BigInt(event.unix_ns)), this.#distance(event));
    if (event.time) fact("UTC", event.time);
    if (event.ticks) fact("ticks", event.ticks);
    if (event.priority) fact("priority", by("priority", event.priority));
    if (event.category) {
      const value = by("category", event.category);
      value.classList.add(`k${categoryRank(event.category)}`);
      fact("category", value);
    }
    if (event.event) fact("event", by("event", event.event));
    if (isKnown(event.tid) || isKnown(event.thread)) {
      const tid = isKnown(event.tid) ? by("thread", event.tid) : null;
      fact("thread", event.thread && by("thread", event.thread), event.thread && tid && " ", tid);
    }
    if (isKnown(event.pid)) {
      fact("process", event.process && `${visible(event.process)} `, by("pid", event.pid));
    }
    if (event.group) fact("group", visible(event.group));
    if (isKnown(event.core)) fact("core", by("core", event.core));
    if (isKnown(event.node)) fact("node", String(event.node));
    const written = [event.timeline, event.host && `on ${event.host}`].filter(Boolean).join(" ");
    if (written) fact("written to", visible(written));
    if (event.important) fact("important", "kept when the ring is overwritten");
    if (event.missed) fact("missed", `${number(event.missed)} entries right before this one`);
    return make("dl", { class: "facts" }, rows);
  }

  /** @param {Known} event */
  #distance(event) {
    if (!event.unix_ns || !this.mark?.unix_ns || this.mark.line === event.line) return null;
    const distance = BigInt(event.unix_ns) - BigInt(this.mark.unix_ns);
    return make("span", { class: "words",
      text: ` ${distance < 0n ? "" : "+"}${duration(distance)} from the mark` });
  }

  /** @param {Known} event */
  #definition(event) {
    if (!event.template && !event.prose && !event.file) return null;
    const channels = event.channels ?? [];
    return section("Definition", [
      event.template && make("pre", { class: "template", text: visible(event.template) }),
      event.prose && make("p", { class: "prose", text: visible(event.prose) }),
      event.file && make("p", {}, sourceLink(event.file, event.source_line)),
      event.depot_path && make("p", { text: visible(event.depot_path) }),
      channels.length > 0 && make("p", { text: `channels: ${visible(channels.join(", "))}` }),
      make("p", { class: "words", text: `definition ${event.definition}` }),
    ]);
  }

  #resizable() {
    const grip = byId("grip");
    /** @param {number} width */
    const wide = (width) => Math.round(Math.max(240, Math.min(innerWidth - 240, width)));
    grip.addEventListener("pointerdown", (down) => {
      grip.setPointerCapture(down.pointerId);
      /** @param {PointerEvent} event */
      const move = (event) => {
        this.panel.style.setProperty("--wide", `${wide(innerWidth - event.clientX)}px`);
      };
      grip.addEventListener("pointermove", move);
      grip.addEventListener("lostpointercapture", (event) => {
        grip.removeEventListener("pointermove", move);
        prefs.detailsWidth = wide(innerWidth - event.clientX);
      }, { once: true });
    });
    grip.addEventListener("keydown", ({ key }) => {
      const step = key === "ArrowLeft" ? 20 : key === "ArrowRight" ? -20 : 0;
      if (step) prefs.detailsWidth = wide(prefs.detailsWidth + step);
    });
  }
}

/** @param {string} title @param {Child | Child[]} content */
function section(title, content) {
  if (!content || (Array.isArray(content) && content.length === 0)) return null;
  return make("section", {}, make("h3", { text: title }), content);
}

/** @param {StackFrame[] | undefined} frames */
function stack(frames) {
  if (!frames?.length) return null;
  return make("details", { class: "stack" },
    make("summary", { text: `Call stack, ${frames.length} calls` }),
    make("ol", {}, frames.map(call)));
}

/** @param {StackFrame} frame */
function call({ address, function: name, offset, object, file, line, inlined }) {
  const where = [name && address, object && visible(object)].filter(Boolean).join(" ");
  return make("li", {},
    make("span", { class: name ? "function" : "",
      text: visible(name ?? (inlined ? "?" : address)) }),
    isKnown(offset) && name && ` +0x${Number(offset).toString(16)}`,
    make("span", { class: "words", text: inlined ? " inlined" : ` ${where}` }),
    file && make("div", { class: "words", text: `${visible(file)}:${line}` }));
}

/** @param {string} text @param {string} said */
function copy(text, said) {
  navigator.clipboard.writeText(text).then(() => showMessage(said),
    () => showError("The browser does not let this page copy"));
}
