// A map beside the lines of where in the log the hits are.

import { contextOf } from "../draw/plotaxes.js";
import { colour, onColours } from "../draw/theme.js";
/** @import { Hits } from "../data/hits.js" */

/** So many parts of the log are told apart. */
const PARTS = 256;

export class HitMap {
  /**
   * `pick(line)` goes to a hit.
   * @param {{ map: HTMLCanvasElement, hits: Hits, pick: (line: number) => void }} parts
   */
  constructor({ map, hits, pick }) {
    this.map = map;
    this.hits = hits;
    this.pick = pick;
    this.total = 0;
    this.line = 0;
    map.addEventListener("pointerdown", (event) => {
      const box = map.getBoundingClientRect();
      this.#nearest((event.clientY - box.top) / box.height);
    });
    onColours(() => this.#draw());
  }

  /**
   * A click leads to the hit that is nearest to it.
   * @param {number} share
   */
  #nearest(share) {
    const { lines } = this.hits;
    if (!lines.length) return;
    const line = Math.floor(share * this.total);
    const place = Math.min(this.hits.placeOf(line), lines.length - 1);
    const [before, behind] = [lines[Math.max(0, place - 1)], lines[place]];
    this.pick(Math.abs(before - line) < Math.abs(behind - line) ? before : behind);
  }

  /**
   * Shows the hits among `total` lines, and that `line` is seen; no lines hide the map.
   * @param {number} total @param {number} line
   */
  show(total, line) {
    Object.assign(this, { total, line });
    this.map.hidden = !total;
    this.#draw();
  }

  #density() {
    const density = new Array(PARTS).fill(0);
    for (const line of this.hits.lines) {
      density[Math.min(PARTS - 1, Math.floor((line / this.total) * PARTS))] += 1;
    }
    return density;
  }

  #draw() {
    if (this.map.hidden) return;
    const [width, height] = [this.map.clientWidth, this.map.clientHeight];
    if (!width || !height) return;
    const density = this.hits.density ?? this.#density();
    const scale = devicePixelRatio || 1;
    this.map.width = Math.round(width * scale);
    this.map.height = Math.round(height * scale);
    const context = contextOf(this.map);
    context.scale(scale, scale);
    const most = Math.log1p(Math.max(1, ...density));
    const step = height / density.length;
    context.fillStyle = colour("--hit");
    density.forEach((count, place) => {
      if (!count) return;
      const share = Math.log1p(count) / most;
      const wide = Math.max(3, width * share);
      context.globalAlpha = 0.35 + 0.65 * share;
      context.fillRect(width - wide, place * step, wide, Math.max(1.5, step));
    });
    context.globalAlpha = 1;
    context.fillStyle = colour("--text");
    context.fillRect(0, Math.min(height - 2, (this.line / this.total) * height), width, 2);
  }
}
