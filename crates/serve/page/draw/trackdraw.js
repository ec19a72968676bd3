// Draws the tracks on a canvas: the axis, a row for each thread or core, its events as ticks.

import { firstBehind } from "../data/trackdata.js";
import { endOf } from "../data/window.js";
import { marks } from "./axis.js";
import { drawSpans, LANE } from "./spandraw.js";
import { categoryColour, colour } from "./theme.js";
/** @import { SpanData } from "../data/spandata.js" */
/** @import { Answer, Cells } from "../data/trackdata.js" */
/** @import { Range, Window } from "../data/window.js" */

export const STRIP = 22;
export const AXIS = 26;
export const TOP = STRIP + AXIS;

/**
 * A row as it is shown: its key in answers, its name, what is below that, and whose it is.
 * @typedef {{ key: string, row: Cells, name: string, title: string,
 *   process?: string | number | null }} Named
 * @typedef {ReturnType<typeof layout>} Layout
 */

/**
 * What is drawn: the window, the best answer and the one of the whole log, and what is marked.
 * @typedef {{ layout: Layout, view: Window, answer: Answer | null, spans: SpanData,
 *   whole: Answer | null, range: Range, dim: boolean, hoverRow: number, brush: Range | null,
 *   selected: { time: bigint } | null, pointer: number | null, font: string }} Scene
 * @typedef {CanvasRenderingContext2D} Context
 */

/**
 * What is where: the width of the names, the height of rows, which are seen. Below the events of
 * a row, which are `tall`, there is room for so many bars.
 * @param {number} width @param {number} height @param {Named[]} rows @param {number} scroll
 * @param {number} lanes
 */
export function layout(width, height, rows, scroll, lanes) {
  const gutter = width < 560 ? 76 : 168;
  const room = Math.max(0, height - TOP);
  const bars = lanes ? lanes * LANE + 3 : 0;
  const share = Math.floor(room / Math.max(1, rows.length)) - bars;
  const tall = Math.max(18, Math.min(lanes ? 30 : 46, share));
  const rowHeight = tall + bars;
  const most = Math.max(0, rows.length * rowHeight - room);
  const top = Math.max(0, Math.min(most, scroll));
  return { width, height, gutter, plot: Math.max(1, width - gutter), rowHeight, tall, top, most,
    rows };
}

/**
 * Draws everything. `scene` has the layout, the window, the answers and what is marked.
 * @param {Context} context @param {Scene} scene
 */
export function drawTracks(context, scene) {
  const { width, height } = scene.layout;
  context.font = `11px ${scene.font}`;
  context.textBaseline = "middle";
  context.fillStyle = colour("--bg");
  context.fillRect(0, 0, width, height);
  drawRows(context, scene);
  drawMarks(context, scene);
  drawAxis(context, scene);
  drawStrip(context, scene);
}

/** @param {Context} context @param {Scene} scene */
function drawAxis(context, { layout: { gutter, plot, width, height }, view }) {
  const { step, base, marks: list } = marks(view.from, view.span, plot / 110);
  context.fillStyle = colour("--panel");
  context.fillRect(0, STRIP, width, AXIS);
  context.save();
  context.beginPath();
  context.rect(gutter, STRIP, plot, height);
  context.clip();
  for (const { offset, label, major } of list) {
    const x = Math.round(gutter + (offset / view.span) * plot) + 0.5;
    context.fillStyle = colour("--line");
    context.fillRect(x - 0.5, STRIP, 1, major ? height : AXIS);
    context.fillStyle = colour(major ? "--text" : "--dim");
    context.fillText(label, x + 4, STRIP + AXIS / 2);
  }
  context.restore();
  context.fillStyle = colour("--panel");
  context.fillRect(0, STRIP, gutter, AXIS);
  context.fillStyle = colour("--dim");
  const text = step < 1e9 || gutter > 100 ? base : base.slice(5);
  context.fillText(fitted(text, gutter - 10), 6, STRIP + AXIS / 2);
  context.fillStyle = colour("--line");
  context.fillRect(0, TOP - 1, width, 1);
}

/**
 * The end of a text, which tells more, if the whole is too wide.
 * @param {string} text @param {number} room
 */
function fitted(text, room) {
  const most = Math.floor(room / 6.7);
  return text.length <= most ? text : `…${text.slice(1 - most)}`;
}

