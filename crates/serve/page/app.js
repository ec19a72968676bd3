// The page as a whole: has its parts follow what is looked at, and the log that is open.

import { getJson, isAbort } from "./data/api.js";
import { Hits } from "./data/hits.js";
import { Log } from "./data/log.js";
import { prefs } from "./data/prefs.js";
import { addFilter, onState, parametersOf, set, startState, state, VIEWS } from "./data/state.js";
import { byId, setText } from "./draw/dom.js";
import { nextTheme, rankCategories, startTheme } from "./draw/theme.js";
import { Chips } from "./shell/chips.js";
import { Details } from "./shell/details.js";
import { Follow } from "./shell/follow.js";
import { GoTo } from "./shell/goto.js";
import { openHelp, startHelp } from "./shell/help.js";
import { focusView, startKeys } from "./shell/keys.js";
import { SearchBox } from "./shell/searchbox.js";
import { clearMessage, showError, showMessage, showPart, startStatus } from "./shell/status.js";
import { makeLatency, makeOverview, makeTracks } from "./views/later.js";
import { LinesView } from "./views/linesview.js";
import { LogsView } from "./views/logsview.js";
/** @import { Changed, State, View } from "./data/state.js" */
/** @import { Action } from "./shell/keys.js" */
/** @import { ServerObject } from "../types/api.js" */

/** While a log grows, its counts are read again after so many ms. */
const COUNTS_AGAIN = 2_000;

/** The tab of a view, if it has one. @param {View} view */
const tabOf = (view) => document.getElementById(`tab-${view}`);

const leave = () => focusView(state.view);

/** @param {View} view */
const show = (view) => () => {
  if (state.log !== null || view === "logs") set({ view }, true);
};

/**
 * The views by name. Those that the first screen does not need are made when they are first shown.
 * @typedef {{ logs: LogsView, lines: LinesView, tracks?: ReturnType<typeof makeTracks>,
 *   overview?: ReturnType<typeof makeOverview>, latency?: ReturnType<typeof makeLatency> }} Views
 */

export class App {
  /** The log that is open. @type {Log | null} */
  #log = null;
  /** Whether it was indexed when that was last looked at. */
  #indexed = true;
  /** What the server says of itself. @type {ServerObject | null} */
  #server = null;
  #extending = 0;
  #counting = 0;
  #hits = new Hits();
  /** @type {Views} */
  #views;

