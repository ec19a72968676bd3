// A picture of how many events there were, over the time of a log.

import { short } from "../data/text.js";
import { dateAndSecond, duration } from "../data/time.js";
import { marks } from "../draw/axis.js";
import { contextOf } from "../draw/plotaxes.js";
import { colour } from "../draw/theme.js";
/** @import { Rate as Counts } from "../../types/api.js" */

const AXIS = 20;

/** Draws `{from, to, counts}`; `pick(from, to)` is called with the range that is chosen in it. */
export class Rate {
  /** The shares of the width between which a range is being chosen. @type {number | null} */
  #begin = null;
  /** @type {number | null} */
  #now = null;

  /**
   * @param {HTMLCanvasElement} canvas @param {HTMLElement} said
   * @param {(from: bigint, to: bigint) => void} pick
   */
  constructor(canvas, said, pick) {
    this.canvas = canvas;
    this.said = said;
    this.pick = pick;
    /** @type {{ from: bigint, to: bigint, counts: number[] } | null} */
    this.rate = null;
    new ResizeObserver(() => this.draw()).observe(canvas);
    canvas.addEventListener("pointerdown", (event) => {
      canvas.setPointerCapture(event.pointerId);
      this.#begin = this.#now = this.#share(event);
      this.draw();
    });
    canvas.addEventListener("pointermove", (event) => {
      this.#now = this.#share(event);
      this.#tell();
      this.draw();
    });
    canvas.addEventListener("pointerleave", () => {
      if (this.#begin !== null) return;
      this.#now = null;
      this.#tell();
      this.draw();
    });
    canvas.addEventListener("pointerup", () => this.#picked());
    canvas.addEventListener("pointercancel", () => { this.#begin = null; });
  }

  /** @param {Counts | null} rate */
  show(rate) {
    this.rate = rate && { from: BigInt(rate.from), to: BigInt(rate.to), counts: rate.counts };
    this.canvas.hidden = !rate;
    this.#tell();
    this.draw();
  }

  get #span() {
    return this.rate ? Math.max(1, Number(this.rate.to - this.rate.from)) : 1;
  }

  /** @param {PointerEvent} event */
  #share(event) {
    const box = this.canvas.getBoundingClientRect();
    return Math.max(0, Math.min(1, (event.clientX - box.left) / box.width));
  }

  /** @param {number} share */
  #time(share) {
    return (this.rate?.from ?? 0n) + BigInt(Math.round(share * this.#span));
  }

  #picked() {
    const [begin, now] = [this.#begin, this.#now];
    this.#begin = null;
    if (begin === null || now === null || !this.rate) return;
    let [from, to] = [Math.min(begin, now), Math.max(begin, now)];
    const part = 1 / this.rate.counts.length;
    if (to - from < part / 2) {
      from = Math.floor(begin / part) * part;
      to = from + part;
    }
    this.draw();
    this.pick(this.#time(from), this.#time(to));
  }

  #tell() {
    if (!this.rate) {
      this.said.textContent = "The times of the events are not known.";
      return;
    }
    const { counts } = this.rate;
    const part = this.#span / counts.length;
    if (this.#now === null) {
      const most = Math.max(...counts);
      this.said.textContent = `at most ${short((most / part) * 1e9)} events a second, in parts of `
        + `${duration(part)}; drag to see a range as tracks`;
      return;
    }
    const place = Math.min(counts.length - 1, Math.floor(this.#now * counts.length));
    this.said.textContent = `${dateAndSecond(this.#time(place / counts.length))}: `
      + `${short(counts[place])} events, ${short((counts[place] / part) * 1e9)} a second`;
  }

  draw() {
    const { canvas, rate } = this;
    const [width, height] = [canvas.clientWidth, canvas.clientHeight];
    if (!rate || !width) return;
    const scale = devicePixelRatio || 1;
    canvas.width = Math.round(width * scale);
    canvas.height = Math.round(height * scale);
    const context = contextOf(canvas);
    context.scale(scale, scale);
    const room = height - AXIS;
    const most = Math.max(1, ...rate.counts);
    const wide = width / rate.counts.length;
    context.fillStyle = colour("--accent");
    rate.counts.forEach((count, place) => {
      if (!count) return;
      const tall = Math.max(1, (count / most) * (room - 4));
      context.fillRect(place * wide, room - tall, Math.max(1, wide - 0.5), tall);
    });
    context.fillStyle = colour("--line");
    context.fillRect(0, room, width, 1);
    context.font = `11px ${getComputedStyle(canvas).fontFamily}`;
    context.textBaseline = "middle";
    for (const { offset, label } of marks(rate.from, this.#span, width / 110).marks) {
      const x = Math.round((offset / this.#span) * width);
      context.fillStyle = colour("--line");
      context.fillRect(x, room, 1, 5);
      context.fillStyle = colour("--dim");
      if (x < width - 70) context.fillText(label, x + 4, room + AXIS / 2 + 1);
    }
    if (this.#now === null) return;
    const begin = (this.#begin ?? this.#now) * width;
    const now = this.#now * width;
    context.fillStyle = colour("--text");
    context.globalAlpha = 0.2;
    context.fillRect(Math.min(begin, now), 0, Math.max(1, Math.abs(now - begin)), room);
  }
}
