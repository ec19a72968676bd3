// What is looked at, and the address that says so.

import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";

import { load } from "./load.mjs";

/** What was done to the history of the browser. */
const pushed = [];
globalThis.history = { pushState: (...all) => pushed.push(all[2]), replaceState() {} };
globalThis.location = { hash: "", pathname: "/" };
globalThis.addEventListener = () => {};

const { addFilter, format, onState, parametersOf, parse, removeFilter, set, startState, state, VIEWS } =
  await load("data/state");

let told = [];
onState((changed, isOfAddress) => told.push([[...changed].sort(), isOfAddress === true]));

beforeEach(() => {
  location.hash = "";
  startState();
  told = [];
  pushed.length = 0;
});

test("each view has an address, and others are those of lines", () => {
  for (const view of VIEWS) assert.equal(parse(format({ ...state, view })).view, view);
  assert.equal(parse("#view=__proto__").view, "lines");
});

test("an address without meaning is the first state", () => {
  const first = parse("");
  for (const text of ["#line=-5&from=1", "#line=1e3", "#from=7&to=7", "#case=x&by=y", "#where=&nonesuch=5", "#%",
    "#constructor=5&toString=5&__proto__=5"]) {
    assert.deepEqual(parse(text), first, text);
  }
  assert.deepEqual(parse("#where=a&where=b&since=c").filters, [["where", "a"], ["where", "b"], ["since", "c"]]);
});

test("those who listen are told what has changed, and nothing else", () => {
  set({ line: 5, q: "" });
  set({ line: 5 });
  assert.deepEqual(told, [[["line"], false]]);
  location.hash = "#line=6&q=a";
  startState();
  assert.deepEqual(told.at(-1), [["line", "q"], true]);
});

test("a filter is there once, and those of time replace one another", () => {
  addFilter("category", "net");
  addFilter("category", "net");
  addFilter("since", "@1");
  addFilter("since", "@2");
  addFilter("category", "db");
  assert.deepEqual(state.filters, [["category", "net"], ["since", "@2"], ["category", "db"]]);
  removeFilter("category", "net");
  assert.deepEqual(state.filters, [["since", "@2"], ["category", "db"]]);
  assert.equal(pushed.at(-1), "#since=%402&category=db".replace("%40", "@"));
});

test("the server is asked for the query and the filters", () => {
  const of = { q: "", regex: true, case: "smart", filters: [["pid", "5"]] };
  assert.deepEqual(parametersOf(of), [["pid", "5"]]);
  assert.deepEqual(parametersOf({ ...of, q: "a" }),
    [["pid", "5"], ["q", "a"], ["case", "smart"], ["regex", "true"]]);
});