  constructor() {
    const hits = this.#hits;
    /** @param {string} name @param {string} value */
    const filter = (name, value) => this.#filter(name, value);
    /** @param {number} direction */
    const step = (direction) => this.#step(direction);
    this.lines = new LinesView({ hits, filter, left: () => this.follow.pause(),
      opened: () => this.#toggleDetails() });
    this.logs = new LogsView();
    this.#views = { logs: this.logs, lines: this.lines };
    /** @param {number} line */
    const eventOf = (line) => this.lines.eventOf(line);
    this.details = new Details({ known: (line) => this.lines.all && eventOf(line), filter });
    this.follow = new Follow({ toEnd: () => this.lines.scroller.toEnd() });
    this.search = new SearchBox({ hits, step, leave });
    this.chips = new Chips({ hits, leave });
    this.goTo = new GoTo({ eventOf, topLine: () => this.lines.topLine,
      went: () => { if (state.view !== "tracks") set({ view: "lines" }); } });
  }

  /**
   * Shows what the address says. Calls `drawn` when all that is needed for it has been asked.
   * @param {() => void} drawn
   */
  async start(drawn) {
    this.#listen();
    onState((what, isOfAddress) => this.#changed(what, isOfAddress));
    startState();
    if (state.log === null) set({ view: "logs" });
    this.#showView();
    drawn();
    try {
      this.#server = await getJson("server");
      setText(byId("version"), this.#server.version);
      const { overview } = this.#views;
      if (overview) overview.server = this.#server;
      if (state.view === "overview" && this.#log) overview?.read();
    } catch (error) {
      showError(error);
    }
    if (state.log !== null) return;
    await this.logs.read();
    const { logs } = this.logs;
    if (logs?.length === 1 && state.log === null) set({ log: logs[0].id, view: "lines" });
  }

  #listen() {
    startStatus();
    byId("log-name").addEventListener("click", show("logs"));
    for (const name of VIEWS) tabOf(name)?.addEventListener("click", show(name));
    byId("details").addEventListener("keydown", (event) => {
      if (event.key === "Escape") leave();
    });
    startTheme();
    startHelp();
    startKeys(this.#keys(), () => this.#views[state.view]);
  }

  /** @returns {Record<string, Action>} */
  #keys() {
    /** @param {number} direction */
    const step = (direction) => () => this.#step(direction);
    return {
      "/": () => this.search.focus(), g: () => this.goTo.open(), f: () => this.follow.toggle(),
      n: step(1), N: step(-1), F: () => this.chips.add(), t: nextTheme, "?": openHelp,
      h: () => set({ only: !state.only }), m: () => this.details.setMark(),
      Escape: () => this.#escape(), c: () => byId("columns").togglePopover(),
      1: show("lines"), 2: show("tracks"), 3: show("overview"), 4: show("latency"),
      0: show("logs"),
      End: (event) => {
        if (state.view !== "lines") return this.#views[state.view]?.key(event);
        if (this.#log?.growing) this.follow.start();
        return this.lines.key(event);
      },
    };
  }

  /** @param {string} name @param {string} value */
  #filter(name, value) {
    if (state.view === "overview") set({ view: "lines" }, true);
    addFilter(name, value);
  }

  /**
   * Makes the view that is shown, if that is the first time; `reveal` as in `TracksView.select`.
   * @param {boolean} reveal
   */
  #makeView(reveal) {
    const [log, views] = [this.#log, this.#views];
    if (state.view === "tracks" && !views.tracks) {
      views.tracks = makeTracks();
      if (!log) return;
      views.tracks.open(log);
      views.tracks.moved();
      views.tracks.select(state.line, reveal);
    } else if (state.view === "overview" && !views.overview) {
      views.overview = makeOverview((name, value) => this.#filter(name, value));
      views.overview.server = this.#server;
      if (log) views.overview.open(log);
    } else if (state.view === "latency" && !views.latency) {
      views.latency = makeLatency();
      if (log) views.latency.open(log);
    }
  }

  /**
   * Selects the next (1) or previous (-1) hit.
   * @param {number} direction
   */
  #step(direction) {
    const hits = this.#hits;
    if (!hits.active) return;
    if (!hits.lines.length) {
      showMessage(hits.running ? "Nothing has been found yet" : "Nothing was found");
      return;
    }
    const from = state.line ?? this.lines.topLine - (direction > 0 ? 1 : 0);
    let place = direction > 0 ? hits.placeOf(from + 1) : hits.placeOf(from) - 1;
    if (place >= hits.lines.length) {
      if (hits.running || hits.limited) {
        showMessage("There may be more hits behind these");
        return;
      }
      place = 0;
      showMessage("From the first hit again");
    } else if (place < 0) {
      place = hits.lines.length - 1;
      showMessage("From the last hit again");
    }
    set({ line: hits.lines[place] });
  }

  #toggleDetails() {
    if (state.line === null) this.lines.step(1);
    else prefs.details = !prefs.details;
  }

  /** Closes what is open, one thing after the other. */
  #escape() {
    const { tracks, latency } = this.#views;
    const open = document.querySelector(":popover-open");
    if (open instanceof HTMLElement) open.hidePopover();
    else if (state.view === "tracks" && tracks?.escape()) return;
    else if (state.view === "latency" && latency?.escape()) return;
    else if (this.details.isOpen) set({ line: null });
    else if (state.q) set({ q: "" }, true);
    else if (state.filters.length) set({ filters: [] }, true);
    else if (state.view === "logs" && state.log !== null) set({ view: "lines" });
  }

  /** @param {string} id */
  async #open(id) {
    this.#log?.close();
    this.#hits.clear();
    this.#indexed = true;
    const log = new Log(id);
    this.#log = log;
    const { tracks, overview, latency } = this.#views;
    const parts = [this.lines, tracks, overview, latency, this.details, this.chips];
    for (const part of parts) part?.open(log);
    this.goTo.log = log;
    document.title = `${id} · timeline`;
    setText(byId("log-name"), id);
    /** @param {string} event @param {() => void} action */
    const whileOpen = (event, action) => log.addEventListener(event, () => {
      if (this.#log === log) action();
    });
    whileOpen("info", () => this.#known());
    whileOpen("grown", () => this.#grown());
    whileOpen("anew", () => this.#anew());
    log.addEventListener("definitions", () => {
      rankCategories(log.definitions.map((one) => one.category ?? "").filter(Boolean));
      this.#views.overview?.draw();
    });
    const asked = state.line;
    if (parametersOf(state).length) this.#find();
    try {
      await log.open();
      this.follow.open(log, asked);
    } catch (error) {
      if (!isAbort(error)) showError(error, id);
    }
  }

  #known() {
    if (!this.#log) return;
    const { kind, growing, info } = this.#log;
    const { tracks, overview, latency } = this.#views;
    const before = this.#indexed;
    this.#indexed = info?.index.state !== "building";
    if (this.#indexed && !before) {
      // What was refused while the log was being indexed is asked again.
      if (this.#hits.refused) this.#find();
      if (state.view === "overview") overview?.read();
    }
    const badge = byId("log-kind");
    badge.className = `kind kind-${kind}`;
    setText(badge, growing ? `${kind} ●` : String(kind));
    if (this.lines.all.count === 0 || !growing) this.lines.resized();
    this.follow.draw();
    tracks?.draw();
    overview?.draw();
    latency?.draw();
  }

  #grown() {
    const { follow } = this;
    if (follow.on) this.lines.advance();
    else this.lines.resized();
    follow.draw();
    this.#views.tracks?.grown(follow.on);
    this.#views.latency?.grown();
    this.#extending ||= setTimeout(() => {
      this.#extending = 0;
      this.#hits.extend();
    }, follow.on ? 60 : 500);
    this.#counting ||= setTimeout(() => {
      this.#counting = 0;
      if (state.view === "overview") this.#views.overview?.read();
    }, COUNTS_AGAIN);
  }

  async #anew() {
    try {
      await this.lines.anew(this.follow.on);
    } catch (error) {
      if (!isAbort(error)) showError(error);
    }
    this.#views.tracks?.grown(this.follow.on);
    this.#views.latency?.grown();
    this.#hits.extend();
  }

