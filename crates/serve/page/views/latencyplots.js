// The three plots of the durations of a name: what is told, chosen and listed in them.

import { counted, digits } from "../data/text.js";
import { dateAndTime, duration } from "../data/time.js";
import { byId, make, setText } from "../draw/dom.js";
import { drawHeat, drawOverTime, drawSpectrum, LINES } from "../draw/latencydraw.js";
import { listenPlot } from "./latencyinput.js";
/** @import { Answer, Scene } from "../draw/latencydraw.js" */
/** @import { Target } from "./latencyinput.js" */
/** @import { Where } from "./latencylist.js" */
/** @import { SeriesObject } from "../../types/api.js" */

/**
 * The plots, and their maps of places to values: those that have been drawn.
 * @typedef {"over" | "heat" | "spectrum"} Name
 * @typedef {{ over?: ReturnType<typeof drawOverTime>, heat?: ReturnType<typeof drawHeat>,
 *   spectrum?: ReturnType<typeof drawSpectrum> }} Maps
 * @typedef {{ min: number, max: number }} Lengths
 * @typedef {{ right: number, up: number }} Move
 */

/** @type {Name[]} */
const NAMES = ["over", "heat", "spectrum"];

/** What keys do with a cell or a bucket. @type {Record<string, Move | undefined>} */
const MOVES = { ArrowLeft: { right: -1, up: 0 }, ArrowRight: { right: 1, up: 0 },
  ArrowUp: { right: 0, up: 1 }, ArrowDown: { right: 0, up: -1 } };

const HINTS = {
  over: "drag to choose a range of time",
  heat: "click on a cell to list its durations; drag to choose a range of time",
  spectrum: "click to list the durations up to the next percentile",
};

export class LatencyPlots {
  /** @type {Scene | null} */
  scene = null;
  /** @type {Maps} */
  maps = {};
  /** The column, the cell and the point that are under the pointer. @type {number | null} */
  column = null;
  /** @type {number[] | null} */
  cell = null;
  /** @type {number | null} */
  point = null;
  /** A range that is being chosen. @type {{ name: Name, xs: number[] } | null} */
  mark = null;

  /**
   * `range(from, to)` narrows the time; `list(where)` lists durations.
   * @param {{ range: (from: bigint, to: bigint) => void, list: (where: Where) => void }} parts
   */
  constructor({ range, list }) {
    this.range = range;
    this.list = list;
    for (const name of NAMES) this.#listen(name);
    byId("over-legend").append(...LINES.map(({ name, tint }) => make("span", {
      class: `k${tint}`, text: `— ${name}` })));
  }

  /** Forgets what was chosen in the plots. */
  clear() {
    Object.assign(this, { column: null, cell: null, point: null, mark: null });
  }

