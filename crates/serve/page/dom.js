// Finds and makes elements. Whatever is shown becomes a text node, never markup.

/** The element of this id. */
export function byId(id) {
  return document.getElementById(id);
}

/**
 * Makes an element. `class` and `text` are short forms, `on…` adds a listener, and all else
 * is an attribute. What is null, undefined or false is left out, also among the children.
 */
export function make(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === null || value === false) continue;
    if (name === "class") element.className = value;
    else if (name === "text") element.textContent = value;
    else if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  for (const child of children.flat()) {
    if (child !== undefined && child !== null && child !== false) element.append(child);
  }
  return element;
}

/** Sets the text of an element, and touches the document only if it differs. */
export function setText(element, text) {
  if (element.firstChild?.nodeType === Node.TEXT_NODE && !element.firstChild.nextSibling) {
    if (element.firstChild.data !== text) element.firstChild.data = text;
  } else if (element.firstChild || text !== "") {
    element.textContent = text;
  }
}

/** After so many ms an element that is busy says so. */
const SLOW = 400;

const waits = new WeakMap();

/**
 * Says whether what an element shows is on its way. An animation that is seen only after a while
 * costs a frame at once, so it begins after that while.
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

/** Calls `action` in the next frame, once, however often the result is called before. */
export function eachFrame(action) {
  let asked = 0;
  return () => {
    if (!asked) asked = requestAnimationFrame((now) => { asked = 0; action(now); });
  };
}

/** Calls `action` when the result was not called for `wait` ms; `flush` calls it at once. */
export function debounced(wait, action) {
  let timer = 0;
  const later = () => {
    clearTimeout(timer);
    timer = setTimeout(() => { timer = 0; action(); }, wait);
  };
  later.flush = () => {
    if (!timer) return;
    clearTimeout(timer);
    timer = 0;
    action();
  };
  later.cancel = () => { clearTimeout(timer); timer = 0; };
  return later;
}

/** Whether keys that are pressed now are for a control in which one types. */
export function isTyping(target) {
  return target instanceof HTMLElement
    && (target.matches("input:not([type=checkbox], [type=radio]), textarea, select")
      || target.isContentEditable);
}
