// The tracks of a log: time from left to right, a row for each thread or core.

import { getJson, isAbort, ofLog } from "../data/api.js";
import { debounced } from "../data/debounced.js";
import { isKnown, notYet } from "../data/known.js";
import { onPrefs } from "../data/prefs.js";
import { SpanData } from "../data/spandata.js";
import { set, state } from "../data/state.js";
import { counted, visible } from "../data/text.js";
import { asFilter, dateAndTime, duration } from "../data/time.js";
import { TrackData } from "../data/trackdata.js";
import { between, endOf, moved, timeAt, whole, within, zoomed } from "../data/window.js";
import { byId, eachFrame, setBusy, setText } from "../draw/dom.js";
import { onColours } from "../draw/theme.js";
import { drawTracks, layout, STRIP } from "../draw/trackdraw.js";
import { messageOf, showError, showPart } from "../shell/status.js";
import { listen } from "./trackinput.js";
import { cellAt, isAmongBars, rowAt, spanCellAt, Tip } from "./tracktip.js";
/** @import { Word } from "../data/api.js" */
/** @import { Elements } from "../../types/elements.js" */
/** @import { Log } from "../data/log.js" */
/** @import { Answer, Cells } from "../data/trackdata.js" */
/** @import { Range, Window } from "../data/window.js" */
/** @import { Layout, Named } from "../draw/trackdraw.js" */
/** @import { Cell } from "./tracktip.js" */

/** What there is a row for. @type {["thread", "core"]} */
const BY = ["thread", "core"];

export class TracksView {
  /** @type {AbortController | null} */
  #counting = null;
  /** The last time of the log, when that was last looked at. @type {bigint | null} */
  #ended = null;
  #font = "";

