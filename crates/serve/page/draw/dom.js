// Finds and makes elements. Whatever is shown becomes a text node, never markup.

/** @import { Elements } from "../../types/elements.js" */

/**
 * A child of an element, and what an element is made with.
 * @typedef {Node | string | number | boolean | null | undefined} Child
 * @typedef {{ onclick?: (event: MouseEvent) => void, onchange?: (event: Event) => void,
 *   [name: string]: string | number | boolean | null | undefined | ((event: any) => void) }}
 *   Properties
 */

/**
 * The element of this id.
 * @template {keyof Elements} I @param {I} id @returns {Elements[I]}
 */
export function byId(id) {
  return /** @type {any} */ (document.getElementById(id));
}

/**
 * Makes an element. `class` and `text` are short forms, `on…` adds a listener, and all else
 * is an attribute. What is null, undefined or false is left out, also among the children.
 * @template {keyof HTMLElementTagNameMap} T @param {T} tag @param {Properties} [properties]
 * @param {(Child | Child[])[]} children @returns {HTMLElementTagNameMap[T]}
 */
export function make(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === null || value === false) continue;
    if (name === "class") element.className = String(value);
    else if (name === "text") element.textContent = String(value);
    else if (typeof value === "function") {
      element.addEventListener(name.slice(2), /** @type {EventListener} */ (value));
    }
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  for (const child of children.flat()) {
    if (child !== undefined && child !== null && child !== false) {
      element.append(/** @type {Node | string} */ (child));
    }
  }
  return element;
}

/**
 * Sets the text of an element, and touches the document only if it differs.
 * @param {Element} element @param {string} text
 */
export function setText(element, text) {
  const first = element.firstChild;
  if (first instanceof Text && !first.nextSibling) {
    if (first.data !== text) first.data = text;
  } else if (first || text !== "") {
    element.textContent = text;
  }
}

/** After so many ms an element that is busy says so. */
const SLOW = 400;

/** @type {WeakMap<Element, number>} */
const waits = new WeakMap();

/**
 * Says whether what an element shows is on its way. An animation that is seen only after a while
 * costs a frame at once, so it begins after that while.
 * @param {Element} element @param {boolean} busy
 */
export function setBusy(element, busy) {
  if (element.getAttribute("aria-busy") !== String(busy)) {
    element.setAttribute("aria-busy", String(busy));
  }
  if (busy && !waits.has(element)) {
    waits.set(element, setTimeout(() => element.classList.add("slow"), SLOW));
  } else if (!busy && waits.has(element)) {
    clearTimeout(waits.get(element));
    waits.delete(element);
    element.classList.remove("slow");
  }
}

/**
 * Calls `action` in the next frame, once, however often the result is called before.
 * @param {(now: number) => void} action
 */
export function eachFrame(action) {
  let asked = 0;
  return () => {
    if (!asked) asked = requestAnimationFrame((now) => { asked = 0; action(now); });
  };
}

/**
 * Whether keys that are pressed now are for a control in which one types.
 * @param {EventTarget | null} target
 */
export function isTyping(target) {
  return target instanceof HTMLElement
    && (target.matches("input:not([type=checkbox], [type=radio]), textarea, select")
      || target.isContentEditable);
}
