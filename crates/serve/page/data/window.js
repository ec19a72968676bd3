// The window of time that the tracks show: where it begins, as BigInt, and its span in ns.

/**
 * A window, and the range of a log, of which it shows a part.
 * @typedef {{ from: bigint, span: number }} Window
 * @typedef {{ from: bigint, to: bigint }} Range
 */

/** The shortest window, in ns. */
const SHORTEST = 20;

/**
 * The window of two times.
 * @param {bigint} from @param {bigint} to @returns {Window}
 */
export function between(from, to) {
  return { from, span: Math.max(SHORTEST, Number(to - from)) };
}

/**
 * The end of a window.
 * @param {Window} window
 */
export function endOf({ from, span }) {
  return from + BigInt(Math.round(span));
}

/**
 * The time at a share of a window.
 * @param {Window} window @param {number} share
 */
export function timeAt({ from, span }, share) {
  return from + BigInt(Math.round(span * share));
}

/**
 * A window that is `factor` times as long, with the same time at a share of it.
 * @param {Window} window @param {number} factor @param {number} share @param {Range} range
 */
export function zoomed(window, factor, share, range) {
  const longest = Math.max(SHORTEST, Number(range.to - range.from)) * 1.2;
  const span = Math.min(longest, Math.max(SHORTEST, window.span * factor));
  const from = timeAt(window, share) - BigInt(Math.round(span * share));
  return within({ from, span }, range);
}

/**
 * A window that is later by a share of its span.
 * @param {Window} window @param {number} share @param {Range} range
 */
export function moved(window, share, range) {
  return within({ ...window, from: timeAt(window, share) }, range);
}

/**
 * The window, or the nearest one in which a fifth of the log at least is seen, or all of it.
 * @param {Window} window @param {Range} range @returns {Window}
 */
export function within({ from, span }, range) {
  const room = BigInt(Math.round(span * 0.8));
  const first = range.from - room;
  const last = range.to + room - BigInt(Math.round(span));
  if (from < first) return { from: first, span };
  return { from: last > first && from > last ? last : from, span };
}

/**
 * The whole log with a margin.
 * @param {Range} range @returns {Window}
 */
export function whole(range) {
  const span = Math.max(SHORTEST * 10, Number(range.to - range.from));
  const margin = BigInt(Math.ceil(span * 0.01));
  return { from: range.from - margin, span: span + 2 * Number(margin) };
}