/** @param {string} text @param {number} room */
function cut(text, room) {
  const most = Math.max(1, Math.floor(room / 6.7));
  return text.length <= most ? text : `${text.slice(0, most - 1)}…`;
}

// The events of each row that is seen, summed by pixel, so that all rows have one scale.
let counts = new Float32Array(0);
let owners = new Int16Array(0);
let shares = new Float32Array(0);

/** @param {Scene} scene */
function sumUp({ layout: { rows, rowHeight, top, height, plot }, view, answer }) {
  const from = Math.floor(top / rowHeight);
  const to = Math.min(rows.length, Math.ceil((top + height - TOP) / rowHeight));
  const wide = Math.ceil(plot) + 1;
  const size = Math.max(0, to - from) * wide;
  if (counts.length < size) {
    [counts, shares] = [new Float32Array(size), new Float32Array(size)];
    owners = new Int16Array(size);
  }
  counts.fill(0, 0, size);
  shares.fill(0, 0, size);
  let most = 1;
  for (let row = from; row < to; row += 1) {
    const cells = answer?.rows.get(rows[row].key);
    if (!answer || !cells) continue;
    most = Math.max(most, sumRow(cells, (row - from) * wide, wide, plot, view, answer));
  }
  return { from, to, wide, most };
}

/**
 * @param {Cells} row @param {number} base @param {number} wide @param {number} plot
 * @param {Window} view @param {Answer} answer
 */
function sumRow({ counts: of, categories, firsts, lasts }, base, wide, plot, view, answer) {
  const delta = Number(answer.from - view.from);
  const scale = plot / view.span;
  let most = 1;
  for (let cell = firstBehind(lasts, -delta); cell < of.length; cell += 1) {
    const left = (firsts[cell] + delta) * scale;
    if (left >= wide) break;
    const right = (lasts[cell] + delta) * scale;
    const from = Math.max(0, Math.floor(left));
    const to = Math.min(wide - 1, Math.max(from, Math.floor(right)));
    const within = to === from && left >= 0;
    for (let x = from; x <= to; x += 1) {
      // A coarse answer tells only that events are somewhere between the first and the last one.
      const share = within ? 1 : (Math.min(right, x + 1) - Math.max(left, x)) / (right - left);
      const count = of[cell] * share;
      const place = base + x;
      counts[place] += count;
      if (count > shares[place]) {
        shares[place] = count;
        owners[place] = categories[cell];
      }
      if (counts[place] > most) most = counts[place];
    }
  }
  return most;
}

/** @param {Context} context @param {Scene} scene */
function drawRows(context, scene) {
  const { layout: { width, rows, rowHeight, tall, top, gutter, plot }, view } = scene;
  const { answer, spans, hoverRow, dim } = scene;
  const { from, to, wide, most } = sumUp(scene);
  const colours = (answer?.categories ?? []).map(categoryColour);
  /** @type {Named["process"]} */
  let described = null;
  for (let row = from; row < to; row += 1) {
    const y = TOP + row * rowHeight - top;
    context.fillStyle = colour(row === hoverRow ? "--hover" : row % 2 ? "--stripe" : "--bg");
    context.fillRect(0, y, width, rowHeight);
    const { name, title, process } = rows[row];
    context.fillStyle = colour("--text");
    const titled = title && rowHeight > 30;
    context.fillText(cut(name, gutter - 12), 6, y + rowHeight / 2 - (titled ? 6 : 0));
    if (titled) {
      context.fillStyle = colour("--dim");
      context.fillText(cut(title, gutter - 12), 6, y + rowHeight / 2 + 8);
    }
    if (process !== described) {
      described = process;
      context.fillStyle = colour("--line");
      if (row > from) context.fillRect(0, y, width, 1);
    }
    drawCells(context, { x: gutter, y, plot, tall, base: (row - from) * wide, most, colours,
      dim });
    const bars = spans.rows.get(rows[row].key);
    if (bars) drawSpans(context, bars, { from: spans.from, view, x: gutter, y, plot, tall });
  }
  context.fillStyle = colour("--line");
  context.fillRect(gutter - 1, TOP, 1, scene.layout.height);
}

