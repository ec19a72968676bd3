// The marks of an axis of time: at round times, from days to nanoseconds, with readable units.

import { split } from "../data/time.js";

const SECOND = 1e9;
const LONG = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200,
  86400].map((seconds) => seconds * SECOND);

/**
 * The distance of marks for a span in ns, of which so many fit.
 * @param {number} span @param {number} most
 */
function stepOf(span, most) {
  const least = span / Math.max(1, most);
  for (let unit = 1; unit < SECOND; unit *= 10) {
    for (const step of [unit, 2 * unit, 5 * unit]) if (step >= least) return step;
  }
  const long = LONG.find((step) => step >= least);
  if (long) return long;
  const days = least / (86400 * SECOND);
  const size = 10 ** Math.floor(Math.log10(days));
  const round = [1, 2, 5].map((one) => one * size).find((one) => one >= days) ?? 10 * size;
  return round * 86400 * SECOND;
}

/**
 * Below a second, marks count from the next greater unit, whose mark has the time itself.
 * @param {number} step
 */
function unitOf(step) {
  if (step >= 1e6) return { size: 1_000_000n, name: "ms", base: 1_000_000_000n, shown: 0 };
  if (step >= 1e3) return { size: 1_000n, name: "µs", base: 1_000_000n, shown: 3 };
  return { size: 1n, name: "ns", base: 1_000n, shown: 6 };
}

/**
 * Time of day with so many digits of the second.
 * @param {bigint} ns @param {number} digits
 */
function clock(ns, digits) {
  const { time, nanos } = split(ns);
  return digits ? `${time}.${nanos.slice(0, digits)}` : time;
}

/**
 * The marks from `from`, a BigInt, over `span` ns: each with its distance from `from` in ns, a
 * label, and whether it is one of a greater unit. `base` is what labels count from.
 * @param {bigint} from @param {number} span @param {number} most
 */
export function marks(from, span, most) {
  const step = stepOf(span, most);
  const size = BigInt(Math.round(step));
  const zone = step >= SECOND ? offsetOf(from) : 0n;
  const list = [];
  let at = ((from + zone) / size) * size - zone;
  if (at < from) at += size;
  for (; at <= from + BigInt(Math.ceil(span)); at += size) {
    list.push({ offset: Number(at - from), ...labelOf(at, step) });
  }
  const { date } = split(from);
  const base = step >= SECOND ? date : `${date} ${clock(from, unitOf(step).shown)}`;
  return { step, base, marks: list };
}

/** @param {bigint} at @param {number} step */
function labelOf(at, step) {
  if (step < SECOND) {
    const unit = unitOf(step);
    const rest = at % unit.base;
    if (rest === 0n) return { label: clock(at, unit.shown), major: true };
    return { label: `+${rest / unit.size} ${unit.name}`, major: false };
  }
  const { date, time } = split(at);
  if (time === "00:00:00") return { label: date, major: true };
  return { label: step >= 60 * SECOND ? time.slice(0, 5) : time, major: time.endsWith(":00:00") };
}

/**
 * Hours and days are marked where the clock on the wall has them.
 * @param {bigint} ns
 */
function offsetOf(ns) {
  const { date, time } = split(ns);
  const wall = BigInt(Date.parse(`${date}T${time}Z`)) * 1_000_000n;
  return wall - (ns / 1_000_000_000n) * 1_000_000_000n;
}

const OFFSETS = [{ name: "d", size: 86400 * SECOND }, { name: "h", size: 3600 * SECOND },
  { name: "min", size: 60 * SECOND }, { name: "s", size: SECOND }, { name: "ms", size: 1e6 },
  { name: "µs", size: 1e3 }];
const LEAST = { name: "ns", size: 1 };

/**
 * Marks of times as distances from a start: `from` is that of the left end, in ns. Each has its
 * share of the `span`, and a label.
 * @param {number} from @param {number} span @param {number} most
 */
export function offsetMarks(from, span, most) {
  const step = stepOf(span, most);
  const { name, size } = OFFSETS.find((one) => step >= one.size) ?? LEAST;
  const list = [];
  for (let offset = Math.ceil(from / step) * step - from; offset <= span; offset += step) {
    const count = Number(((from + offset) / size).toFixed(3));
    list.push({ share: offset / span, label: `${count.toLocaleString("en-US")} ${name}` });
  }
  return list;
}
