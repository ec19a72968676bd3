// The axes of plots of durations: time from left to right, durations upwards on a log scale.

import { duration } from "../data/time.js";
import { offsetMarks } from "./axis.js";
import { colour } from "./theme.js";

export const LEFT = 60;
const BOTTOM = 20;
const TOP = 6;

/**
 * Where a plot is in its canvas, a map of durations to heights, and the time that a plot is of.
 * @typedef {NonNullable<ReturnType<typeof begin>>} Place
 * @typedef {ReturnType<typeof heights>} Scale
 * @typedef {{ from: bigint, span: number, start: bigint }} Times
 */

/**
 * The context of a canvas.
 * @param {HTMLCanvasElement} canvas @returns {CanvasRenderingContext2D}
 */
export function contextOf(canvas) {
  return /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
}

/**
 * Makes a canvas as large as it is shown, empty, and says where the plot is in it.
 * @param {HTMLCanvasElement} canvas
 */
export function begin(canvas) {
  const { clientWidth: width, clientHeight: height } = canvas;
  if (!width || !height) return null;
  const scale = devicePixelRatio || 1;
  canvas.width = Math.round(width * scale);
  canvas.height = Math.round(height * scale);
  const context = contextOf(canvas);
  context.scale(scale, scale);
  context.font = `11px ${getComputedStyle(canvas).fontFamily}`;
  context.textBaseline = "middle";
  return { context, width, height, left: LEFT, top: TOP, wide: Math.max(1, width - LEFT - 8),
    tall: Math.max(1, height - BOTTOM - TOP), bottom: height - BOTTOM };
}

/** @param {number} value */
const log = (value) => Math.log10(Math.max(1, value));

/**
 * Maps durations from `least` to `most` to heights, and back.
 * @param {Place} place @param {number} least @param {number} most
 */
export function heights({ top, tall, bottom }, least, most) {
  const low = log(least);
  const size = Math.max(0.05, log(most) - low);
  return {
    /** @param {number} value */
    yOf: (value) => bottom - ((log(value) - low) / size) * tall,
    /** @param {number} y */
    valueAt: (y) => 10 ** (low + ((bottom - y) / tall) * size),
    least: 10 ** low, most: 10 ** (low + size), top,
  };
}

/**
 * Draws the axis of durations: lines at 1, 10, 100, and between if there is room.
 * @param {Place} place @param {Scale} scale
 */
export function drawHeights({ context, left, wide, tall }, { yOf, least, most }) {
  const decades = Math.max(0.1, Math.log10(most / least));
  const parts = tall / decades > 120 ? [1, 2, 5] : [1];
  const last = Math.ceil(Math.log10(most));
  for (let power = Math.floor(Math.log10(least)); power <= last; power += 1) {
    for (const part of parts) {
      const value = part * 10 ** power;
      if (value < least * 0.999 || value > most * 1.001) continue;
      const y = Math.round(yOf(value));
      context.fillStyle = colour("--line");
      context.fillRect(left, y, wide, 1);
      context.fillStyle = colour("--dim");
      context.textAlign = "right";
      context.fillText(round(value), left - 6, y);
    }
  }
  context.textAlign = "left";
}

/**
 * A round duration without digits that say nothing.
 * @param {number} value
 */
const round = (value) => duration(value).replace(/\.0+ /, " ");

/**
 * Draws the axis of time, which counts from the begin of the log.
 * @param {Place} place @param {Times} times
 */
export function drawTimes({ context, left, wide, bottom }, { from, span, start }) {
  context.fillStyle = colour("--line");
  context.fillRect(left, bottom, wide, 1);
  for (const { share, label } of offsetMarks(Number(from - start), span, wide / 90)) {
    const x = Math.round(left + share * wide);
    context.fillStyle = colour("--line");
    context.fillRect(x, bottom, 1, 5);
    context.fillStyle = colour("--dim");
    if (x + 4 + context.measureText(label).width <= left + wide + 8) {
      context.fillText(label, x + 4, bottom + BOTTOM / 2 + 1);
    }
  }
}

/**
 * Draws the axis of percentiles: 0, 90, 99, 99.9 %, as far as `most` in one of how many.
 * @param {Place} place @param {number} most
 */
export function drawPercentiles({ context, left, wide, bottom, top }, most) {
  context.fillStyle = colour("--line");
  context.fillRect(left, bottom, wide, 1);
  for (let power = 0; 10 ** power <= most; power += 1) {
    const x = Math.round(left + (power / Math.log10(most)) * wide);
    context.fillStyle = colour("--line");
    context.fillRect(x, top, 1, bottom - top + 5);
    context.fillStyle = colour("--dim");
    const label = ["0 %", "90 %"][power] ?? `99${power > 2 ? "." : ""}${"9".repeat(power - 2)} %`;
    if (x + 4 + context.measureText(label).width <= left + wide + 8) {
      context.fillText(label, x + 4, bottom + BOTTOM / 2 + 1);
    }
  }
}
