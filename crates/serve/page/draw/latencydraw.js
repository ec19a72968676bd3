// Draws the plots of durations: percentiles over time, the heat map, the percentile spectrum.

import { begin, drawHeights, drawPercentiles, drawTimes, heights } from "./plotaxes.js";
import { colour } from "./theme.js";
/** @import { Place, Times } from "./plotaxes.js" */
/** @import { Durations, Point, SeriesObject } from "../../types/api.js" */

/**
 * What a plot is of: the answer with its times, the series that is shown. What is marked in it: a
 * range of pixels, and a cell or a point.
 * @typedef {Omit<Durations, "from" | "to"> & { from: bigint, to: bigint }} Answer
 * @typedef {Times & { answer: Answer, series: SeriesObject | null }} Scene
 * @typedef {{ mark: number[] | null }} Marked
 */

/** The lines over time: name, place in a column of the server, number of the colour. */
export const LINES = [{ name: "longest", at: 5, tint: 9 }, { name: "99.9 %", at: 4, tint: 4 },
  { name: "99 %", at: 3, tint: 10 }, { name: "50 %", at: 2, tint: 0 }];

/**
 * What is where in a plot over time: maps of columns and values.
 * @param {Scene} scene @param {Place} place
 */
function over({ answer, series }, place) {
  /** @param {number} x */
  const columnOf = (x) => Math.max(0, Math.min(answer.columns - 1,
    Math.floor(((x - place.left) / place.wide) * answer.columns)));
  /** @param {number} column */
  const xOf = (column) => place.left + (column / answer.columns) * place.wide;
  /** @param {number} x */
  const shareOf = (x) => Math.max(0, Math.min(1, (x - place.left) / place.wide));
  const most = Math.max(2, series?.max ?? 2);
  const least = Math.max(1, Math.min(series?.min ?? 1, most * 0.9));
  return { columnOf, xOf, shareOf, least, most };
}

/**
 * Draws what is marked: a column, or the range that is being chosen.
 * @param {Place} place @param {Marked} scene
 */
function drawMark({ context, top, tall }, { mark }) {
  if (!mark) return;
  context.fillStyle = colour("--text");
  context.globalAlpha = 0.16;
  const [left, right] = [Math.min(...mark), Math.max(...mark)];
  context.fillRect(left, top, Math.max(1, right - left), tall);
  context.globalAlpha = 1;
}

/**
 * Percentiles against time. Returns the maps of the plot, or null if there is none.
 * @param {HTMLCanvasElement} canvas @param {Scene & Marked} scene
 */
export function drawOverTime(canvas, scene) {
  const place = begin(canvas);
  if (!place || !scene.answer) return null;
  const { context } = place;
  const maps = over(scene, place);
  const scale = heights(place, maps.least * 0.9, maps.most * 1.1);
  drawHeights(place, scale);
  drawTimes(place, scene);
  const columns = scene.series?.over_time ?? [];
  for (const { at, tint } of LINES) {
    context.strokeStyle = colour(`--k${tint}`);
    context.lineWidth = 1.5;
    context.beginPath();
    let before = -2;
    for (const column of columns) {
      const [left, right] = [maps.xOf(column[0]), maps.xOf(column[0] + 1)];
      const y = scale.yOf(column[at]);
      if (column[0] === before + 1) context.lineTo(left, y);
      else context.moveTo(left, y);
      context.lineTo(Math.max(right, left + 1), y);
      before = column[0];
    }
    context.stroke();
  }
  drawMark(place, scene);
  return { ...maps, ...scale };
}

/**
 * The heat map. Its cells are the darker, the more durations they have.
 * @param {HTMLCanvasElement} canvas @param {Scene & Marked & { cursor: number[] | null }} scene
 */
export function drawHeat(canvas, scene) {
  const place = begin(canvas);
  if (!place || !scene.answer) return null;
  const { context } = place;
  const { answer: { rows }, series, cursor } = scene;
  const maps = over(scene, place);
  const cells = series?.cells ?? [];
  const used = cells.map(([, row]) => row);
  const [first, last] = [Math.min(...used), Math.max(...used)];
  const scale = cells.length ? heights(place, rows[first], rows[last + 1])
    : heights(place, 1, 1e9);
  drawHeights(place, scale);
  drawTimes(place, scene);
  const most = Math.log1p(cells.reduce((best, [, , count]) => Math.max(best, count), 1));
  context.fillStyle = colour("--accent");
  for (const [column, row, count] of cells) {
    const [left, right] = [maps.xOf(column), maps.xOf(column + 1)].map(Math.round);
    const [low, high] = [scale.yOf(rows[row]), scale.yOf(rows[row + 1])].map(Math.round);
    context.globalAlpha = 0.18 + 0.82 * (Math.log1p(count) / most);
    context.fillRect(left, high, Math.max(1, right - left), Math.max(1, low - high));
  }
  context.globalAlpha = 1;
  if (cursor) {
    const [left, right] = [maps.xOf(cursor[0]), maps.xOf(cursor[0] + 1)];
    const [low, high] = [scale.yOf(rows[cursor[1]]), scale.yOf(rows[cursor[1] + 1])];
    context.strokeStyle = colour("--mark");
    context.lineWidth = 2;
    context.strokeRect(left - 1, high - 1, Math.max(3, right - left + 2), low - high + 2);
  }
  drawMark(place, scene);
  /** @param {number} y */
  const rowAt = (y) => {
    const value = scale.valueAt(y);
    const above = rows.findIndex((bound) => bound > value);
    return Math.max(first, Math.min(last, (above < 0 ? rows.length : above) - 1));
  };
  return { ...maps, ...scale, rowAt, first, last };
}

/**
 * The percentile spectrum: durations against one of how many, on a log scale.
 * @param {HTMLCanvasElement} canvas @param {Scene & { cursor: number | null }} scene
 */
export function drawSpectrum(canvas, scene) {
  const place = begin(canvas);
  if (!place || !scene.answer) return null;
  const { context } = place;
  const { answer, series, cursor } = scene;
  const all = answer.series;
  const count = all.reduce((best, one) => Math.max(best, one.count), 10);
  const top = Math.max(10, count * 2);
  const least = all.reduce((best, one) => Math.min(best, one.min), Infinity);
  const scale = heights(place, Math.max(1, Number.isFinite(least) ? least * 0.9 : 1),
    all.reduce((best, one) => Math.max(best, one.max), 10) * 1.1);
  drawHeights(place, scale);
  drawPercentiles(place, top);
  /** @param {Point} point */
  const xOf = (point) => place.left
    + (Math.log10(Math.min(top, point.one_of ?? top)) / Math.log10(top)) * place.wide;
  for (const one of all) {
    const own = one === series;
    context.strokeStyle = colour(own ? "--accent" : "--dim");
    context.globalAlpha = own ? 1 : 0.35;
    context.lineWidth = own ? 2 : 1;
    context.beginPath();
    let before = place.left;
    for (const point of one.spectrum) {
      const y = scale.yOf(point.value);
      context.lineTo(before, y);
      before = xOf(point);
      context.lineTo(before, y);
    }
    context.stroke();
  }
  context.globalAlpha = 1;
  const points = series?.spectrum ?? [];
  if (cursor !== null && points[cursor]) {
    const left = cursor ? xOf(points[cursor - 1]) : place.left;
    drawMark(place, { mark: [left, Math.max(left + 2, xOf(points[cursor]))] });
  }
  /** @param {number} x */
  const pointAt = (x) => {
    const found = points.findIndex((point) => xOf(point) >= x);
    return found < 0 ? points.length - 1 : found;
  };
  return { ...scale, pointAt, xOf };
}
