// Keeps what was fetched of a long list, within a bound, and fetches what is wanted of it.

/** After a failure, a chunk is not asked for again for so many ms. */
const REST = 2_000;

/**
 * Rows come in chunks of `size` rows. `load(start, count, signal)` fetches rows of one: an object
 * with `rows`, as many as there are, and a `weight`. When the list has grown, only the rest of a
 * chunk is fetched. The weights of what is kept do not exceed `bound`.
 */
export class Chunks {
  #kept = new Map();
  #running = new Map();
  #failed = new Map();
  #weight = 0;
  #tag = 0;

  constructor({ size, bound, load, changed, failed }) {
    Object.assign(this, { size, bound, load, changed, failed });
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

  /** The row of this number, if it is here. */
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
   */
  want(first, last, total, around = 0) {
    const from = Math.floor(Math.max(0, first) / this.size);
    const to = Math.floor(Math.max(0, Math.min(last, total - 1)) / this.size);
    for (const [index, { controller }] of this.#running) {
      if (index >= from - 1 && index <= to + 1) continue;
      controller.abort();
      this.#running.delete(index);
    }
    for (let index = Math.max(0, from - around); index <= to + around; index += 1) {
      if (index * this.size >= total) break;
      const chunk = this.#kept.get(index);
      if (chunk) {
        // The least recently wanted is the first of the map.
        this.#kept.delete(index);
        this.#kept.set(index, chunk);
      }
      if (!this.#whole(index, total)) this.#fetch(index);
    }
  }

  /** Waits until rows `first` to `last` are here, or could not be fetched. */
  async wait(first, last, total) {
    const from = Math.floor(Math.max(0, first) / this.size);
    const to = Math.floor(Math.max(0, last) / this.size);
    // A request that is on its way may be of a time when the list was shorter.
    for (const _ of [1, 2]) {
      this.want(first, last, total);
      for (let index = from; index <= to; index += 1) await this.#running.get(index)?.ended;
    }
  }

  #whole(index, total) {
    const rows = this.#kept.get(index)?.rows;
    return rows !== undefined && rows.length >= Math.min(this.size, total - index * this.size);
  }

  #fetch(index) {
    if (this.#running.has(index)) return;
    const failed = this.#failed.get(index);
    if (failed && performance.now() - failed < REST) return;
    const controller = new AbortController();
    const ended = this.#take(index, controller, this.#tag);
    this.#running.set(index, { controller, ended });
  }

  async #take(index, controller, tag) {
    try {
      const have = this.#kept.get(index)?.rows.length ?? 0;
      const start = index * this.size + have;
      const more = await this.load(start, this.size - have, controller.signal);
      if (tag !== this.#tag || controller.signal.aborted) return;
      this.#failed.delete(index);
      this.#keep(index, more, have);
    } catch (error) {
      if (controller.signal.aborted || tag !== this.#tag) return;
      this.#failed.set(index, performance.now());
      setTimeout(() => this.changed(), REST + 50);
      this.failed(error);
    } finally {
      if (this.#running.get(index)?.controller === controller) this.#running.delete(index);
    }
    this.changed();
  }

  #keep(index, more, behind) {
    const before = this.#kept.get(index);
    // What these rows follow may have had to make room meanwhile.
    if (behind && before?.rows.length !== behind) return;
    this.#kept.delete(index);
    this.#kept.set(index, before ? { rows: before.rows.concat(more.rows),
      weight: before.weight + more.weight } : more);
    this.#weight += more.weight;
    for (const [oldest, { weight }] of this.#kept) {
      if (this.#weight <= this.bound || oldest === index) break;
      this.#kept.delete(oldest);
      this.#weight -= weight;
    }
  }
}
