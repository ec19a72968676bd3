// The search field: searches as one types, counts hits, and goes to the next and previous one.

import { debounced } from "../data/debounced.js";
import { set, state } from "../data/state.js";
import { counted, number, percent } from "../data/text.js";
import { byId, setText } from "../draw/dom.js";
/** @import { Hits } from "../data/hits.js" */

/** The pause in typing, in ms, after which the search begins. */
const PAUSE = 120;

export class SearchBox {
  /**
   * `step(direction)` goes to another hit, `leave()` back to the lines.
   * @param {{ hits: Hits, step: (direction: number) => void, leave: () => void }} parts
   */
  constructor({ hits, step, leave }) {
    this.hits = hits;
    this.input = byId("q");
    const typed = debounced(PAUSE, () => set({ q: this.input.value }));
    this.input.addEventListener("input", typed);
    this.input.addEventListener("blur", typed.flush);
    this.input.addEventListener("keydown", (event) => {
      if (event.key === "Enter") {
        event.preventDefault();
        typed.flush();
        step(event.shiftKey ? -1 : 1);
      } else if (event.key === "Escape" || event.key === "ArrowDown") {
        event.preventDefault();
        typed.flush();
        leave();
      }
    });
    byId("search").addEventListener("submit", (event) => event.preventDefault());
    byId("case").addEventListener("click", () => {
      typed.flush();
      set({ case: state.case === "smart" ? "sensitive" : "smart" });
    });
    byId("regex").addEventListener("click", () => {
      typed.flush();
      set({ regex: !state.regex });
    });
    byId("next").addEventListener("click", () => step(1));
    byId("previous").addEventListener("click", () => step(-1));
    for (const event of ["start", "more", "end"]) hits.addEventListener(event, () => this.draw());
  }

  focus() {
    this.input.focus();
    this.input.select();
  }

  /** Shows the query of the state and how far the search is. */
  draw() {
    const { hits } = this;
    if (document.activeElement !== this.input && this.input.value !== state.q) {
      this.input.value = state.q;
    }
    byId("case").setAttribute("aria-pressed", String(state.case === "sensitive"));
    byId("regex").setAttribute("aria-pressed", String(state.regex));
    byId("next").disabled = !hits.active;
    byId("previous").disabled = !hits.active;
    const output = byId("count");
    output.hidden = !hits.active;
    setText(byId("count-text"), this.#text());
    byId("progress").hidden = !hits.running;
    byId("progress").value = hits.done;
    const more = byId("more");
    more.hidden = !hits.running && !hits.limited;
    setText(more, hits.running ? "Stop" : "More");
    more.onclick = () => (hits.running ? hits.stop() : hits.more());
  }

  #text() {
    const { unknown } = this.hits;
    return this.#found() + (unknown ? `, ${number(unknown)} of an unknown process left out` : "");
  }

  #found() {
    const { hits } = this;
    const place = state.line === null ? -1 : hits.placeOf(state.line);
    const here = hits.lines[place] === state.line && place >= 0 ? `${number(place + 1)} of ` : "";
    if (hits.running) return `${here}${number(hits.found)} · ${percent(hits.done)}`;
    if (hits.limited) return `${here}first ${counted(hits.found, "hit")}`;
    return here ? here + number(hits.found) : counted(hits.found, "hit");
  }
}
