// The tracks of a log: time from left to right, a row for each thread or core.

import { getJson, isAbort, ofLog } from "./api.js";
import { byId, debounced, eachFrame, setBusy, setText } from "./dom.js";
import { onPrefs } from "./prefs.js";
import { SpanData } from "./spandata.js";
import { set, state } from "./state.js";
import { showError, showPart } from "./status.js";
import { counted, visible } from "./text.js";
import { onColours } from "./theme.js";
import { asFilter, dateAndTime, duration } from "./time.js";
import { TrackData } from "./trackdata.js";
import { drawTracks, layout, STRIP } from "./trackdraw.js";
import { listen } from "./trackinput.js";
import { cellAt, isAmongBars, rowAt, spanCellAt, Tip } from "./tracktip.js";
import { between, endOf, moved, timeAt, whole, within, zoomed } from "./window.js";

export class TracksView {
  #counting = null;

  /** `lines(from, to)` shows the lines of a range. */
  constructor({ lines }) {
    this.lines = lines;
    this.section = byId("tracks");
    this.canvas = byId("canvas");
    this.tip = new Tip(byId("tip"), (cell) => this.#eventOf(cell));
    this.log = null;
    this.view = null;
    this.scroll = 0;
    this.pointer = null;
    this.hoverRow = -1;
    this.brush = null;
    this.selected = null;
    /** The line whose time is to be brought into sight once it is known. */
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
    for (const by of ["thread", "core"]) {
      byId(`by-${by}`).addEventListener("click", () => set({ by }));
    }
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
    for (const by of ["thread", "core"]) {
      byId(`by-${by}`).setAttribute("aria-pressed", String(state.by === by));
    }
    this.draw();
  }

  /** The window of the address is another one. */
  moved() {
    if (state.from === null) {
      this.revealing = null;
      this.view = null;
    } else if (!this.view || String(this.view.from) !== state.from
      || String(endOf(this.view)) !== state.to) {
      this.revealing = null;
      this.view = between(BigInt(state.from), BigInt(state.to));
    }
    this.draw();
  }

  /** The log has grown: while it is followed, its end stays in sight. */
  grown(following) {
    if (!this.log.range || this.section.hidden) return;
    const end = this.log.range.to;
    if (following && this.view && this.ended !== undefined && endOf(this.view) >= this.ended) {
      this.view = { ...this.view, from: end - BigInt(Math.round(this.view.span * 0.98)) };
    }
    this.ended = end;
    this.data.refresh();
    this.draw();
  }

  /**
   * The selected line is another one: marks where in time it is. With `reveal`, the window moves
   * there, unless it is moved otherwise before the time of the line is known.
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

  #reveal(time) {
    this.revealing = null;
    if (!this.view || !this.log.range) return;
    if (time >= this.view.from && time <= endOf(this.view)) return;
    const from = time - BigInt(Math.round(this.view.span / 2));
    this.#show(within({ ...this.view, from }, this.log.range));
  }

  zoom(factor, share = this.pointer === null ? 0.5 : this.#share(this.pointer)) {
    if (this.view) this.#show(zoomed(this.view, factor, share, this.log.range));
  }

  pan(share) {
    if (this.view) this.#show(moved(this.view, share, this.log.range));
  }

  /** Shows the whole log. */
  fit() {
    this.revealing = null;
    this.view = null;
    set({ from: null, to: null });
    this.draw();
  }

  #show(view) {
    this.revealing = null;
    this.view = view;
    this.keep();
    // What is missing is asked for at once, not only when the next frame is drawn.
    if (this.place) this.data.want(view, this.place.plot);
    this.draw();
  }

