// The link that opens a source file in an editor, of a template that a reader can change.

import { prefs } from "../data/prefs.js";
import { make } from "./dom.js";

/**
 * The address of a place in a file by the template, or null if the template is of no use.
 * @param {string} path @param {number | null | undefined} line @param {string} [template]
 */
export function addressOf(path, line, template = prefs.editor) {
  const encoded = path.replace(/^\/+/, "").split("/").map(encodeURIComponent).join("/");
  const address = template.replaceAll("{path}", encoded).replaceAll("{line}", String(line ?? 1));
  // Only a scheme of an editor: what could run in this page is not one.
  return /^(?!javascript:|data:|blob:|vbscript:)[a-z][a-z0-9+.-]*:/i.test(address) ? address : null;
}

/**
 * A link to a place in a file.
 * @param {string} path @param {number | null | undefined} line
 */
export function sourceLink(path, line) {
  const text = line === null || line === undefined ? path : `${path}:${line}`;
  const href = addressOf(path, line);
  if (!href) return make("span", { text });
  return make("a", { href, text, title: "Open in the editor (its link can be set in the help)" });
}