/**
 * The events of a row: the higher, the more of them are in a pixel.
 * @param {Context} context
 * @param {{ x: number, y: number, plot: number, tall: number, base: number, most: number, colours:
 *   string[], dim: boolean }} row
 */
function drawCells(context, { x: left, y, plot, tall: height, base, most, colours, dim }) {
  const none = colour("--dim");
  const room = height - 4;
  const log = Math.log1p(most);
  let style = "";
  let alpha = 1;
  for (let x = 0; x < plot; x += 1) {
    const count = counts[base + x];
    if (!count) continue;
    const own = colours[owners[base + x]] ?? none;
    if (own !== style) context.fillStyle = style = own;
    // Less than an event in a pixel is one whose place is not known yet.
    const sure = (count > 0.99 ? 1 : 0.4) * (dim ? 0.4 : 1);
    if (sure !== alpha) context.globalAlpha = alpha = sure;
    const tall = most <= 1 ? 0.8 * room : room * (0.3 + 0.7 * (Math.log1p(count) / log));
    context.fillRect(left + x, y + height - 2 - tall, most <= 1 && count > 0.99 ? 2 : 1, tall);
  }
  context.globalAlpha = 1;
}

/** @param {Context} context @param {Scene} scene */
function drawMarks(context, { layout: { gutter, plot, height }, view, brush, selected, pointer }) {
  /** @param {bigint} time */
  const xOf = (time) => gutter + (Number(time - view.from) / view.span) * plot;
  /** @param {number} x */
  const inside = (x) => Math.max(gutter, Math.min(gutter + plot, x));
  if (brush) {
    const [left, right] = [inside(xOf(brush.from)), inside(xOf(brush.to))];
    context.fillStyle = colour("--accent");
    context.globalAlpha = 0.16;
    context.fillRect(left, TOP, right - left, height);
    context.globalAlpha = 0.9;
    context.fillRect(left, TOP, 1, height);
    context.fillRect(right, TOP, 1, height);
    context.globalAlpha = 1;
  }
  if (selected) {
    const x = xOf(selected.time);
    context.fillStyle = colour("--mark");
    if (x >= gutter && x <= gutter + plot) context.fillRect(Math.round(x), TOP, 1, height);
  }
  if (pointer !== null && pointer >= gutter) {
    context.fillStyle = colour("--dim");
    context.globalAlpha = 0.6;
    context.fillRect(Math.round(pointer), STRIP, 1, height);
    context.globalAlpha = 1;
  }
}

/**
 * The whole log above the window, and where in it the window is.
 * @param {Context} context @param {Scene} scene
 */
function drawStrip(context, { layout: { gutter, plot, width }, view, whole, range }) {
  context.fillStyle = colour("--panel");
  context.fillRect(0, 0, width, STRIP);
  const span = Math.max(1, Number(range.to - range.from));
  if (whole) {
    const sums = new Float64Array(Math.ceil(plot) + 1);
    const delta = Number(whole.from - range.from);
    for (const { counts: of, firsts } of whole.rows.values()) {
      for (let cell = 0; cell < of.length; cell += 1) {
        const x = Math.floor(((firsts[cell] + delta) / span) * plot);
        if (x >= 0 && x < sums.length) sums[x] += of[cell];
      }
    }
    const most = sums.reduce((best, sum) => Math.max(best, sum), 1);
    context.fillStyle = colour("--dim");
    sums.forEach((sum, x) => {
      const tall = sum ? (STRIP - 5) * (0.1 + 0.9 * Math.sqrt(sum / most)) : 0;
      if (tall) context.fillRect(gutter + x, STRIP - 2 - tall, 1, tall);
    });
  }
  /** @param {bigint} time */
  const share = (time) => Math.max(0, Math.min(1, Number(time - range.from) / span));
  const left = gutter + share(view.from) * plot;
  const right = gutter + share(endOf(view)) * plot;
  context.fillStyle = colour("--accent");
  context.globalAlpha = 0.2;
  context.fillRect(left, 0, Math.max(2, right - left), STRIP);
  context.globalAlpha = 1;
  context.fillRect(left, 0, Math.max(2, right - left), 2);
  context.fillStyle = colour("--dim");
  context.fillText(gutter > 100 ? "whole log" : "all", 6, STRIP / 2);
  context.fillStyle = colour("--line");
  context.fillRect(0, STRIP - 1, width, 1);
}