  #keep() {
    if (!this.view) return;
    const all = whole(this.log.range);
    const same = this.view.from === all.from && this.view.span === all.span;
    set(same ? { from: null, to: null }
      : { from: String(this.view.from), to: String(endOf(this.view)) });
  }

  #share(x) {
    return Math.max(0, Math.min(1, (x - this.place.gutter) / this.place.plot));
  }

  #rows(pixels) {
    this.scroll = Math.max(0, Math.min(this.place.most, this.place.top + pixels));
    this.draw();
  }

  #jump(x) {
    const { from, to } = this.log.range;
    const at = timeAt({ from, span: Number(to - from) }, this.#share(x));
    const view = { ...this.view, from: at - BigInt(Math.round(this.view.span / 2)) };
    this.#show(within(view, this.log.range));
  }

  #named(rows) {
    return [...rows.values()].map((row) => {
      const { key, tid, pid, core } = row;
      const process = row.process ?? pid;
      if (state.by === "core") {
        return { key, row, name: row.name ?? (core === null ? "no core" : `core ${core}`),
          title: "", process: null };
      }
      return { key, row, process, name: visible(row.name ?? (tid === null ? "?" : String(tid))),
        title: [tid, pid !== null && pid !== tid ? `of ${pid}` : null]
          .filter((part) => part !== null && part !== undefined).join(" ") };
    });
  }

  #draw() {
    if (this.section.hidden || !this.log) return;
    const range = this.log.range;
    byId("no-times").hidden = range !== null || !this.log.info;
    this.canvas.hidden = range === null;
    if (!range) return;
    this.view ??= state.from !== null ? between(BigInt(state.from), BigInt(state.to))
      : whole(range);
    this.ended ??= range.to;
    const { clientWidth: width, clientHeight: height } = byId("plot");
    const scale = devicePixelRatio || 1;
    const [w, h] = [Math.round(width * scale), Math.round(height * scale)];
    if (this.canvas.width !== w || this.canvas.height !== h) {
      [this.canvas.width, this.canvas.height] = [w, h];
    }
    const context = this.canvas.getContext("2d", { alpha: false });
    context.setTransform(scale, 0, 0, scale, 0, 0);
    this.spans.refresh();
    this.place = layout(width, height, this.#named(this.data.rows), this.scroll,
      this.spans.lanes);
    this.data.want(this.view, this.place.plot);
    this.answer = this.data.best(this.view);
    // Of more events than can be counted one by one, there are too many spans to be seen.
    if (this.answer) {
      this.spans.want(this.view, this.place.plot, this.data.question, this.answer.exact);
    }
    this.font ??= getComputedStyle(this.canvas).fontFamily;
    drawTracks(context, {
      layout: this.place, view: this.view, answer: this.answer, spans: this.spans,
      whole: this.data.whole, range,
      dim: this.answer !== null && this.answer.question.by !== this.data.question.by,
      hoverRow: this.hoverRow, brush: this.brush, selected: this.selected, pointer: this.pointer,
      font: this.font,
    });
    this.#around();
  }

  #around() {
    const busy = this.data.busy || !this.answer;
    setBusy(byId("plot"), busy);
    const exact = this.answer?.exact ?? true;
    const unknown = this.answer?.unknown ?? 0;
    showPart("place", `${duration(this.view.span)} from ${dateAndTime(this.view.from)}`
      + (exact ? "" : ", counts are spread evenly over runs of events")
      + (unknown ? `, ${counted(unknown, "event")} of an unknown process left out` : ""));
    const { count, left } = this.spans;
    showPart("spans", left ? `${counted(left, "span")} too short to be drawn` : "");
    setText(byId("tracks-said"), `${counted(this.place.rows.length, "row")}, `
      + (count ? `${counted(count, "span")}, ` : "")
      + `${duration(this.view.span)} from ${dateAndTime(this.view.from)}`);
  }

  #hover(x, y) {
    if (!this.place) return;
    this.pointer = x;
    this.hoverRow = rowAt(this.place, y);
    this.tip.show(this.#cellAt(x, y), x, y);
    this.draw();
  }

  #cellAt(x, y) {
    if (!this.place) return null;
    return spanCellAt(this, x, y) ?? (isAmongBars(this.place, y) ? null : cellAt(this, x, y));
  }

  #leave() {
    this.pointer = null;
    this.hoverRow = -1;
    this.tip.hide();
    this.draw();
  }

  // The first event of a cell.
  async #eventOf({ from, cells, span }) {
    const own = state.by === "core" ? ["core", cells.core] : ["thread", cells.tid ?? cells.name];
    // A span may have begun on another core than it ended.
    if (span && state.by === "core") own[1] = null;
    const others = state.filters.filter(([name]) => !["since", "until", own[0]].includes(name));
    const asked = [...others, ["since", asFilter(from)], ["until", asFilter(from + 1n)],
      ["limit", 1]];
    if (own[1] !== null && own[1] !== undefined) asked.push(own);
    const said = await getJson(ofLog(this.log.id, "events"), asked, this.log.signal);
    return said.events[0] ?? null;
  }

  // Zooms to the span at a place; says whether there is one.
  #double(x, y) {
    const span = this.place && spanCellAt(this, x, y)?.span;
    if (!span) return false;
    const margin = BigInt(Math.ceil(span.length / 12) + 1);
    this.#show(between(span.begin - margin, span.end + margin));
    return true;
  }

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

  #brush(one, other, done) {
    const [left, right] = one < other ? [one, other] : [other, one];
    this.brush = { from: timeAt(this.view, this.#share(left)),
      to: timeAt(this.view, this.#share(right)) };
    if (done) this.#setBrush(this.brush);
    else this.tip.hide();
    this.draw();
  }

  /** Selects a range of time, and counts what is in it. */
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
      if (!isAbort(error)) setText(text, error.message);
    }
  }

  #showLines() {
    const { from, to } = this.brush ?? { from: this.view.from, to: endOf(this.view) };
    this.lines(from, to);
  }

  #zoomToBrush() {
    if (!this.brush) return;
    this.#show(between(this.brush.from, this.brush.to));
    this.#setBrush(null);
  }

  /** Handles a key; says whether it was one of this view. */
  key({ key }) {
    if (!this.view) return false;
    const actions = {
      "+": () => this.zoom(0.5), "=": () => this.zoom(0.5), w: () => this.zoom(0.5),
      "-": () => this.zoom(2), "−": () => this.zoom(2), s: () => this.zoom(2),
      ArrowLeft: () => this.pan(-0.15), a: () => this.pan(-0.15),
      ArrowRight: () => this.pan(0.15), d: () => this.pan(0.15),
      ArrowUp: () => this.#rows(-this.place.rowHeight), PageUp: () => this.pan(-0.9),
      ArrowDown: () => this.#rows(this.place.rowHeight), PageDown: () => this.pan(0.9),
      Home: () => this.fit(),
      End: () => this.#show(within({ ...this.view, from: this.log.range.to
        - BigInt(Math.round(this.view.span * 0.98)) }, this.log.range)),
      Enter: () => this.#showLines(), z: () => this.#zoomToBrush(),
      b: () => this.#setBrush(this.brush ? null
        : { from: timeAt(this.view, 0.25), to: timeAt(this.view, 0.75) }),
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
