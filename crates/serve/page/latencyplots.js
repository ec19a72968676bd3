// The three plots of the durations of a name: what they tell of what is under the pointer, the
// range of time that is chosen in them, and the cell or bucket whose durations are listed.

import { byId, make, setText } from "./dom.js";
import { drawHeat, drawOverTime, drawSpectrum, LINES } from "./latencydraw.js";
import { listenPlot } from "./latencyinput.js";
import { counted, digits } from "./text.js";
import { dateAndTime, duration } from "./time.js";

const HINTS = {
  over: "drag to choose a range of time",
  heat: "click on a cell to list its durations; drag to choose a range of time",
  spectrum: "click to list the durations up to the next percentile",
};

export class LatencyPlots {
  /** `range(from, to)` narrows the time; `list(where)` lists durations. */
  constructor({ range, list }) {
    Object.assign(this, { range, list });
    this.scene = null;
    this.maps = {};
    this.clear();
    for (const name of ["over", "heat", "spectrum"]) this.#listen(name);
    byId("over-legend").append(...LINES.map(([text, , tint]) => make("span", {
      class: `k${tint}`, text: `— ${text}` })));
  }

  /** Forgets what was chosen in the plots. */
  clear() {
    Object.assign(this, { column: null, cell: null, point: null, mark: null });
  }

  #listen(name) {
    const canvas = byId(`plot-${name}`);
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

  /** Shows the plots of a scene: the answer, the series, and the range of time. */
  show(scene) {
    const of = ({ answer, series }) => [answer.from, answer.to, answer.columns, answer.rows.join(),
      series?.id].join();
    if (!this.scene || of(scene) !== of(this.scene)) this.clear();
    this.scene = scene;
    this.draw();
  }

  draw() {
    const { scene, cell, point, mark } = this;
    if (!scene) return;
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

  #hover(name, x, y) {
    const maps = this.maps[name];
    if (!maps || !this.scene.series) return;
    if (name === "over") this.column = maps.columnOf(x);
    else if (name === "heat") this.cell = [maps.columnOf(x), maps.rowAt(y)];
    else this.point = maps.pointAt(x);
    this.draw();
  }

  #brush(name, one, other) {
    const maps = this.maps[name];
    this.mark = null;
    const { from, span } = this.scene;
    const at = (x) => from + BigInt(Math.round(maps.shareOf(x) * span));
    const [begin, end] = [at(Math.min(one, other)), at(Math.max(one, other))];
    if (begin < end) this.range(begin, end);
    else this.draw();
  }

  /** The times of a column, exactly as the server parts them. */
  #times(column) {
    const { answer: { from, to, columns } } = this.scene;
    const at = (number) => from + ((to - from) * BigInt(number) + BigInt(columns) - 1n)
      / BigInt(columns);
    return { from: at(column), to: at(column + 1) };
  }

  get #heatCell() {
    const [column, row] = this.cell;
    const { answer: { rows }, series } = this.scene;
    const count = series.cells.find(([c, r]) => c === column && r === row)?.[2] ?? 0;
    return { ...this.#times(column), min: rows[row], max: rows[row + 1] - 1, count };
  }

  get #bucket() {
    const points = this.scene.series.spectrum;
    const { value, count, percent } = points[this.point];
    const min = this.point ? points[this.point - 1].value + 1 : 0;
    return { from: this.#from, to: this.#to, min, max: value, count, percent };
  }

  get #from() {
    return this.scene.answer.from;
  }

  get #to() {
    return this.scene.answer.to;
  }

  #list(name) {
    if (name === "over" || !this.scene?.series) return;
    if (name === "heat" && this.cell) {
      const { count, ...where } = this.#heatCell;
      if (count) this.list({ ...where, said: lengths(where) });
    } else if (name === "spectrum" && this.point !== null) {
      const { count, percent, ...where } = this.#bucket;
      this.list({ ...where, said: lengths(where) });
    }
  }

  #tell() {
    const { scene } = this;
    setText(byId("said-over"), this.column === null ? HINTS.over : this.#ofColumn());
    const cell = this.cell && scene.series ? this.#heatCell : null;
    setText(byId("said-heat"), cell ? `${counted(cell.count, "duration")} of ${lengths(cell)}, in `
      + `${duration(cell.to - cell.from)} from ${dateAndTime(cell.from)}` : HINTS.heat);
    const bucket = this.point !== null && scene.series?.spectrum[this.point] ? this.#bucket : null;
    setText(byId("said-spectrum"), bucket ? `${percentOf(bucket.percent)} take at most `
      + `${duration(bucket.max)}; ${counted(bucket.count, "duration")} of ${lengths(bucket)}`
      : HINTS.spectrum);
  }

  #ofColumn() {
    const { from, to } = this.#times(this.column);
    const when = `${duration(to - from)} from ${dateAndTime(from)}`;
    const found = this.scene.series?.over_time.find(([column]) => column === this.column);
    if (!found) return `no duration in ${when}`;
    const parts = LINES.toReversed().map(([name, at]) => `${name} ${duration(found[at])}`);
    return `${counted(found[1], "duration")}: ${parts.join(", ")}; ${when}`;
  }

  /** Narrows or widens the range of time, around the column or the cell that is marked. */
  zoom(factor) {
    if (!this.scene) return;
    const { answer: { columns }, from, span, start } = this.scene;
    const column = this.cell?.[0] ?? this.column ?? columns / 2;
    const wide = Math.max(1000, span * factor);
    const begin = from + BigInt(Math.round(((column + 0.5) / columns) * (span - wide)));
    this.range(begin > start ? begin : start, begin + BigInt(Math.round(wide)));
  }

  /** Handles a key that a plot with the focus gets; says whether it was one. */
  key(key, target) {
    const name = target.id?.startsWith("plot-") ? target.id.slice(5) : null;
    if (!name || !this.scene?.series) return false;
    const moves = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
    if (key === "Enter") this.#list(name);
    else if (!moves[key] || (name !== "heat" && moves[key][1])) return false;
    else this.#move(name, ...moves[key]);
    this.draw();
    return true;
  }

  #move(name, right, up) {
    const { answer: { columns }, series } = this.scene;
    const within = (value, most) => Math.max(0, Math.min(most, value));
    if (name === "spectrum") {
      this.point = within((this.point ?? -1) + right, series.spectrum.length - 1);
    } else if (name === "over") {
      this.column = within((this.column ?? -1) + right, columns - 1);
    } else if (!this.cell) {
      // The slowest of all is where one looks first.
      this.cell = series.cells.reduce((best, one) => (one[1] > best[1] ? one : best)).slice(0, 2);
    } else {
      const { first, last } = this.maps.heat;
      const [column, row] = this.cell;
      this.cell = [within(column + right, columns - 1),
        Math.max(first, Math.min(last, row + up))];
    }
  }
}

const lengths = ({ min, max }) => (min === max ? duration(max)
  : `${duration(min)} to ${duration(max)}`);

/** A percentile with as many nines as it has. */
function percentOf(percent) {
  if (percent >= 100) return "100 %";
  const places = Math.max(0, Math.ceil(-Math.log10(100 - percent)) + 1);
  return percent < 90 ? `${digits(percent)} %` : `${percent.toFixed(places)} %`;
}
