// Turns numbers, sizes and messages into text that can be read.

/**
 * A whole number in groups of three digits.
 * @param {number | bigint} value
 */
export function number(value) {
  if (typeof value !== "bigint" && !Number.isFinite(value)) return "?";
  // Without Intl.NumberFormat, of which the first takes a tenth of the first screen.
  return String(value).replace(/\B(?=(\d{3})+$)/g, ",");
}

/**
 * A number with its noun: `1 event`, `2,000 events`.
 * @param {number} value @param {string} noun @param {string} [nouns]
 */
export function counted(value, noun, nouns = noun + "s") {
  return `${number(value)} ${value === 1 ? noun : nouns}`;
}

const SIZES = [{ size: 1e9, unit: " G" }, { size: 1e6, unit: " M" }, { size: 1e3, unit: " k" }];

/**
 * A number in few characters: `950`, `12.3 k`, `4.56 M`.
 * @param {number} value
 */
export function short(value) {
  for (const { size, unit } of SIZES) {
    if (value >= size) return digits(value / size) + unit;
  }
  return value < 10 && !Number.isInteger(value) ? value.toFixed(2) : String(Math.round(value));
}

/**
 * A size in bytes: `17 B`, `1.50 KiB`.
 * @param {number | null | undefined} value
 */
export function bytes(value) {
  if (value === null || value === undefined) return "";
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let unit = 0;
  let size = Number(value);
  while (size >= 1024 && unit < units.length - 1) {
    size /= 1024;
    unit += 1;
  }
  return `${unit === 0 ? size : digits(size)} ${units[unit]}`;
}

/**
 * A share of 1 as percent.
 * @param {number} share
 */
export function percent(share) {
  if (share > 0 && share < 0.001) return "< 0.1 %";
  return `${(share * 100).toFixed(share < 0.1 ? 1 : 0)} %`;
}

/**
 * Three significant digits, without an exponent.
 * @param {number} value
 */
export function digits(value) {
  return value.toFixed(value < 10 ? 2 : value < 100 ? 1 : 0);
}

// Characters that would not be seen, or that would turn the order of others around.
const hidden = new RegExp("[\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f\\u200b-\\u200f"
  + "\\u202a-\\u202e\\u2060-\\u2069\\ufeff]", "g");

/**
 * The text with a sign in the place of each character that cannot be seen.
 * @param {string} text
 */
export function visible(text) {
  return text.replace(hidden, (character) => {
    const code = character.charCodeAt(0);
    if (code < 0x20) return String.fromCharCode(0x2400 + code);
    if (code === 0x7f) return "\u2421";
    return `<U+${code.toString(16).toUpperCase().padStart(4, "0")}>`;
  });
}
