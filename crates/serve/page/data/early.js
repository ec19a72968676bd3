// Asks for what the first screen shows, before the rest of the page is made.

import { askEarly, forgetEarly, ofLog, takeToken } from "./api.js";
import { AT_ONCE } from "./chunks.js";
import { parse } from "./state.js";

/**
 * The first line of those that are asked for with a line.
 * @param {number} line
 */
const firstOf = (line) => Math.floor(line / AT_ONCE) * AT_ONCE;

takeToken();
const { log, line } = parse(location.hash);
if (log !== null) {
  askEarly(ofLog(log, "lines"), { from: firstOf(line ?? 0), count: AT_ONCE });
  askEarly(ofLog(log));
}

/** The page has asked for all that it needs at first. */
export function endEarly() {
  forgetEarly();
}
