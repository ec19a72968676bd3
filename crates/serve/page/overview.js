// What is in a log: its time, its size, what was lost, who wrote it, and counts of its events.

import { getJson, isAbort, ofLog } from "./api.js";
import { showControl } from "./control.js";
import { byId, make, setBusy } from "./dom.js";
import { onPrefs } from "./prefs.js";
import { Rate } from "./rate.js";
import { showError } from "./status.js";
import { bytes, counted, number, percent, visible } from "./text.js";
import { categoryRank, levelClass, onColours } from "./theme.js";
import { dateAndTime, duration } from "./time.js";

/** So many bars of a kind are shown before all are asked for. */
const FEW = 25;

export class Overview {
  #asked = null;

  /** `filter(name, value)` shows the events of a bar, `range(from, to)` a range as tracks. */
  constructor({ filter, range }) {
    Object.assign(this, { filter, range });
    this.section = byId("overview");
    this.log = null;
    this.server = null;
    this.counts = null;
    this.rate = new Rate(byId("rate"), byId("rate-said"), (from, to) => this.range(from, to));
    onColours(() => this.draw());
    onPrefs((name) => { if (name === "zone") this.draw(); });
  }

  open(log) {
    this.log = log;
    this.counts = null;
    byId("bars").replaceChildren();
    this.rate.show(null);
  }

  /** Asks for the counts and shows them. */
  async read() {
    this.#asked?.abort();
    this.#asked = new AbortController();
    const { log } = this;
    this.draw();
    showControl(log, this.server);
    setBusy(this.section, true);
    try {
      this.counts = await getJson(ofLog(log.id, "overview"), {}, this.#asked.signal);
      if (log !== this.log) return;
      this.rate.show(this.counts.rate);
    } catch (error) {
      if (isAbort(error)) return;
      showError(error, "Overview");
    }
    setBusy(this.section, false);
    this.draw();
  }

  draw() {
    if (!this.log?.info || this.section.hidden) return;
    byId("facts").replaceChildren(...this.#facts());
    this.rate.draw();
    if (!this.counts) return;
    const { categories, priorities, names, threads } = this.counts;
    const messages = new Map(this.log.definitions.map((one) => [one.event, one.message]));
    byId("bars").replaceChildren(
      this.#bars("Categories", categories, (one) => ["category", one.name],
        (one) => ({ kind: `k${categoryRank(one.name)}` })),
      this.#bars("Priorities", priorities, (one) => ["priority", one.name],
        (one) => ({ kind: levelClass(one.name) })),
      this.#bars("Events", names, (one) => ["event", one.name], (one) => ({
        kind: `k${categoryRank(one.category)}`,
        more: visible((messages.get(one.name) ?? "").split("\n")[0]) })),
      this.#bars("Threads", threads, (one) => ["thread", one.tid ?? one.name], (one) => ({
        text: visible(one.name ?? String(one.tid ?? "?")),
        more: [one.tid, one.process && `of ${one.process}`, one.pid].filter(Boolean).join(" ") })));
  }

  #facts() {
    const { info } = this.log;
    const rows = [];
    const fact = (name, value, bad = false) => {
      if (!value) return;
      rows.push(make("dt", { text: name }), make("dd", { text: value, class: bad && "bad" }));
    };
    const range = this.log.range;
    fact("path", visible(info.path ?? this.log.name));
    fact("kind", this.log.kind + (this.log.growing ? ", grows" : ""));
    fact("size", bytes(info.bytes));
    fact("from", range && dateAndTime(range.from));
    fact("to", range && dateAndTime(range.to));
    fact("duration", range && duration(range.to - range.from));
    fact("events", number(this.counts?.events ?? info.events ?? 0));
    const { important } = this.log;
    fact("lines", number(this.log.lines)
      + (important ? `, ${number(important)} of important events` : ""));
    const { missed, missed_unknown: places, gone, damaged, missing_files: files } = this.log.lacks;
    const unknown = places ? `an unknown number in ${counted(places, "place")}` : "";
    const entries = missed ? `${number(missed)} entries were overwritten` : "";
    fact("missed", [entries, unknown].filter(Boolean).join(", and ") || "nothing",
      missed + places > 0);
    fact("gone", gone ? `${number(gone)} entries, with a part that was damaged or removed` : "",
      true);
    fact("damaged", damaged ? bytes(damaged) : "", true);
    fact("files", files ? `${number(files)} missing between the others` : "", true);
    const programs = (info.programs ?? []).map((one) => [one.program, one.timeline,
      one.host && `on ${one.host}`].filter(Boolean).join(" "));
    fact("writers", visible([...new Set(programs)].join("; ")));
    return rows;
  }

  #bars(title, list, filterOf, looks) {
    const sum = list.reduce((all, one) => all + one.count, 0) || 1;
    const most = Math.max(1, ...list.map((one) => one.count));
    const rows = list.map((one) => {
      const [name, value] = filterOf(one);
      const { kind = "", more = "", text = visible(String(value ?? "unknown")) } = looks(one);
      const bar = make("span", { class: `bar-fill ${kind}` });
      bar.style.width = `${(one.count / most) * 100}%`;
      const known = value !== null && value !== undefined;
      return make("li", {}, make("button", { type: "button", class: "bar-row",
        disabled: !known, title: known ? `Show the events with ${name} ${value}` : null,
        onclick: () => this.filter(name, String(value)) },
      bar, make("span", { class: `bar-name ${kind}`, text }),
      make("span", { class: "bar-more", text: more }),
      make("span", { class: "bar-count", text: number(one.count) }),
      make("span", { class: "bar-share", text: percent(one.count / sum) })));
    });
    const items = make("ul", { class: "bar-list" }, rows.slice(0, FEW));
    const rest = rows.length > FEW && make("button", { type: "button", class: "link",
      text: `Show all ${number(rows.length)}`, onclick: (event) => {
        items.append(...rows.slice(FEW));
        event.target.remove();
      } });
    const wide = title === "Events" || title === "Threads";
    return make("section", { class: wide ? "wide" : "" }, make("h3", { text: title }), items, rest);
  }

  /** Handles a key; says whether it was one of this view. */
  key() {
    return false;
  }
}
