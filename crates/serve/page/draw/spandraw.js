// Draws spans as nested bars under the events of a row, and finds the one under the pointer.

import { categoryColour, colour } from "./theme.js";
/** @import { Bar } from "../data/spandata.js" */
/** @import { Window } from "../data/window.js" */

/**
 * Where the bars of a row are: their offsets count from `from`, `plot` pixels show the window, and
 * the events above the bars are `tall`.
 * @typedef {{ from: bigint, view: Window, plot: number, tall: number }} Scale
 */

/** The height of a bar with the gap below it. */
export const LANE = 14;

/** A bar with fewer pixels has no name in it. */
const NAMED = 26;

/**
 * Draws the bars of a row. `place` says where the row is and how high its events are.
 * @param {CanvasRenderingContext2D} context @param {Bar[]} spans
 * @param {Scale & { x: number, y: number }} place
 */
export function drawSpans(context, spans, { from, view, x: left, y, plot, tall }) {
  const scale = plot / view.span;
  const delta = Number(from - view.from);
  for (const { name, offset, length, lane, open } of spans) {
    const begin = (offset + delta) * scale;
    const end = (offset + length + delta) * scale;
    if (end < 0 || begin > plot) continue;
    const x = left + Math.max(0, begin);
    const wide = Math.max(1, Math.min(plot, end) - Math.max(0, begin));
    const top = y + tall + lane * LANE;
    context.globalAlpha = open ? 0.6 : 0.85;
    context.fillStyle = categoryColour(name);
    context.fillRect(x, top, wide > 3 ? wide - 0.5 : wide, LANE - 1);
    context.globalAlpha = 1;
    if (wide < NAMED) continue;
    const most = Math.floor((wide - 6) / 6.7);
    const text = name.length <= most ? name : most > 2 ? `${name.slice(0, most - 1)}…` : "";
    context.fillStyle = colour("--bg");
    context.fillText(text, x + 3, top + LANE / 2);
  }
}

/** @param {Bar | null} best @param {Bar} one */
const shorter = (best, one) => (!best || one.length < best.length ? one : best);

/**
 * The span at a place of a row: `x` from the left of the plot, `y` from the top of the row.
 * @param {Bar[]} spans @param {Scale} scale @param {number} x @param {number} y
 * @returns {Bar | null}
 */
export function spanAt(spans, { from, view, plot, tall }, x, y) {
  const lane = Math.floor((y - tall) / LANE);
  if (lane < 0 || x < 0) return null;
  const scale = view.span / plot;
  const at = Number(view.from - from) + x * scale;
  const near = 2 * scale;
  /** @param {Bar} one */
  const hit = (one) => one.lane === lane && one.offset - near <= at
    && one.offset + one.length + near >= at;
  const found = spans.filter(hit);
  return found.reduce(shorter, null);
}
