// The elements of the rows that are seen, which become those of other rows when these are not.

import { makeRow } from "./row.js";
/** @import { Column } from "./columns.js" */
/** @import { Node } from "./row.js" */

/** So many elements are kept for rows to come. */
const SPARE = 200;

export class Nodes {
  /** Those that are seen, by row. @type {Map<number, Node>} */
  #seen = new Map();
  /** @type {Node[]} */
  #spare = [];

  /** `rows` is the element that they are in. @param {HTMLElement} rows */
  constructor(rows) {
    this.rows = rows;
  }

  /** @param {number} row */
  has(row) {
    return this.#seen.has(row);
  }

  /** The first of those that are as it is asked for. @param {(node: Node) => boolean} is */
  find(is) {
    return [...this.#seen.values()].find(is);
  }

  /** Forgets all: there are other columns. */
  clear() {
    for (const node of this.#seen.values()) node.root.remove();
    this.#seen.clear();
    this.#spare = [];
  }

  /** All are to be filled anew. */
  afresh() {
    for (const node of this.#seen.values()) node.key = "";
  }

  /**
   * The elements of a row: its own, those of another one, or new ones.
   * @param {number} row @param {Column[]} columns
   */
  of(row, columns) {
    return this.#seen.get(row) ?? this.#spare.pop() ?? makeRow(columns);
  }

  /**
   * The elements of rows that are not seen any more become those of others. Behind a jump they do
   * so where they stand: to take all out and put them in again would have them laid out anew.
   * @param {number} first @param {number} end
   */
  recycle(first, end) {
    const gone = [...this.#seen].filter(([row]) => row < first || row >= end).reverse();
    const jumped = gone.length === this.#seen.size;
    for (const [row, node] of gone) {
      this.#seen.delete(row);
      this.#spare.push(node);
      if (!jumped) node.root.remove();
    }
  }

  /** Shows these, in their order. @param {Map<number, Node>} nodes */
  arrange(nodes) {
    for (const { root } of this.#spare) root.remove();
    this.#spare.length = Math.min(this.#spare.length, SPARE);
    this.#seen = nodes;
    let next = this.rows.firstChild;
    for (const { root } of nodes.values()) {
      if (root === next) next = next.nextSibling;
      else this.rows.insertBefore(root, next);
    }
  }
}
