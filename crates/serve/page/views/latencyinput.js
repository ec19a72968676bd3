// Turns what is done with pointer and fingers on a plot of durations into calls.

/**
 * A place on a canvas, and what is called.
 * @typedef {{ x: number, y: number }} Point
 * @typedef {(x: number, y: number) => void} Call
 * @typedef {{ hover: Call, leave: () => void, click: Call, drag?: Call, brush?: Call }} Target
 */

/** A press that moves by fewer pixels is a click. */
const CLICK = 4;

/**
 * Listens on a canvas. `target` has what is called: `hover(x, y)`, `leave()`, `click(x, y)`, and
 * for plots over time `drag(x, x)` and `brush(x, x)`. All x and y are pixels of the canvas.
 * @param {HTMLCanvasElement} canvas @param {Target} target
 */
export function listenPlot(canvas, target) {
  /** @type {Point | null} */
  let pressed = null;
  /** @param {PointerEvent} event @returns {Point} */
  const place = (event) => {
    const box = canvas.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  };
  /** @param {Point} from @param {Point} at */
  const isFar = (from, at) => target.brush !== undefined && Math.abs(at.x - from.x) >= CLICK;
  canvas.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    canvas.setPointerCapture(event.pointerId);
    pressed = place(event);
  });
  canvas.addEventListener("pointermove", (event) => {
    const at = place(event);
    if (pressed && isFar(pressed, at)) target.drag?.(pressed.x, at.x);
    else target.hover(at.x, at.y);
  });
  canvas.addEventListener("pointerup", (event) => {
    if (!pressed) return;
    const at = place(event);
    if (isFar(pressed, at)) target.brush?.(pressed.x, at.x);
    else target.click(at.x, at.y);
    pressed = null;
  });
  canvas.addEventListener("pointercancel", () => {
    pressed = null;
    target.leave();
  });
  canvas.addEventListener("pointerleave", () => { if (!pressed) target.leave(); });
}
