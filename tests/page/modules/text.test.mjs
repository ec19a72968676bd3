// Numbers, sizes, times and messages as text.

import assert from "node:assert/strict";
import { test } from "node:test";

import { load } from "./load.mjs";

const { bytes, counted, percent, short, visible } = await load("data/text");
const { asFilter, dateAndTime, duration, fromFilter, parseTime, seconds } = await load("data/time");
const { prefs } = await load("data/prefs");

/** Each text is that of its value. */
function are(call, pairs) {
  for (const [value, text] of pairs) assert.equal(call(value), text, `of ${value}`);
}

test("numbers are short and have their nouns", () => {
  are(short, [[0, "0"], [0.5, "0.50"], [950, "950"], [12_345, "12.3 k"], [4_560_000, "4.56 M"], [2e9, "2.00 G"]]);
  are((value) => counted(value, "entry", "entries"), [[1, "1 entry"], [2_000, "2,000 entries"]]);
  are(bytes, [[null, ""], [undefined, ""], [17, "17 B"], [1024, "1.00 KiB"], [1536, "1.50 KiB"], [2 ** 50, "1024 TiB"]]);
  are(percent, [[0, "0.0 %"], [0.0001, "< 0.1 %"], [0.05, "5.0 %"], [1, "100 %"]]);
});

test("what cannot be seen has a sign", () => {
  are(visible, [["a\tb\nc", "a\tb\nc"], ["a\u0000", "a\u2400"], ["\u001b", "\u241b"], ["\u007f", "\u2421"], ["\u202e", "<U+202E>"],
    ["\u200b\ufeff", "<U+200B><U+FEFF>"], ["größe 😀", "größe 😀"]]);
});

test("durations have the unit that suits them", () => {
  are(duration, [[0, "0 ns"], [999, "999 ns"], [1_000, "1.00 µs"], [1_250_000n, "1.25 ms"], [-2e9, "-2.00 s"],
    [61e9, "1 min 01 s"], [3.6e12 * 3 + 3e11, "3 h 05 min"], [86400e9 * 2, "2 d 00 h"]]);
  are(seconds, [[0n, "+0.000000000"], [-1_500_000_000n, "-1.500000000"]]);
});

test("times are read as they are written", () => {
  prefs.zone = "utc";
  const near = 1_795_442_587_000_000_001n;
  assert.equal(dateAndTime(near), "2026-11-23 14:03:07.000000001");
  are((text) => parseTime(text, near), [["14:03:07", near - 1n], ["+1 ns", near + 1n], ["- 2h", near - 7_200_000_000_000n],
    ["2026-11-23", 1_795_392_000_000_000_000n], ["2026-11-23T15:03:07+0100", near - 1n], ["12:3", null], ["+", null]]);
  are(fromFilter, [[asFilter(near), near], ["@5", 5_000_000_000n], ["@", null], ["5", null], ["@1.0000000001", null]]);
});