  /**
   * `lines(from, to)` shows the lines of a range.
   * @param {{ lines: (from: bigint, to: bigint) => void }} parts
   */
  constructor({ lines }) {
    this.lines = lines;
    this.section = byId("tracks");
    this.canvas = byId("canvas");
    this.tip = new Tip(byId("tip"), (cell) => this.#eventOf(cell));
    /** @type {Log} */
    this.log = notYet();
    /** @type {Window | null} */
    this.view = null;
    /** Where things are, since they were drawn first. @type {Layout} */
    this.place = notYet();
    /** @type {Answer | null} */
    this.answer = null;
    this.scroll = 0;
    /** @type {number | null} */
    this.pointer = null;
    this.hoverRow = -1;
    /** @type {Range | null} */
    this.brush = null;
    /** @type {{ line: number, time: bigint } | null} */
    this.selected = null;
    /** The line whose time is to be brought into sight once it is known. @type {number | null} */
    this.revealing = null;
    this.brushing = false;
    this.draw = eachFrame(() => this.#draw());
    this.data = new TrackData(this.draw);
    this.spans = new SpanData(this.draw);
    this.keep = debounced(200, () => this.#keep());
    new ResizeObserver(this.draw).observe(byId("plot"));
    onColours(this.draw);
    onPrefs(this.draw);
    this.#buttons();
    listen(this.canvas, {
      strip: STRIP,
      isBrushing: () => this.brushing,
      zoom: (factor, x) => this.zoom(factor, this.#share(x)),
      pan: (pixels) => this.pan(pixels / this.place.plot),
      rows: (pixels) => this.#rows(pixels),
      brush: (from, to, done) => this.#brush(from, to, done),
      jump: (x) => this.#jump(x),
      hover: (x, y) => this.#hover(x, y),
      leave: () => this.#leave(),
      click: (x, y) => this.#click(x, y),
      double: (x, y) => this.#double(x, y),
    });
  }

  #buttons() {
    for (const by of BY) byId(`by-${by}`).addEventListener("click", () => set({ by }));
    /** @param {keyof Elements} id @param {() => void} action */
    const click = (id, action) => byId(id).addEventListener("click", action);
    click("zoom-in", () => this.zoom(0.5));
    click("zoom-out", () => this.zoom(2));
    click("zoom-all", () => this.fit());
    click("brushing", () => {
      this.brushing = !this.brushing;
      byId("brushing").setAttribute("aria-pressed", String(this.brushing));
    });
    click("brush-lines", () => this.#showLines());
    click("brush-zoom", () => this.#zoomToBrush());
    click("brush-close", () => this.#setBrush(null));
  }

  /** @param {Log} log */
  open(log) {
    this.log = log;
    this.view = null;
    this.#setBrush(null);
    this.selected = null;
    this.data.open(log);
    this.spans.open(log);
    this.asked();
  }

  /** The rows or the filters are other ones. */
  asked() {
    this.data.ask(state.by, state.filters);
    for (const by of BY) {
      byId(`by-${by}`).setAttribute("aria-pressed", String(state.by === by));
    }
    this.draw();
  }

  /** The window of the address is another one. */
  moved() {
    if (state.from === null || state.to === null) {
      this.revealing = null;
      this.view = null;
    } else if (!this.view || String(this.view.from) !== state.from
      || String(endOf(this.view)) !== state.to) {
      this.revealing = null;
      this.view = between(BigInt(state.from), BigInt(state.to));
    }
    this.draw();
  }

  /**
   * The log has grown: while it is followed, its end stays in sight.
   * @param {boolean} following
   */
  grown(following) {
    if (!this.log.range || this.section.hidden) return;
    const end = this.log.range.to;
    if (following && this.view && this.#ended !== null && endOf(this.view) >= this.#ended) {
      this.view = { ...this.view, from: end - BigInt(Math.round(this.view.span * 0.98)) };
    }
    this.#ended = end;
    this.data.refresh();
    this.draw();
  }

  /**
   * The selected line is another one: marks where in time it is. With `reveal`, the window moves
   * there, unless it is moved otherwise before the time of the line is known.
   * @param {number | null} line @param {boolean} reveal
   */
  async select(line, reveal) {
    this.revealing = null;
    if (line === null || this.selected?.line === line) {
      if (line === null) this.selected = null;
      this.draw();
      return;
    }
    if (reveal) this.revealing = line;
    try {
      const asked = { from: line, count: 1 };
      const said = await getJson(ofLog(this.log.id, "lines"), asked, this.log.signal);
      const event = said.lines[0];
      if (state.line !== line || !event?.unix_ns) return;
      this.selected = { line, time: BigInt(event.unix_ns) };
      if (this.revealing === line) this.#reveal(this.selected.time);
      this.draw();
    } catch (error) {
      if (!isAbort(error)) showError(error);
    }
  }

  /** @param {bigint} time */
  #reveal(time) {
    this.revealing = null;
    if (!this.view || !this.log.range) return;
    if (time >= this.view.from && time <= endOf(this.view)) return;
    const from = time - BigInt(Math.round(this.view.span / 2));
    this.#show(within({ ...this.view, from }, this.log.range));
  }

  /** @param {number} factor @param {number} [share] */
  zoom(factor, share = this.pointer === null ? 0.5 : this.#share(this.pointer)) {
    const { range } = this.log;
    if (this.view && range) this.#show(zoomed(this.view, factor, share, range));
  }

  /** @param {number} share */
  pan(share) {
    const { range } = this.log;
    if (this.view && range) this.#show(moved(this.view, share, range));
  }

  /** Shows the whole log. */
  fit() {
    this.revealing = null;
    this.view = null;
    set({ from: null, to: null });
    this.draw();
  }

  /** @param {Window} view */
  #show(view) {
    this.revealing = null;
    this.view = view;
    this.keep();
    // What is missing is asked for at once, not only when the next frame is drawn.
    if (this.place) this.data.want(view, this.place.plot);
    this.draw();
  }

  #keep() {
    const { range } = this.log;
    if (!this.view || !range) return;
    const all = whole(range);
    const same = this.view.from === all.from && this.view.span === all.span;
    set(same ? { from: null, to: null }
      : { from: String(this.view.from), to: String(endOf(this.view)) });
  }

  /** @param {number} x */
  #share(x) {
    return Math.max(0, Math.min(1, (x - this.place.gutter) / this.place.plot));
  }

  /** @param {number} pixels */
  #rows(pixels) {
    this.scroll = Math.max(0, Math.min(this.place.most, this.place.top + pixels));
    this.draw();
  }

  /** @param {number} x */
  #jump(x) {
    const { range } = this.log;
    if (!this.view || !range) return;
    const { from, to } = range;
    const at = timeAt({ from, span: Number(to - from) }, this.#share(x));
    const view = { ...this.view, from: at - BigInt(Math.round(this.view.span / 2)) };
    this.#show(within(view, range));
  }

  /** @param {Map<string, Cells>} rows @returns {Named[]} */
  #named(rows) {
    return [...rows.values()].map((row) => {
      const { key, tid, pid, core } = row;
      const process = row.process ?? pid;
      if (state.by === "core") {
        return { key, row, name: row.name ?? (isKnown(core) ? `core ${core}` : "no core"),
          title: "", process: null };
      }
      return { key, row, process, name: visible(row.name ?? String(tid ?? "?")),
        title: [tid, isKnown(pid) && pid !== tid ? `of ${pid}` : null].filter(isKnown).join(" ") };
    });
  }

