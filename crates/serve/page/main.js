// Starts the page, and has its parts follow what the address says is looked at.

// The first of all: its requests are under way while the other modules are made.
import { endEarly } from "./early.js";
import { getJson, isAbort } from "./api.js";
import { Chips } from "./chips.js";
import { Details } from "./details.js";
import { byId, setText } from "./dom.js";
import { Follow } from "./follow.js";
import { GoTo } from "./goto.js";
import { openHelp, startHelp } from "./help.js";
import { Hits } from "./hits.js";
import { focusView, startKeys } from "./keys.js";
import { LatencyView } from "./latencyview.js";
import { LinesView } from "./linesview.js";
import { Log } from "./log.js";
import { LogsView } from "./logsview.js";
import { Overview } from "./overview.js";
import { prefs } from "./prefs.js";
import { parametersOf, SearchBox } from "./searchbox.js";
import { addFilter, load, onState, set, state } from "./state.js";
import { clearMessage, showError, showMessage, showPart } from "./status.js";
import { nextTheme, rankCategories, startTheme } from "./theme.js";
import { asFilter } from "./time.js";
import { TracksView } from "./tracksview.js";

const VIEWS = ["logs", "lines", "tracks", "overview", "latency"];

let log = null;
/** What the server says of itself. */
let server = null;
const leave = () => focusView(state.view);
const filter = (name, value) => {
  if (state.view === "overview") set({ view: "lines" }, true);
  addFilter(name, value);
};

const hits = new Hits();
const lines = new LinesView({ hits, filter, left: () => follow.pause(), opened: toggleDetails });
const logs = new LogsView();
const details = new Details({ known: (line) => lines.all && lines.eventOf(line), filter });
const follow = new Follow({ toEnd: () => lines.scroller.toEnd() });
const search = new SearchBox({ hits, step, leave });
const chips = new Chips({ hits, leave });
const goTo = new GoTo({ eventOf: (line) => lines.eventOf(line), topLine: () => lines.topLine,
  went: () => { if (state.view !== "tracks") set({ view: "lines" }); } });

/** The views by name. Those of `LATER` are made when they are first shown. */
const viewOf = { logs, lines };

/** Makes the views that the first screen does not need. */
const LATER = {
  tracks: () => new TracksView({ lines: (from, to) => {
    const rest = state.filters.filter(([name]) => name !== "since" && name !== "until");
    const range = [["since", asFilter(from)], ["until", asFilter(to)]];
    set({ view: "lines", only: true, filters: [...rest, ...range] }, true);
  } }),
  overview: () => {
    const overview = new Overview({ filter, range: (from, to) => {
      set({ view: "tracks", from: String(from), to: String(to) }, true);
    } });
    overview.server = server;
    return overview;
  },
  latency: () => new LatencyView({ lines: ({ begin, end, tid, thread, key }) => {
    const range = [["since", asFilter(BigInt(begin.unix_ns))],
      ["until", asFilter(BigInt(end.unix_ns) + 1n)]];
    const whose = tid ?? thread;
    // Events that share a key may be of any thread.
    if (key === null && whose !== null) range.push(["thread", String(whose)]);
    set({ view: "lines", only: true, q: "", filters: range }, true);
  }, tracks: ({ begin, end }) => {
    const [from, to] = [BigInt(begin.unix_ns), BigInt(end.unix_ns)];
    const margin = (to - from) / 4n + 100n;
    const around = { from: String(from - margin), to: String(to + margin) };
    set({ view: "tracks", filters: [], ...around }, true);
  } }),
};

/** Makes a view that is shown for the first time; `reveal` as in `TracksView.select`. */
function makeView(name, reveal) {
  const view = LATER[name]();
  viewOf[name] = view;
  if (log) view.open(log);
  if (log && name === "tracks") {
    view.moved();
    view.select(state.line, reveal);
  }
  return view;
}