  /** @param {Name} name */
  #listen(name) {
    const canvas = byId(`plot-${name}`);
    /** @type {Target} */
    const target = {
      hover: (x, y) => this.#hover(name, x, y),
      leave: () => {
        if (name === "over") this.column = null;
        this.mark = null;
        this.draw();
      },
      click: (x, y) => {
        this.#hover(name, x, y);
        this.#list(name);
      },
    };
    if (name !== "spectrum") {
      target.drag = (one, other) => {
        this.mark = { name, xs: [one, other] };
        this.draw();
      };
      target.brush = (one, other) => this.#brush(name, one, other);
    }
    listenPlot(canvas, target);
  }

  /**
   * Shows the plots of a scene: the answer, the series, and the range of time.
   * @param {Scene} scene
   */
  show(scene) {
    /** @param {Scene} one */
    const of = ({ answer, series }) => [answer.from, answer.to, answer.columns, answer.rows.join(),
      series?.id].join();
    if (!this.scene || of(scene) !== of(this.scene)) this.clear();
    this.scene = scene;
    this.draw();
  }

  draw() {
    const { scene, cell, point, mark } = this;
    if (!scene) return;
    /** @param {Name} name */
    const of = (name) => (mark?.name === name ? mark.xs : null);
    const { over, heat } = { over: of("over"), heat: of("heat") };
    const column = this.maps.over && this.column !== null
      ? [this.column, this.column + 1].map(this.maps.over.xOf) : null;
    this.maps = {
      over: drawOverTime(byId("plot-over"), { ...scene, mark: over ?? column }),
      heat: drawHeat(byId("plot-heat"), { ...scene, cursor: cell, mark: heat }),
      spectrum: drawSpectrum(byId("plot-spectrum"), { ...scene, cursor: point }),
    };
    this.#tell();
  }

  /** @param {Name} name @param {number} x @param {number} y */
  #hover(name, x, y) {
    const { over, heat, spectrum } = this.maps;
    if (!this.maps[name] || !this.scene?.series) return;
    if (name === "over") this.column = over?.columnOf(x) ?? null;
    else if (name === "heat") this.cell = heat ? [heat.columnOf(x), heat.rowAt(y)] : null;
    else this.point = spectrum?.pointAt(x) ?? null;
    this.draw();
  }

  /** @param {"over" | "heat"} name @param {number} one @param {number} other */
  #brush(name, one, other) {
    const maps = this.maps[name];
    this.mark = null;
    if (!maps || !this.scene) return;
    const { from, span } = this.scene;
    /** @param {number} x */
    const at = (x) => from + BigInt(Math.round(maps.shareOf(x) * span));
    const [begin, end] = [at(Math.min(one, other)), at(Math.max(one, other))];
    if (begin < end) this.range(begin, end);
    else this.draw();
  }

  /**
   * The times of a column, exactly as the server parts them.
   * @param {Answer} answer @param {number} column
   */
  #times({ from, to, columns }, column) {
    /** @param {number} number */
    const at = (number) => from + ((to - from) * BigInt(number) + BigInt(columns) - 1n)
      / BigInt(columns);
    return { from: at(column), to: at(column + 1) };
  }

  get #heatCell() {
    const { scene, cell } = this;
    if (!scene?.series || !cell) return null;
    const [column, row] = cell;
    const { answer, answer: { rows }, series } = scene;
    const count = series.cells.find(([c, r]) => c === column && r === row)?.[2] ?? 0;
    return { ...this.#times(answer, column), min: rows[row], max: rows[row + 1] - 1, count };
  }

  get #bucket() {
    const { scene, point } = this;
    const points = scene?.series?.spectrum;
    if (!scene || point === null || !points?.[point]) return null;
    const { value, count, percent } = points[point];
    const min = point ? points[point - 1].value + 1 : 0;
    const { from, to } = scene.answer;
    return { from, to, min, max: value, count, percent };
  }

  /** @param {Name} name */
  #list(name) {
    if (name === "over" || !this.scene?.series) return;
    const [cell, bucket] = [this.#heatCell, this.#bucket];
    const where = name === "spectrum" ? bucket : cell?.count ? cell : null;
    if (where) this.list({ ...where, said: lengths(where) });
  }

  #tell() {
    const { scene, column } = this;
    const told = scene && column !== null ? this.#ofColumn(scene, column) : HINTS.over;
    setText(byId("said-over"), told);
    const cell = this.#heatCell;
    setText(byId("said-heat"), cell ? `${counted(cell.count, "duration")} of ${lengths(cell)}, in `
      + `${duration(cell.to - cell.from)} from ${dateAndTime(cell.from)}` : HINTS.heat);
    const bucket = this.#bucket;
    setText(byId("said-spectrum"), bucket ? `${percentOf(bucket.percent)} take at most `
      + `${duration(bucket.max)}; ${counted(bucket.count, "duration")} of ${lengths(bucket)}`
      : HINTS.spectrum);
  }

  /** @param {Scene} scene @param {number} column */
  #ofColumn({ answer, series }, column) {
    const { from, to } = this.#times(answer, column);
    const when = `${duration(to - from)} from ${dateAndTime(from)}`;
    const found = series?.over_time.find(([number]) => number === column);
    if (!found) return `no duration in ${when}`;
    const parts = LINES.toReversed().map(({ name, at }) => `${name} ${duration(found[at])}`);
    return `${counted(found[1], "duration")}: ${parts.join(", ")}; ${when}`;
  }

  /**
   * Narrows or widens the range of time, around the column or the cell that is marked.
   * @param {number} factor
   */
  zoom(factor) {
    if (!this.scene) return;
    const { answer: { columns }, from, span, start } = this.scene;
    const column = this.cell?.[0] ?? this.column ?? columns / 2;
    const wide = Math.max(1000, span * factor);
    const begin = from + BigInt(Math.round(((column + 0.5) / columns) * (span - wide)));
    this.range(begin > start ? begin : start, begin + BigInt(Math.round(wide)));
  }

  /**
   * Handles a key that a plot with the focus gets; says whether it was one.
   * @param {string} key @param {EventTarget | null} target
   */
  key(key, target) {
    const name = NAMES.find((one) => target === byId(`plot-${one}`));
    const series = this.scene?.series;
    if (!name || !series) return false;
    const move = MOVES[key];
    if (key === "Enter") this.#list(name);
    else if (!move || (name !== "heat" && move.up)) return false;
    else this.#move(name, series, move);
    this.draw();
    return true;
  }

  /** @param {Name} name @param {SeriesObject} series @param {Move} move */
  #move(name, series, { right, up }) {
    const columns = this.scene?.answer.columns ?? 1;
    /** @param {number} value @param {number} most */
    const within = (value, most) => Math.max(0, Math.min(most, value));
    if (name === "spectrum") {
      this.point = within((this.point ?? -1) + right, series.spectrum.length - 1);
    } else if (name === "over") {
      this.column = within((this.column ?? -1) + right, columns - 1);
    } else if (!this.cell) {
      // The slowest of all is where one looks first.
      this.cell = series.cells.reduce((best, one) => (one[1] > best[1] ? one : best)).slice(0, 2);
    } else {
      const { first, last } = this.maps.heat ?? { first: 0, last: 0 };
      const [column, row] = this.cell;
      this.cell = [within(column + right, columns - 1),
        Math.max(first, Math.min(last, row + up))];
    }
  }
}

/** @param {Lengths} of */
const lengths = ({ min, max }) => (min === max ? duration(max)
  : `${duration(min)} to ${duration(max)}`);

/**
 * A percentile with as many nines as it has.
 * @param {number} percent
 */
function percentOf(percent) {
  if (percent >= 100) return "100 %";
  const places = Math.max(0, Math.ceil(-Math.log10(100 - percent)) + 1);
  return percent < 90 ? `${digits(percent)} %` : `${percent.toFixed(places)} %`;
}
