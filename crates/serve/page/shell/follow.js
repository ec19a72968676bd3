// Follows a log that grows: its end stays in sight until one looks elsewhere.

import { short } from "../data/text.js";
import { byId, setText } from "../draw/dom.js";
/** @import { Log } from "../data/log.js" */

export class Follow {
  #seen = 0;

  /** @param {{ toEnd: () => void }} parts */
  constructor({ toEnd }) {
    this.toEnd = toEnd;
    this.on = false;
    /** @type {Log | null} */
    this.log = null;
    this.button = byId("follow");
    this.button.addEventListener("click", () => this.toggle());
  }

  /**
   * Another log is open. A live one is followed from the beginning, unless a line is asked for.
   * @param {Log} log @param {number | null} from
   */
  open(log, from) {
    this.log = log;
    this.on = log.growing && log.kind === "live" && from === null;
    this.#seen = log.lines;
    if (this.on) this.toEnd();
    this.draw();
  }

  toggle() {
    if (this.on) this.pause();
    else this.start();
  }

  start() {
    this.on = this.log?.growing ?? false;
    this.toEnd();
    this.draw();
  }

  /** Keeps the place; the log grows behind it. */
  pause() {
    if (!this.on) return;
    this.on = false;
    this.#seen = this.log?.lines ?? 0;
    this.draw();
  }

  /** Shows whether the log is followed, and how many lines have come since. */
  draw() {
    const growing = this.log?.growing ?? false;
    if (!growing) this.on = false;
    this.button.hidden = !growing;
    this.button.setAttribute("aria-pressed", String(this.on));
    const more = (this.log?.lines ?? 0) - this.#seen;
    setText(this.button, this.on || more <= 0 ? "Follow" : `Follow +${short(more)}`);
  }
}