/** Selects the next (1) or previous (-1) hit. */
function step(direction) {
  if (!hits.active) return;
  if (!hits.lines.length) {
    showMessage(hits.running ? "Nothing has been found yet" : "Nothing was found");
    return;
  }
  const from = state.line ?? lines.topLine - (direction > 0 ? 1 : 0);
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

function toggleDetails() {
  if (state.line === null) lines.step(1);
  else prefs.details = !prefs.details;
}

/** Closes what is open, one thing after the other. */
function escape() {
  const open = document.querySelector(":popover-open");
  if (open) open.hidePopover();
  else if (state.view === "tracks" && viewOf.tracks?.escape()) return;
  else if (state.view === "latency" && viewOf.latency?.escape()) return;
  else if (details.isOpen) set({ line: null });
  else if (state.q) set({ q: "" }, true);
  else if (state.filters.length) set({ filters: [] }, true);
  else if (state.view === "logs" && state.log !== null) set({ view: "lines" });
}

const show = (view) => () => {
  if (state.log !== null || view === "logs") set({ view }, true);
};

function keys() {
  return {
    "/": () => search.focus(), g: () => goTo.open(), f: () => follow.toggle(), "?": openHelp,
    n: () => step(1), N: () => step(-1), F: () => chips.add(), t: nextTheme,
    h: () => set({ only: !state.only }), m: () => details.setMark(), Escape: escape,
    c: () => byId("columns").togglePopover(),
    1: show("lines"), 2: show("tracks"), 3: show("overview"), 4: show("latency"),
    0: show("logs"),
    End: (event) => {
      if (state.view !== "lines") return viewOf[state.view]?.key(event);
      if (log?.growing) follow.start();
      return lines.key(event);
    },
  };
}

async function open(id) {
  log?.close();
  hits.clear();
  indexed = true;
  const opened = new Log(id);
  log = opened;
  const { tracks, overview, latency } = viewOf;
  for (const part of [lines, tracks, overview, latency, details, chips]) part?.open(log);
  goTo.log = log;
  document.title = `${id} · timeline`;
  setText(byId("log-name"), id);
  log.addEventListener("info", () => { if (log === opened) known(); });
  log.addEventListener("grown", () => { if (log === opened) grown(); });
  log.addEventListener("anew", () => { if (log === opened) anew(); });
  log.addEventListener("definitions", () => {
    rankCategories(opened.definitions.map((one) => one.category).filter(Boolean));
    viewOf.overview?.draw();
  });
  const asked = state.line;
  if (parametersOf(state).length) find();
  try {
    await log.open();
    follow.open(opened, asked);
  } catch (error) {
    if (!isAbort(error)) showError(error, id);
  }
}

let indexed = true;

function known() {
  const { kind, growing } = log;
  const before = indexed;
  indexed = log.info.index?.state !== "building";
  if (indexed && !before) {
    // What was refused while the log was being indexed is asked again.
    if (hits.refused) find();
    if (state.view === "overview") viewOf.overview?.read();
  }
  const badge = byId("log-kind");
  badge.className = `kind kind-${kind}`;
  setText(badge, growing ? `${kind} ●` : kind);
  if (lines.all.count === 0 || !growing) lines.resized();
  follow.draw();
  viewOf.tracks?.draw();
  viewOf.overview?.draw();
  viewOf.latency?.draw();
}

/** While a log grows, its counts are read again after so many ms. */
const COUNTS_AGAIN = 2_000;
let extending = 0;
let counting = 0;

function grown() {
  if (follow.on) lines.advance();
  else lines.resized();
  follow.draw();
  viewOf.tracks?.grown(follow.on);
  viewOf.latency?.grown();
  extending ||= setTimeout(() => { extending = 0; hits.extend(); }, follow.on ? 60 : 500);
  counting ||= setTimeout(() => {
    counting = 0;
    if (state.view === "overview") viewOf.overview?.read();
  }, COUNTS_AGAIN);
}

async function anew() {
  try {
    await lines.anew(follow.on);
  } catch (error) {
    if (!isAbort(error)) showError(error);
  }
  viewOf.tracks?.grown(follow.on);
  viewOf.latency?.grown();
  hits.extend();
}

function find() {
  const parameters = parametersOf(state);
  clearMessage();
  if (parameters.length) hits.search(log, parameters);
  else hits.clear();
}

function showView(reveal = false) {
  for (const name of VIEWS) {
    byId(name).hidden = name !== state.view;
    byId(`tab-${name}`)?.setAttribute("aria-selected", String(name === state.view));
  }
  document.body.dataset.view = state.view;
  showPart("place", "");
  showPart("spans", "");
  const view = viewOf[state.view] ?? makeView(state.view, reveal);
  if (state.view === "logs") logs.read();
  else if (state.view === "overview" && log) view.read();
  else if (state.view === "latency") view.shown();
  else view.draw();
  if (!document.querySelector("dialog[open]") && document.activeElement === document.body) leave();
}

function changed(what, isOfAddress = false) {
  const { tracks, latency } = viewOf;
  const has = (...names) => names.some((name) => what.has(name));
  if (has("log") && state.log !== null) open(state.log);
  else if (log && has("q", "regex", "case", "filters")) find();
  if (has("only")) lines.switched();
  // A window that is given is kept, wherever the selected line is.
  const reveal = !has("from", "to") && !(isOfAddress && state.from !== null);
  if (has("view", "log")) showView(reveal);
  if (has("line", "log", "view")) {
    if (state.line !== null && log && has("line")) lines.show(state.line);
    lines.draw();
    if (state.view === "tracks" && log) tracks?.select(state.line, reveal);
    details.draw();
  }
  if (log && has("by", "filters")) tracks?.asked();
  if (log && has("from", "to")) tracks?.moved();
  if (log && !has("log") && has("from", "to", "what", "filters")) latency?.asked();
  if (has("series")) latency?.draw();
  search.draw();
  chips.draw();
}

function draw() {
  byId("log-name").addEventListener("click", show("logs"));
  for (const name of VIEWS) byId(`tab-${name}`)?.addEventListener("click", show(name));
  byId("details").addEventListener("keydown", (event) => {
    if (event.key === "Escape") leave();
  });
  startTheme();
  startHelp();
  startKeys(keys(), () => viewOf[state.view]);
}

async function start() {
  draw();
  onState(changed);
  load();
  if (state.log === null) set({ view: "logs" });
  showView();
  endEarly();
  try {
    server = await getJson("server");
    setText(byId("version"), server.version ?? "");
    const { overview } = viewOf;
    if (overview) overview.server = server;
    if (state.view === "overview" && log) overview?.read();
  } catch (error) {
    showError(error);
  }
  if (state.log !== null) return;
  await logs.read();
  if (logs.logs?.length === 1 && state.log === null) {
    set({ log: logs.logs[0].id, view: "lines" });
  }
}

start();