  /**
   * The window: that of the address, if none has been chosen since, or the whole log.
   * @param {Range} range
   */
  #windowOf(range) {
    this.view ??= state.from !== null && state.to !== null
      ? between(BigInt(state.from), BigInt(state.to)) : whole(range);
    return this.view;
  }

  #draw() {
    if (this.section.hidden || !this.log) return;
    const range = this.log.range;
    byId("no-times").hidden = range !== null || !this.log.info;
    this.canvas.hidden = range === null;
    if (!range) return;
    const view = this.#windowOf(range);
    this.#ended ??= range.to;
    const { clientWidth: width, clientHeight: height } = byId("plot");
    const scale = devicePixelRatio || 1;
    const [w, h] = [Math.round(width * scale), Math.round(height * scale)];
    if (this.canvas.width !== w || this.canvas.height !== h) {
      [this.canvas.width, this.canvas.height] = [w, h];
    }
    const context = /** @type {CanvasRenderingContext2D} */ (
      this.canvas.getContext("2d", { alpha: false }));
    context.setTransform(scale, 0, 0, scale, 0, 0);
    this.spans.refresh();
    this.place = layout(width, height, this.#named(this.data.rows), this.scroll,
      this.spans.lanes);
    this.data.want(view, this.place.plot);
    this.answer = this.data.best(view);
    // Of more events than can be counted one by one, there are too many spans to be seen.
    if (this.answer) {
      this.spans.want(view, this.place.plot, this.data.question, this.answer.exact);
    }
    this.#font ||= getComputedStyle(this.canvas).fontFamily;
    drawTracks(context, {
      layout: this.place, view, answer: this.answer, spans: this.spans,
      whole: this.data.whole, range,
      dim: this.answer !== null && this.answer.question.by !== this.data.question.by,
      hoverRow: this.hoverRow, brush: this.brush, selected: this.selected, pointer: this.pointer,
      font: this.#font,
    });
    this.#around(view);
  }

  /** @param {Window} view */
  #around(view) {
    const busy = this.data.busy || !this.answer;
    setBusy(byId("plot"), busy);
    const exact = this.answer?.exact ?? true;
    const unknown = this.answer?.unknown ?? 0;
    showPart("place", `${duration(view.span)} from ${dateAndTime(view.from)}`
      + (exact ? "" : ", counts are spread evenly over runs of events")
      + (unknown ? `, ${counted(unknown, "event")} of an unknown process left out` : ""));
    const { count, left } = this.spans;
    showPart("spans", left ? `${counted(left, "span")} too short to be drawn` : "");
    setText(byId("tracks-said"), `${counted(this.place.rows.length, "row")}, `
      + (count ? `${counted(count, "span")}, ` : "")
      + `${duration(view.span)} from ${dateAndTime(view.from)}`);
  }

  /** @param {number} x @param {number} y */
  #hover(x, y) {
    if (!this.place) return;
    this.pointer = x;
    this.hoverRow = rowAt(this.place, y);
    this.tip.show(this.#cellAt(x, y), x, y);
    this.draw();
  }

  /** What is drawn, or null before anything is. */
  #seen() {
    const { place, view, answer, spans } = this;
    return place && view ? { place, view, answer, spans } : null;
  }

  /** @param {number} x @param {number} y */
  #cellAt(x, y) {
    const seen = this.#seen();
    if (!seen) return null;
    return spanCellAt(seen, x, y) ?? (isAmongBars(seen.place, y) ? null : cellAt(seen, x, y));
  }

  #leave() {
    this.pointer = null;
    this.hoverRow = -1;
    this.tip.hide();
    this.draw();
  }

  /**
   * The first event of a cell.
   * @param {Cell} cell
   */
  async #eventOf({ from, cells, span }) {
    const { by } = state;
    // A span may have begun on another core than it ended.
    const own = by === "thread" ? cells.tid ?? cells.name : span ? null : cells.core;
    const others = state.filters.filter(([name]) => !["since", "until", by].includes(name));
    /** @type {Word[][]} */
    const asked = [...others, ["since", asFilter(from)], ["until", asFilter(from + 1n)],
      ["limit", 1]];
    if (isKnown(own)) asked.push([by, own]);
    const said = await getJson(ofLog(this.log.id, "events"), asked, this.log.signal);
    return said.events[0] ?? null;
  }

  /**
   * Zooms to the span at a place; says whether there is one.
   * @param {number} x @param {number} y
   */
  #double(x, y) {
    const seen = this.#seen();
    const span = seen && spanCellAt(seen, x, y)?.span;
    if (!span) return false;
    const margin = BigInt(Math.ceil(span.length / 12) + 1);
    this.#show(between(span.begin - margin, span.end + margin));
    return true;
  }

  /** @param {number} x @param {number} y */
  async #click(x, y) {
    const cell = this.#cellAt(x, y);
    if (!cell) {
      if (this.brush) this.#setBrush(null);
      return;
    }
    try {
      const event = await this.#eventOf(cell);
      const line = event ? event.line ?? await this.log.lineOf(event)
        : await this.log.lineAt(cell.from);
      this.selected = { line, time: cell.from };
      set({ line });
      this.draw();
    } catch (error) {
      if (!isAbort(error)) showError(error);
    }
  }

  /** @param {number} one @param {number} other @param {boolean} done */
  #brush(one, other, done) {
    const { view } = this;
    if (!view) return;
    const [left, right] = one < other ? [one, other] : [other, one];
    this.brush = { from: timeAt(view, this.#share(left)), to: timeAt(view, this.#share(right)) };
    if (done) this.#setBrush(this.brush);
    else this.tip.hide();
    this.draw();
  }

  /**
   * Selects a range of time, and counts what is in it.
   * @param {Range | null} brush
   */
  async #setBrush(brush) {
    this.brush = brush;
    this.#counting?.abort();
    byId("brush").hidden = !brush;
    this.draw();
    if (!brush) return;
    const text = byId("brush-text");
    setText(text, `${duration(brush.to - brush.from)}, counting…`);
    this.#counting = new AbortController();
    try {
      const { count, exact } = await this.data.count(brush.from, brush.to, this.#counting.signal);
      setText(text, `${exact ? "" : "about "}${counted(count, "event")} in `
        + duration(brush.to - brush.from));
    } catch (error) {
      if (!isAbort(error)) setText(text, messageOf(error));
    }
  }

  #showLines() {
    const { view, brush } = this;
    if (brush) this.lines(brush.from, brush.to);
    else if (view) this.lines(view.from, endOf(view));
  }

  #zoomToBrush() {
    if (!this.brush) return;
    this.#show(between(this.brush.from, this.brush.to));
    this.#setBrush(null);
  }

  /**
   * Handles a key; says whether it was one of this view.
   * @param {{ key: string }} event
   */
  key({ key }) {
    const { view, log: { range } } = this;
    if (!view || !range) return false;
    /** @type {Record<string, () => void>} */
    const actions = {
      "+": () => this.zoom(0.5), "=": () => this.zoom(0.5), w: () => this.zoom(0.5),
      "-": () => this.zoom(2), "−": () => this.zoom(2), s: () => this.zoom(2),
      ArrowLeft: () => this.pan(-0.15), a: () => this.pan(-0.15),
      ArrowRight: () => this.pan(0.15), d: () => this.pan(0.15),
      ArrowUp: () => this.#rows(-this.place.rowHeight), PageUp: () => this.pan(-0.9),
      ArrowDown: () => this.#rows(this.place.rowHeight), PageDown: () => this.pan(0.9),
      Home: () => this.fit(),
      End: () => this.#show(within({ ...view,
        from: range.to - BigInt(Math.round(view.span * 0.98)) }, range)),
      Enter: () => this.#showLines(), z: () => this.#zoomToBrush(),
      b: () => this.#setBrush(this.brush ? null
        : { from: timeAt(view, 0.25), to: timeAt(view, 0.75) }),
    };
    const action = actions[key];
    action?.();
    return action !== undefined;
  }

  /** Takes back what is selected here; says whether there was something. */
  escape() {
    if (!this.brush) return false;
    this.#setBrush(null);
    return true;
  }
}
