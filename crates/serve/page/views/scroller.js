// Where a list of any length is scrolled to: a row at the top and so many pixels of it.

/** A flick on a touch screen slows down by this share in each ms. */
const FRICTION = 0.004;

/** The browser's own scrolling ends at some ten million pixels, so the page scrolls by itself. */
export class Scroller {
  /** Ends what a finger does. @type {AbortController | null} */
  #flick = null;

  /**
   * `heightOf(row)` is the height of a row in pixels, `moved(byReader)` draws again.
   * @param {HTMLElement} element
   * @param {{ rowHeight: number, heightOf: (row: number) => number, moved: (byReader: boolean) =>
   *   void }} parts
   */
  constructor(element, { rowHeight, heightOf, moved }) {
    this.rowHeight = rowHeight;
    this.heightOf = heightOf;
    this.moved = moved;
    this.count = 0;
    this.height = 0;
    this.row = 0;
    this.px = 0;
    this.stick = false;
    element.addEventListener("wheel", (event) => this.#wheel(event), { passive: false });
    element.addEventListener("pointerdown", (event) => this.#touch(event));
    // Nothing but this class may scroll up or down, such as a search in the page.
    element.addEventListener("scroll", () => { if (element.scrollTop) element.scrollTop = 0; });
  }

  /** How many rows are seen as a whole. */
  get page() {
    return Math.max(1, Math.floor(this.height / this.rowHeight));
  }

  /** The place at which the last row ends at the lower edge. */
  #end() {
    let row = this.count;
    let room = this.height;
    while (row > 0 && room > 0) {
      row -= 1;
      room -= this.heightOf(row);
    }
    return { row, px: Math.max(0, -room) };
  }

  /** Brings the place within the list, and to its end if it sticks there. */
  settle() {
    if (!this.stick && this.row + this.page + 2 < this.count && this.row >= 0) return;
    const end = this.#end();
    const behind = this.row > end.row || (this.row === end.row && this.px > end.px);
    if (this.stick || behind) Object.assign(this, end);
    if (this.row < 0) Object.assign(this, { row: 0, px: 0 });
  }

  /** Whether the last row is seen, but for one pixel. */
  get atEnd() {
    const { row, px } = this.#end();
    if (this.row !== row - 1) return this.row > row || (this.row === row && this.px >= px - 1);
    return px === 0 && this.px >= this.heightOf(this.row) - 1;
  }

  /**
   * Moves by so many pixels, downwards if they are positive.
   * @param {number} pixels
   */
  moveBy(pixels) {
    let left = this.px + pixels;
    while (left < 0 && this.row > 0) {
      this.row -= 1;
      left += this.heightOf(this.row);
    }
    while (this.row < this.count && left >= this.heightOf(this.row)) {
      left -= this.heightOf(this.row);
      this.row += 1;
    }
    this.px = Math.max(0, left);
    this.#byReader();
  }

  /**
   * Brings a row to the top, to the middle, or just into sight; `own`: the reader wants it.
   * @param {number} row @param {"top" | "middle" | "near"} [where] @param {boolean} [own]
   */
  toRow(row, where = "top", own = true) {
    const last = this.row + this.page - 1;
    if (where === "near") {
      if (row >= this.row + (this.px ? 1 : 0) && row < last) return;
      if (row >= last) row = row - this.page + 2;
    } else if (where === "middle") {
      row -= Math.floor(this.page / 2);
    }
    this.row = Math.max(0, Math.round(row));
    this.px = 0;
    if (own) {
      this.#byReader();
    } else {
      this.settle();
      this.moved(false);
    }
  }

  /** Goes to the end and stays there while the list grows. */
  toEnd() {
    this.stick = true;
    this.moved(false);
  }

  #byReader() {
    const stuck = this.stick;
    this.stick = false;
    this.settle();
    this.stick = stuck && this.atEnd;
    this.moved(true);
  }

  /** @param {WheelEvent} event */
  #wheel(event) {
    const sideways = event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY);
    if (event.ctrlKey || sideways) return;
    event.preventDefault();
    const unit = [1, this.rowHeight, this.height][event.deltaMode];
    this.moveBy(event.deltaY * unit);
  }

  /** @param {PointerEvent} down */
  #touch(down) {
    if (down.pointerType !== "touch") return;
    this.#flick?.abort();
    const flick = new AbortController();
    this.#flick = flick;
    let [last, at, speed] = [down.clientY, down.timeStamp, 0];
    const options = { signal: flick.signal };
    addEventListener("pointermove", (event) => {
      if (event.pointerId !== down.pointerId) return;
      const moved = last - event.clientY;
      speed = 0.5 * speed + 0.5 * (moved / Math.max(1, event.timeStamp - at));
      [last, at] = [event.clientY, event.timeStamp];
      if (moved) this.moveBy(moved);
    }, options);
    /** @param {PointerEvent} event */
    const end = (event) => {
      if (event.pointerId !== down.pointerId) return;
      flick.abort();
      this.#flick = null;
      if (event.timeStamp - at < 60) this.#glide(speed);
    };
    addEventListener("pointerup", end, options);
    addEventListener("pointercancel", end, options);
  }

  /** @param {number} speed */
  #glide(speed) {
    let last = performance.now();
    /** @param {number} now */
    const step = (now) => {
      if (this.#flick || Math.abs(speed) < 0.02) return;
      const passed = Math.min(50, now - last);
      last = now;
      this.moveBy(speed * passed);
      speed *= Math.exp(-FRICTION * passed);
      requestAnimationFrame(step);
    };
    requestAnimationFrame(step);
  }
}
