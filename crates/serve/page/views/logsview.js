// The list of the logs that the server has.

import { getJson, isAbort } from "../data/api.js";
import { set, state } from "../data/state.js";
import { bytes, visible } from "../data/text.js";
import { dateAndSecond } from "../data/time.js";
import { byId, make } from "../draw/dom.js";
import { showError } from "../shell/status.js";
/** @import { LogObject } from "../../types/api.js" */

/** While the list is shown, it is read again after so many ms. */
const AGAIN = 3_000;

export class LogsView {
  #timer = 0;
  /** @type {AbortController | null} */
  #asked = null;
  #key = "";

  constructor() {
    this.section = byId("logs");
    /** @type {LogObject[] | null} */
    this.logs = null;
  }

  /** Reads the list; it is read again and again while it is shown. */
  async read() {
    clearTimeout(this.#timer);
    this.#asked?.abort();
    this.#asked = new AbortController();
    try {
      this.logs = (await getJson("logs", {}, this.#asked.signal)).logs;
      this.draw();
    } catch (error) {
      if (isAbort(error)) return;
      showError(error, "List of logs");
    }
    this.#timer = setTimeout(() => {
      if (!this.section.hidden && !document.hidden) this.read();
      else this.#wait();
    }, AGAIN);
  }

  #wait() {
    this.#timer = setTimeout(() => {
      if (!this.section.hidden && !document.hidden) this.read();
      else this.#wait();
    }, AGAIN);
  }

  draw() {
    const key = JSON.stringify([this.logs, state.log]);
    if (key === this.#key || !this.logs) return;
    this.#key = key;
    const active = document.activeElement;
    const focused = active instanceof HTMLElement ? active.dataset.log : undefined;
    byId("logs-rows").replaceChildren(...this.logs.map(rowOf));
    byId("logs-empty").hidden = this.logs.length > 0;
    if (focused !== undefined) this.#buttons().find((one) => one.dataset.log === focused)?.focus();
  }

  #buttons() {
    return [...byId("logs-rows").querySelectorAll("button")];
  }

  /**
   * Handles a key; says whether it was one of this view.
   * @param {{ key: string }} event
   */
  key({ key }) {
    /** @type {Record<string, number>} */
    const directions = { j: 1, ArrowDown: 1, k: -1, ArrowUp: -1 };
    const direction = directions[key];
    if (!direction) return false;
    const buttons = this.#buttons();
    const now = buttons.findIndex((button) => button === document.activeElement);
    buttons[Math.max(0, Math.min(buttons.length - 1, now + direction))]?.focus();
    return true;
  }
}

/** @param {LogObject} log */
function rowOf(log) {
  const { id, name, kind, path } = log;
  const open = () => set({ log: id, view: "lines", line: null, q: "", filters: [], from: null,
    to: null }, true);
  const modified = log.modified ? BigInt(Date.parse(log.modified)) * 1_000_000n : null;
  return make("tr", { class: id === state.log ? "selected" : "" },
    make("td", {}, make("span", { class: `kind kind-${kind}`, text: kind })),
    make("td", {}, make("button", { type: "button", class: "link", "data-log": id,
      text: visible(name), onclick: open })),
    make("td", { class: "number", text: bytes(log.bytes) }),
    make("td", { class: "words", text: modified === null ? "" : dateAndSecond(modified) }),
    make("td", { class: "words path", text: path === name ? "" : visible(path) }));
}
