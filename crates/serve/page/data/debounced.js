// Does something when nobody has asked for it for a while.

/**
 * Calls `action` when the result was not called for `wait` ms; `flush` calls it at once.
 * @param {number} wait @param {() => void} action
 */
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
