// The bar beside the lines, with a thumb to drag: also where the list is too long for one.

import { number } from "../data/text.js";

const SMALLEST_THUMB = 28;

export class Scrollbar {
  /**
   * `jump(row)` goes to a row.
   * @param {{ bar: HTMLElement, label: HTMLElement, jump: (row: number) => void }} parts
   */
  constructor({ bar, label, jump }) {
    this.bar = bar;
    this.label = label;
    this.jump = jump;
    this.thumb = /** @type {HTMLElement} */ (bar.querySelector(".thumb"));
    this.shown = { count: 0, row: 0, page: 1, text: "" };
    this.dragging = false;
    this.height = 0;
    new ResizeObserver(() => {
      this.height = bar.clientHeight;
      this.draw(this.shown);
    }).observe(bar);
    bar.addEventListener("pointerdown", (event) => this.#drag(event));
  }

  /**
   * Shows that of `count` rows those from `row` on are seen, `page` of them.
   * @param {{ count: number, row: number, page: number, text: string }} shown
   */
  draw(shown) {
    this.shown = shown;
    const { height } = this;
    const { count, row, page, text } = shown;
    const all = Math.max(count, page);
    const size = Math.min(height, Math.max(SMALLEST_THUMB, height * (page / all)));
    const top = (height - size) * Math.min(1, row / Math.max(1, all - page));
    this.thumb.style.height = `${size}px`;
    this.thumb.style.transform = `translateY(${top}px)`;
    this.thumb.hidden = count <= page;
    this.bar.setAttribute("aria-valuemax", String(Math.max(0, count - page)));
    this.bar.setAttribute("aria-valuenow", String(Math.max(0, Math.min(row, count - page))));
    this.bar.setAttribute("aria-valuetext", `row ${number(row)} of ${number(count)}`);
    this.label.hidden = !this.dragging;
    if (this.dragging) {
      this.label.textContent = text;
      this.label.style.transform = `translateY(${Math.max(0, top)}px)`;
    }
  }

  /** @param {PointerEvent} down */
  #drag(down) {
    if (down.button !== 0) return;
    down.preventDefault();
    const bar = this.bar.getBoundingClientRect();
    const thumb = this.thumb.getBoundingClientRect();
    const onThumb = down.clientY >= thumb.top && down.clientY <= thumb.bottom;
    const grip = onThumb ? down.clientY - thumb.top : thumb.height / 2;
    /** @param {PointerEvent} event */
    const move = (event) => {
      const { count, page } = this.shown;
      const share = (event.clientY - bar.top - grip) / Math.max(1, bar.height - thumb.height);
      this.jump(Math.round(Math.max(0, Math.min(1, share)) * Math.max(0, count - page)));
    };
    const end = () => {
      this.dragging = false;
      this.label.hidden = true;
      this.bar.removeEventListener("pointermove", move);
    };
    this.bar.setPointerCapture(down.pointerId);
    this.dragging = true;
    this.bar.addEventListener("pointermove", move);
    this.bar.addEventListener("lostpointercapture", end, { once: true });
    move(down);
  }
}
