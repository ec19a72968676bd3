// Reads and writes times in nanoseconds since 1970, which are BigInt, and durations.

import { prefs } from "./prefs.js";
import { digits } from "./text.js";

const SECOND = 1_000_000_000n;

/** @param {number} value */
const two = (value) => String(value).padStart(2, "0");

/**
 * Date, time of day and nanoseconds of a time, each as text, in the zone that is chosen.
 * @param {bigint} ns
 */
export function split(ns) {
  let seconds = ns / SECOND;
  let nanos = ns % SECOND;
  if (nanos < 0n) {
    nanos += SECOND;
    seconds -= 1n;
  }
  const at = new Date(Number(seconds) * 1000);
  const utc = prefs.zone === "utc";
  const date = utc
    ? `${at.getUTCFullYear()}-${two(at.getUTCMonth() + 1)}-${two(at.getUTCDate())}`
    : `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
  const time = utc
    ? `${two(at.getUTCHours())}:${two(at.getUTCMinutes())}:${two(at.getUTCSeconds())}`
    : `${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`;
  return { date, time, nanos: String(nanos).padStart(9, "0") };
}

/**
 * Time of day with nanoseconds.
 * @param {bigint} ns
 */
export function timeOfDay(ns) {
  const { time, nanos } = split(ns);
  return `${time}.${nanos}`;
}

/**
 * Date and time with nanoseconds.
 * @param {bigint} ns
 */
export function dateAndTime(ns) {
  const { date, time, nanos } = split(ns);
  return `${date} ${time}.${nanos}`;
}

/**
 * Date and time to the second.
 * @param {bigint} ns
 */
export function dateAndSecond(ns) {
  const { date, time } = split(ns);
  return `${date} ${time}`;
}

/**
 * The distance between two times as seconds with nine digits, with its sign.
 * @param {bigint} ns
 */
export function seconds(ns) {
  const size = ns < 0n ? -ns : ns;
  return `${ns < 0n ? "-" : "+"}${size / SECOND}.${String(size % SECOND).padStart(9, "0")}`;
}

const LONG = [{ unit: 1e3, name: "µs" }, { unit: 1e6, name: "ms" }, { unit: 1e9, name: "s" }];

/**
 * A duration in the unit that suits it: `350 ns`, `1.25 ms`, `3 h 05 min`.
 * @param {bigint | number} ns
 */
export function duration(ns) {
  const size = Math.abs(Number(ns));
  const sign = Number(ns) < 0 ? "-" : "";
  if (size < 1e3) return `${sign}${Math.round(size)} ns`;
  for (const { unit, name } of LONG) {
    if (size < unit * (unit === 1e9 ? 60 : 1000)) return `${sign}${digits(size / unit)} ${name}`;
  }
  const all = Math.round(size / 1e9);
  const [days, hours, minutes] = [Math.floor(all / 86400), Math.floor(all / 3600) % 24,
    Math.floor(all / 60) % 60];
  if (days) return `${sign}${days} d ${two(hours)} h`;
  if (hours) return `${sign}${hours} h ${two(minutes)} min`;
  return `${sign}${minutes} min ${two(all % 60)} s`;
}

/**
 * A time as the filters `since` and `until` take it, exact to the nanosecond.
 * @param {bigint} ns
 */
export function asFilter(ns) {
  return `@${ns / SECOND}.${String(ns % SECOND).padStart(9, "0")}`;
}

/**
 * The time of a filter that `asFilter` made, else null.
 * @param {string} text
 */
export function fromFilter(text) {
  const match = /^@(\d+)(?:\.(\d{1,9}))?$/.exec(text);
  return match ? BigInt(match[1]) * SECOND + BigInt((match[2] ?? "").padEnd(9, "0")) : null;
}

/** @type {Record<string, bigint>} */
const UNITS = { ns: 1n, us: 1_000n, "µs": 1_000n, ms: 1_000_000n, s: SECOND, m: 60n * SECOND,
  min: 60n * SECOND, h: 3600n * SECOND, d: 86400n * SECOND };

/**
 * The time that a text names, or null. A time of day is one of the day of `near`; what begins
 * with `+` or `-` is a distance from `near`.
 * @param {string} text @param {bigint} near @returns {bigint | null}
 */
export function parseTime(text, near) {
  const exact = fromFilter(text.trim());
  if (exact !== null) return exact;
  const distance = /^([+-])\s*(\d+(?:\.\d+)?)\s*(ns|us|µs|ms|s|min|m|h|d)$/.exec(text.trim());
  if (distance) {
    const [, sign, count, unit] = distance;
    const [before, behind = ""] = count.split(".");
    const size = BigInt(before) * UNITS[unit]
      + BigInt(behind || 0) * UNITS[unit] / 10n ** BigInt(behind.length);
    return sign === "-" ? near - size : near + size;
  }
  const pattern = new RegExp("^(?:(\\d{4})-(\\d\\d?)-(\\d\\d?)(?:[T ]+|$))?"
    + "(?:(\\d\\d?):(\\d\\d)(?::(\\d\\d)(?:[.,](\\d{1,9}))?)?)?\\s*(Z|[+-]\\d\\d:?\\d\\d)?$");
  const match = pattern.exec(text.trim());
  if (!match || (!match[1] && !match[4])) return null;
  return ofDate(match, near);
}

/** @param {(string | undefined)[]} match @param {bigint} near */
function ofDate([, year, month, day, hour, minute, second, fraction, zone], near) {
  const today = split(near).date.split("-");
  const [y, mo, d] = [year ?? today[0], month ?? today[1], day ?? today[2]].map(Number);
  const [h, min, s] = [hour, minute, second].map((part) => Number(part ?? 0));
  const utc = zone !== undefined || prefs.zone === "utc";
  let at = utc ? Date.UTC(y, mo - 1, d, h, min, s) : new Date(y, mo - 1, d, h, min, s).getTime();
  if (zone && zone !== "Z") {
    const [hours, minutes] = [Number(zone.slice(1, 3)), Number(zone.slice(-2))];
    at -= (zone[0] === "-" ? -1 : 1) * (hours * 60 + minutes) * 60_000;
  }
  return BigInt(at) * 1_000_000n + BigInt((fraction ?? "").padEnd(9, "0"));
}