  #find() {
    const parameters = parametersOf(state);
    clearMessage();
    if (parameters.length && this.#log) this.#hits.search(this.#log, parameters);
    else this.#hits.clear();
  }

  #showView(reveal = false) {
    for (const name of VIEWS) {
      byId(name).hidden = name !== state.view;
      tabOf(name)?.setAttribute("aria-selected", String(name === state.view));
    }
    document.body.dataset.view = state.view;
    showPart("place", "");
    showPart("spans", "");
    this.#makeView(reveal);
    const { lines, tracks, overview, latency } = this.#views;
    if (state.view === "logs") this.logs.read();
    else if (state.view === "lines") lines.draw();
    else if (state.view === "tracks") tracks?.draw();
    else if (state.view === "latency") latency?.shown();
    else if (this.#log) overview?.read();
    else overview?.draw();
    const isFree = document.activeElement === document.body;
    if (!document.querySelector("dialog[open]") && isFree) leave();
  }

  /**
   * The state is another one: `what` are the names of what has changed in it.
   * @param {Changed} what @param {boolean} [isOfAddress]
   */
  #changed(what, isOfAddress = false) {
    const { lines } = this;
    /** @param {(keyof State)[]} names */
    const has = (...names) => names.some((name) => what.has(name));
    if (has("log") && state.log !== null) this.#open(state.log);
    else if (this.#log && has("q", "regex", "case", "filters")) this.#find();
    const log = this.#log;
    if (has("only")) lines.switched();
    // A window that is given is kept, wherever the selected line is.
    const reveal = !has("from", "to") && !(isOfAddress && state.from !== null);
    const { tracks, latency } = this.#views;
    if (has("view", "log")) this.#showView(reveal);
    if (has("line", "log", "view")) {
      if (state.line !== null && log && has("line")) lines.show(state.line);
      lines.draw();
      if (state.view === "tracks" && log) tracks?.select(state.line, reveal);
      this.details.draw();
    }
    if (log && has("by", "filters")) tracks?.asked();
    if (log && has("from", "to")) tracks?.moved();
    if (log && !has("log") && has("from", "to", "what", "filters")) latency?.asked();
    if (has("series")) latency?.draw();
    this.search.draw();
    this.chips.draw();
  }
}
