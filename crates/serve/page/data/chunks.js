// Keeps what was fetched of a long list, within a bound, and fetches what is wanted of it.

/** Lines that are asked for at once. */
export const AT_ONCE = 100;

/** After a failure, a chunk is not asked for again for so many ms. */
const REST = 2_000;

/** Most chunks of one request: a window of rows stands in two of them more often than not. */
const TOGETHER = 2;

/**
 * A request for the chunks from `first` to `last`.
 * @typedef {{ first: number, last: number, controller: AbortController, ended: Promise<void> }}
 *   Request
 */

/**
 * Rows come in chunks of `size` rows. `load(start, count, signal)` fetches rows: as many as there
 * are. `weigh(rows)` is their weight. When the list has grown, only the rest of a chunk is fetched.
 * The weights of what is kept do not exceed `bound`.
 * @template Row
 */
export class Chunks {
  /** @type {Map<number, { rows: Row[], weight: number }>} */
  #kept = new Map();
  /** The requests that are on their way, by each of their chunks. @type {Map<number, Request>} */
  #running = new Map();
  /** @type {Map<number, number>} */
  #failed = new Map();
  #weight = 0;
  #tag = 0;

  /**
   * @param {{ size: number, bound: number, load: (start: number, count: number, signal:
   *   AbortSignal) => Promise<Row[]>, weigh: (rows: Row[]) => number, changed: () => void, failed:
   *   (error: unknown) => void }} parts
   */
  constructor({ size, bound, load, weigh, changed, failed }) {
    this.size = size;
    this.bound = bound;
    this.load = load;
    this.weigh = weigh;
    this.changed = changed;
    this.failed = failed;
  }

  /** Forgets everything. */
  clear() {
    for (const { controller } of this.#running.values()) controller.abort();
    this.#running.clear();
    this.#kept.clear();
    this.#failed.clear();
    this.#weight = 0;
    this.#tag += 1;
  }

  /**
   * The row of this number, if it is here.
   * @param {number} row @returns {Row | undefined}
   */
  get(row) {
    const index = Math.floor(row / this.size);
    return this.#kept.get(index)?.rows[row - index * this.size];
  }

  /** Whether requests are on their way. */
  get busy() {
    return this.#running.size > 0;
  }

  /**
   * Fetches the chunks of rows `first` to `last` of `total` that are not here, and ends requests
   * for what is far from them. `around` chunks more are fetched on each side.
   * @param {number} first @param {number} last @param {number} total @param {number} [around]
   */
  want(first, last, total, around = 0) {
    const from = Math.floor(Math.max(0, first) / this.size);
    const to = Math.floor(Math.max(0, Math.min(last, total - 1)) / this.size);
    for (const request of new Set(this.#running.values())) {
      if (request.last >= from - 1 && request.first <= to + 1) continue;
      request.controller.abort();
      this.#end(request);
    }
    /** @type {number[]} */
    let missing = [];
    const fetch = () => {
      if (missing.length) this.#fetch(missing[0], missing[missing.length - 1]);
      missing = [];
    };
    for (let index = Math.max(0, from - around); index <= to + around; index += 1) {
      if (index * this.size >= total) break;
      const chunk = this.#kept.get(index);
      if (chunk) {
        // The least recently wanted is the first of the map.
        this.#kept.delete(index);
        this.#kept.set(index, chunk);
      }
      const asks = !this.#whole(index, total) && !this.#running.has(index) && !this.#rests(index);
      // Of a chunk that is here in part, the rest is asked for: a request begins with it.
      if (!asks || chunk || missing.length === TOGETHER) fetch();
      if (asks) missing.push(index);
    }
    fetch();
  }

  /**
   * Waits until rows `first` to `last` are here, or could not be fetched.
   * @param {number} first @param {number} last @param {number} total
   */
  async wait(first, last, total) {
    const from = Math.floor(Math.max(0, first) / this.size);
    const to = Math.floor(Math.max(0, last) / this.size);
    // A request that is on its way may be of a time when the list was shorter.
    for (const _ of [1, 2]) {
      this.want(first, last, total);
      for (let index = from; index <= to; index += 1) await this.#running.get(index)?.ended;
    }
  }

  /** @param {number} index @param {number} total */
  #whole(index, total) {
    const rows = this.#kept.get(index)?.rows;
    return rows !== undefined && rows.length >= Math.min(this.size, total - index * this.size);
  }

  /** @param {number} index */
  #rests(index) {
    const failed = this.#failed.get(index);
    return failed !== undefined && performance.now() - failed < REST;
  }

  /** @param {number} first @param {number} last */
  #fetch(first, last) {
    /** @type {Request} */
    const request = { first, last, controller: new AbortController(), ended: Promise.resolve() };
    request.ended = this.#take(request, this.#tag);
    for (let index = first; index <= last; index += 1) this.#running.set(index, request);
  }

  /** @param {Request} request */
  #end(request) {
    for (let index = request.first; index <= request.last; index += 1) {
      if (this.#running.get(index) === request) this.#running.delete(index);
    }
  }

  /** @param {Request} request @param {number} tag */
  async #take(request, tag) {
    const { first, last, controller: { signal } } = request;
    try {
      const have = this.#kept.get(first)?.rows.length ?? 0;
      const start = first * this.size + have;
      const rows = await this.load(start, (last + 1) * this.size - start, signal);
      if (tag !== this.#tag || signal.aborted) return;
      for (let index = first; index <= last; index += 1) {
        const from = Math.max(0, index * this.size - start);
        const more = rows.slice(from, (index + 1) * this.size - start);
        this.#failed.delete(index);
        this.#keep(index, more, index === first ? have : 0);
      }
    } catch (error) {
      if (signal.aborted || tag !== this.#tag) return;
      for (let index = first; index <= last; index += 1) this.#failed.set(index, performance.now());
      setTimeout(() => this.changed(), REST + 50);
      this.failed(error);
    } finally {
      this.#end(request);
    }
    this.changed();
  }

  /** @param {number} index @param {Row[]} more @param {number} behind */
  #keep(index, more, behind) {
    const before = this.#kept.get(index);
    // What these rows follow may have had to make room meanwhile.
    if (behind && before?.rows.length !== behind) return;
    const weight = this.weigh(more);
    this.#weight += weight - (behind ? 0 : before?.weight ?? 0);
    this.#kept.delete(index);
    this.#kept.set(index, behind && before
      ? { rows: before.rows.concat(more), weight: before.weight + weight }
      : { rows: more, weight });
    for (const [oldest, { weight: freed }] of this.#kept) {
      if (this.#weight <= this.bound || oldest === index) break;
      this.#kept.delete(oldest);
      this.#weight -= freed;
    }
  }
}
