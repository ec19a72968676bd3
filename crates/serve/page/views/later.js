// The views that the first screen does not need, each made when it is first shown.

import { isKnown } from "../data/known.js";
import { set, state } from "../data/state.js";
import { asFilter } from "../data/time.js";
import { LatencyView } from "./latencyview.js";
import { Overview } from "./overview.js";
import { TracksView } from "./tracksview.js";
/** @import { Filter } from "../data/state.js" */
/** @import { AddFilter } from "../draw/fields.js" */
/** @import { DurationObject } from "../../types/api.js" */

/**
 * Shows the lines of a range of time, with the filters that are of no time.
 * @param {bigint} from @param {bigint} to
 */
function linesOf(from, to) {
  const rest = state.filters.filter(([name]) => name !== "since" && name !== "until");
  /** @type {Filter[]} */
  const range = [["since", asFilter(from)], ["until", asFilter(to)]];
  set({ view: "lines", only: true, filters: [...rest, ...range] }, true);
}

/**
 * Shows the events of a duration.
 * @param {DurationObject} one
 */
function linesOfDuration({ begin, end, tid, thread, key }) {
  /** @type {Filter[]} */
  const range = [["since", asFilter(BigInt(begin.unix_ns))],
    ["until", asFilter(BigInt(end.unix_ns) + 1n)]];
  const whose = tid ?? thread;
  // Events that share a key may be of any thread.
  if (!isKnown(key) && isKnown(whose)) range.push(["thread", String(whose)]);
  set({ view: "lines", only: true, q: "", filters: range }, true);
}

/**
 * Shows where in time a duration is.
 * @param {DurationObject} one
 */
function tracksOfDuration({ begin, end }) {
  const [from, to] = [BigInt(begin.unix_ns), BigInt(end.unix_ns)];
  const margin = (to - from) / 4n + 100n;
  const around = { from: String(from - margin), to: String(to + margin) };
  set({ view: "tracks", filters: [], ...around }, true);
}

export const makeTracks = () => new TracksView({ lines: linesOf });

export const makeLatency = () => new LatencyView({ lines: linesOfDuration,
  tracks: tracksOfDuration });

/** `filter(name, value)` shows the events of a bar. @param {AddFilter} filter */
export const makeOverview = (filter) => new Overview({ filter, range: (from, to) => {
  set({ view: "tracks", from: String(from), to: String(to) }, true);
} });
