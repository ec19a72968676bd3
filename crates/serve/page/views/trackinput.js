// Turns what is done with pointer, wheel and fingers on the tracks into moves of the window.

/**
 * A place on the canvas; what is pressed, and where it was and is; what is called.
 * @typedef {{ x: number, y: number }} Point
 * @typedef {{ kind: "strip" | "brush" | "pan", begin: Point, last: Point, far: boolean }} Drag
 * @typedef {{ strip: number, isBrushing: () => boolean, zoom: (factor: number, x: number) => void,
 *   pan: (pixels: number) => void, rows: (pixels: number) => void,
 *   brush: (one: number, other: number, done: boolean) => void, jump: (x: number) => void,
 *   hover: (x: number, y: number) => void, leave: () => void,
 *   click: (x: number, y: number) => void, double: (x: number, y: number) => boolean }} Target
 */

/** A press that moves by fewer pixels is a click. */
const CLICK = 4;

/**
 * Listens on the canvas. `target` has `strip`, and what is called: `zoom(factor, x)`,
 * `pan(pixels)`, `rows(pixels)`, `brush(x, x, done)`, `jump(x)`, `hover(x, y)`, `leave()`,
 * `click(x, y)`, `double(x, y)`, which says whether it did something, and `isBrushing()`. All x
 * and y are pixels of the canvas.
 * @param {HTMLCanvasElement} canvas @param {Target} target
 */
export function listen(canvas, target) {
  /** @type {Map<number, Point>} */
  const fingers = new Map();
  /** @type {Drag | null} */
  let drag = null;
  /** @param {MouseEvent} event @returns {Point} */
  const place = (event) => {
    const box = canvas.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  };

  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    const unit = [1, 18, 400][event.deltaMode];
    const { x } = place(event);
    if (event.shiftKey) target.rows((event.deltaY || event.deltaX) * unit);
    else if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) target.pan(event.deltaX * unit);
    else target.zoom(Math.exp(event.deltaY * unit * (event.ctrlKey ? 0.01 : 0.0018)), x);
  }, { passive: false });

  canvas.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    const at = place(event);
    fingers.set(event.pointerId, at);
    canvas.setPointerCapture(event.pointerId);
    const kind = at.y < target.strip ? "strip"
      : event.shiftKey || target.isBrushing() ? "brush" : "pan";
    drag = { kind, begin: at, last: at, far: false };
    if (kind === "strip") target.jump(at.x);
  });

  canvas.addEventListener("pointermove", (event) => {
    const at = place(event);
    const before = fingers.get(event.pointerId);
    if (!before) {
      if (event.pointerType !== "touch") target.hover(at.x, at.y);
      return;
    }
    fingers.set(event.pointerId, at);
    if (fingers.size === 2) {
      pinch(fingers, event.pointerId, before, at, target);
      drag = null;
    } else if (drag) {
      move(drag, at, target);
    }
  });

  /** @param {PointerEvent} event */
  const end = (event) => {
    if (!fingers.delete(event.pointerId) || !drag) return;
    const at = place(event);
    if (event.type === "pointerup" && !drag.far && drag.kind !== "strip") target.click(at.x, at.y);
    else if (drag.kind === "brush" && drag.far) target.brush(drag.begin.x, at.x, true);
    drag = null;
  };
  canvas.addEventListener("pointerup", end);
  canvas.addEventListener("pointercancel", end);
  canvas.addEventListener("pointerleave", () => target.leave());
  canvas.addEventListener("dblclick", (event) => {
    const { x, y } = place(event);
    if (!target.double(x, y)) target.zoom(0.25, x);
  });
}

/** @param {Drag} drag @param {Point} at @param {Target} target */
function move(drag, at, target) {
  drag.far ||= Math.hypot(at.x - drag.begin.x, at.y - drag.begin.y) >= CLICK;
  if (drag.kind === "strip") target.jump(at.x);
  else if (!drag.far) return;
  else if (drag.kind === "brush") target.brush(drag.begin.x, at.x, false);
  else {
    target.pan(drag.last.x - at.x);
    target.rows(drag.last.y - at.y);
  }
  drag.last = at;
}

/**
 * @param {Map<number, Point>} fingers @param {number} id @param {Point} before @param {Point} now
 * @param {Target} target
 */
function pinch(fingers, id, before, now, target) {
  const other = [...fingers].find(([key]) => key !== id)?.[1] ?? now;
  /** @param {Point} one */
  const distance = (one) => Math.max(10, Math.abs(one.x - other.x));
  target.zoom(distance(before) / distance(now), (now.x + other.x) / 2);
  target.pan((before.x - now.x) / 2);
}
