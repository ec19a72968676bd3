// What the server tells, and what becomes of it.

import assert from "node:assert/strict";
import { test } from "node:test";

import { load, serve } from "./load.mjs";

globalThis.document = Object.assign(new EventTarget(), { hidden: false });

const { ApiError, getJson, isAbort, ofLog } = await load("data/api");
const { onNotices } = await load("data/notices");
const { Hits } = await load("data/hits");
const { Log } = await load("data/log");
const { AllLines } = await load("data/sources");
const { TrackData } = await load("data/trackdata");

/** What was told while `action` ran. */
const notices = [];
onNotices({ error: (error, what) => notices.push(`${what}: ${error.message ?? error}`),
  part: (name, text) => text && notices.push(`${name}: ${text}`) });
async function toldBy(action) {
  notices.length = 0;
  await action();
  return notices;
}

const STATE = { id: "a", name: "a", kind: "archive", path: "a", lines: 10, important: 0, version: 1, growing: false,
  index: { state: "there", done: 1 }, programs: [], first: { unix_ns: "5" }, last: { unix_ns: "9" }, missed: 0 };

test("a path is that of the description, and names are quoted", () => {
  assert.equal(ofLog("/a b", "lines"), "logs/%2Fa%20b/lines");
  assert.equal(ofLog("a"), "logs/a");
});

test("an answer that is an error has its status and says what is wrong", async () => {
  serve(() => Response.json({ error: "no such log" }, { status: 404 }));
  await assert.rejects(getJson("logs"), (error) => error instanceof ApiError && error.status === 404
    && error.message === "no such log");
  serve(() => { throw new TypeError("refused"); });
  await assert.rejects(getJson("logs"), (error) => error.status === 0);
  serve(() => ({}));
  await assert.rejects(getJson("logs", {}, AbortSignal.abort()), isAbort);
});

test("a search keeps its hits in order, and goes on where it ended", async () => {
  const asked = [];
  const counts = { density: [1, 1], done: 1, unknown_process: 0, unknown: [] };
  serve((path, query) => {
    asked.push(query.get("from"));
    if (query.get("from")) return [["hits", { lines: [7] }], ["end", { ...counts, found: 1, next: 10, limited: false }]];
    return [["hits", { lines: [4, 5] }], ["hits", { lines: [2] }],
      ["end", { ...counts, found: 3, next: 6, limited: true }]];
  });
  const hits = new Hits();
  await hits.search({ id: "a", last: null, version: 1 }, [["q", "x"]]);
  assert.deepEqual([hits.lines, hits.found, hits.limited, hits.running], [[2, 4, 5], 3, true, false]);
  await hits.more();
  assert.deepEqual([hits.lines, hits.found, hits.density, hits.limited], [[2, 4, 5, 7], 4, [2, 2], false]);
  assert.deepEqual(asked, [null, "6"]);
});

test("a search that fails says so, and that it was refused", async () => {
  serve(() => Response.json({ error: "busy" }, { status: 400 }));
  const hits = new Hits();
  const told = await toldBy(() => hits.search({ id: "a", last: null, version: 1 }, [["q", "x"]]));
  assert.deepEqual([told, hits.refused, hits.running], [["Search: busy"], false, false]);
  serve(() => [["error", { error: "the log is gone" }]]);
  assert.deepEqual(await toldBy(() => hits.search({ id: "a" }, [["q", "x"]])), ["Search: the log is gone"]);
});

test("a log tells what it is, and when it has grown or begun anew", async () => {
  let state = STATE;
  serve((path) => (path.endsWith("definitions") ? { definitions: [{ definition: 1 }] } : state));
  const log = new Log("a");
  const events = [];
  for (const name of ["info", "grown", "anew"]) log.addEventListener(name, () => events.push(name));
  await log.open();
  assert.deepEqual([log.lines, log.range, log.lacks.missed], [10, { from: 5n, to: 9n }, 0]);
  state = { ...STATE, lines: 12, last: { unix_ns: "11" } };
  await log.refresh();
  assert.deepEqual([log.lines, log.range.to], [12, 11n]);
  state = { ...STATE, version: 2, trouble: { error: "no room", waiting: 2 } };
  const told = await toldBy(() => log.refresh());
  assert.deepEqual(events, ["info", "grown", "info", "anew", "info"]);
  assert.deepEqual(told, ["trouble: no room (2 entries)"]);
  log.close();
});

test("an event of several lines is in each of its rows", async () => {
  const lines = [{ line: 0, lines: 1, message: "a" }, { line: 1, lines: 2, message: "b\nc" }];
  serve(() => ({ lines, total: 3, version: 1 }));
  const log = new Log("a");
  const all = new AllLines(log, () => {});
  all.count = 3;
  await all.chunks.wait(0, 2, 3);
  assert.deepEqual([0, 1, 2].map((row) => all.get(row)?.message), ["a", "b\nc", "b\nc"]);
});

test("tracks are asked once for the whole log and for a window, and fit what is asked", async () => {
  const asked = [];
  serve((path, query) => {
    asked.push(query.get("buckets"));
    const [from, to] = [query.get("from"), query.get("to")];
    return { from, to, buckets: Number(query.get("buckets")), exact: true, categories: ["net"], unknown: [],
      unknown_process: 0, rows: [{ key: "1", name: "t", tid: 1, pid: 1, process: null, core: null, count: 1,
        cells: [[0, 2, 0, 0, 0]] }] };
  });
  let changes = 0;
  const changed = new Promise((done) => {
    const data = new TrackData(() => { changes += 1; if (changes === 2) done(data); });
    data.open({ id: "a", range: { from: 1_000n, to: 2_000_000n } });
    data.want({ from: 1_000n, span: 1_000_000 }, 100);
  });
  const data = await changed;
  const best = data.best({ from: 1_000n, span: 1_000_000 });
  assert.ok(best.covers(1_000n, 1_001_000n) && data.isFresh(best) && !data.busy);
  assert.equal([...best.rows.values()][0].counts[0], 2);
  data.want({ from: 1_000n, span: 1_000_000 }, 100);
  assert.equal(asked.length, 2);
  // Two events in one cell are told apart by a closer look.
  data.want({ from: 1_000n, span: 10_000 }, 100);
  assert.equal(asked.length, 3);
});
