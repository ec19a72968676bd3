// Compares what is clever in the modules of the page with naive twins of it. Runs in the page, and without a browser.

/**
 * Runs all comparisons with numbers of this seed, and searches the log with this id, if there is one. Modules are those
 * behind the address `base`, or of the page that this runs in. The answer is what was found to differ.
 */
export async function compareModules({ seed, id, query, base }) {
  const load = (name) => import(new URL(`${name}.js`, base ?? new URL("app/", document.baseURI)).href);
  const wrong = [];
  let state = seed;
  const random = () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (most) => Math.floor(random() * most);
  const pick = (list) => list[below(list.length)];
  const check = (is, ...said) => {
    if (!is && wrong.length < 20) wrong.push(said.map(String).join(" "));
  };
  const time = () => 1_600_000_000_000_000_000n + BigInt(below(2 ** 48)) * 997n;

  await times();
  await axis();
  await fragments();
  await streams();
  await chunks();
  await scrolling();
  await hits();
  if (id !== undefined) await searchesThatGoOn();
  await windows();
  await conditions();
  await lanes();
  await numbers();
  return wrong;

  // Digits are grouped as the browser does it.
  async function numbers() {
    const { number } = await load("data/text");
    const format = new Intl.NumberFormat("en-US");
    for (let n = 0; n < 300; n += 1) {
      // The browser writes -0.
      const value = Math.round((random() - 0.3) * 10 ** below(16)) || 0;
      check(number(value) === format.format(value), "number", value, number(value));
      check(number(BigInt(value)) === format.format(value), "bigint", value);
    }
    for (const none of [NaN, Infinity, undefined, null]) check(number(none) === "?", none);
  }

  // A bar is below all bars that it lies in, also if it does not know of the long ones among them.
  async function lanes() {
    const { setLanes } = await load("data/spandata");
    for (let n = 0; n < 300; n += 1) {
      const bars = [];
      const nest = (from, to, depth) => {
        for (let at = from + below(20); at < to && depth < 5;) {
          const end = Math.min(to, at + 1 + below(60));
          bars.push({ offset: at, length: end - at, depth, whole: depth });
          nest(at + 1, end - 1, depth + 1);
          at = end + below(20);
        }
      };
      nest(0, 400, 0);
      const long = below(60);
      for (const bar of bars.filter(({ length }) => length < long)) {
        bar.depth -= bars.filter((one) => one.length >= long && one.offset < bar.offset
          && one.offset + one.length >= bar.offset + bar.length).length;
      }
      const keyed = Array.from({ length: below(4) }, () => ({ offset: below(400),
        length: 1 + below(100), depth: 0, keyed: true }));
      const deepest = bars.reduce((most, { whole }) => Math.max(most, whole + 1), 0);
      const all = [...bars, ...keyed].sort(() => random() - 0.5);
      const count = setLanes(all);
      for (const { lane, whole } of bars) check(lane === whole, "lane", lane, "not", whole);
      for (const one of keyed) {
        check(one.lane >= Math.min(5, deepest), "a bar with a key is in lane", one.lane);
        const together = keyed.filter((other) => other.lane === one.lane && other !== one
          && other.offset < one.offset + one.length && one.offset < other.offset + other.length);
        check(one.lane === 5 || together.length === 0, "bars with keys are on each other");
      }
      check(count <= 6 && all.every(({ lane }) => lane < count), "lanes of", count);
    }
  }

  // A time that is written and read again is the same, to the nanosecond.
  async function times() {
    const { asFilter, dateAndTime, fromFilter, parseTime, timeOfDay } = await load("data/time");
    const { prefs } = await load("data/prefs");
    const zone = prefs.zone;
    for (let n = 0; n < 300; n += 1) {
      const ns = time();
      prefs.zone = pick(["utc", "local"]);
      check(fromFilter(asFilter(ns)) === ns, "filter of", ns);
      check(parseTime(dateAndTime(ns), 0n) === ns, "date and time of", ns);
      check(parseTime(timeOfDay(ns), ns) === ns, "time of day of", ns);
    }
    prefs.zone = zone;
    check(parseTime("+1.5 ms", 10n) === 1_500_010n, "a distance");
    check(parseTime("2026-11-23T14:03:07.5+01:00", 0n) === 1795438987500000000n, "a zone");
    for (const text of ["", "x", "14:0", "25", "-"]) check(parseTime(text, 0n) === null, text);
  }

  // Marks are within the window, in equal distances, and not many.
  async function axis() {
    const { marks, offsetMarks } = await load("draw/axis");
    for (let n = 0; n < 300; n += 1) {
      const span = Math.exp(random() * Math.log(1e17)) + 20;
      const from = time();
      const most = 1 + below(20);
      const { step, marks: list } = marks(from, span, most);
      check(list.length <= most + 2, list.length, "marks of", span);
      list.forEach(({ offset, label }, place) => {
        check(offset >= 0 && offset <= span + 1, "a mark outside of", from, span);
        check(label !== "", "a mark without a label", from, span);
        const distance = place && offset - list[place - 1].offset;
        check(!place || Math.abs(distance - step) <= step * 1e-9 + 64, "distance", distance, step);
      });
      const offset = Math.floor(random() * 1e15);
      const offsets = offsetMarks(offset, span, most);
      check(offsets.length <= most + 2, offsets.length, "marks from", offset, "over", span);
      const inside = offsets.every(({ share }) => share >= 0 && share <= 1);
      check(inside, "a mark outside of", offset, span);
    }
  }

  // The address describes a state, so that the same one comes back.
  async function fragments() {
    const { format, parse, VIEWS } = await load("data/state");
    const texts = ["a", "a b", "/x/y.tla", "%&=#+", "ä€😀", "\"'\\", "$0 == 5 && b ~ \"^e\""];
    for (let n = 0; n < 300; n += 1) {
      const from = time();
      const range = random() < 0.5;
      const of = {
        log: pick(texts), view: pick(VIEWS),
        line: random() < 0.5 ? null : below(2 ** 40), q: pick(["", ...texts]),
        regex: random() < 0.5, case: pick(["smart", "sensitive"]), only: random() < 0.5,
        filters: Array.from({ length: below(4) }, () => [pick(["category", "where", "since"]),
          pick(texts)]),
        by: pick(["thread", "core"]), from: range ? String(from) : null,
        to: range ? String(from + 5n) : null, what: pick(["", ...texts]),
        series: random() < 0.5 ? null : pick(texts),
      };
      const text = format(of);
      check(JSON.stringify(parse(text)) === JSON.stringify(of), "fragment", text);
    }
    check(parse("#line=x&view=y&from=5&to=4").from === null, "a fragment without meaning");
  }

  // A stream is read the same wherever it is cut into parts.
  async function streams() {
    const { eventsOf } = await load("data/sse");
    for (let n = 0; n < 60; n += 1) {
      const sent = Array.from({ length: below(8) }, () => ({ event: pick(["hits", "end"]),
        data: pick(["{}", "ä€😀 x", "a\nb", "data: y", "  z "]) }));
      const end = pick(["\n", "\r\n"]);
      const space = pick(["", " "]);
      const field = (line) => `data:${line[0] === " " ? " " : space}${line}`;
      const text = sent.map(({ event, data }) => [": alive", `event: ${event}`,
        ...data.split("\n").map(field), "", ""].join(end)).join("");
      const all = new TextEncoder().encode(text);
      const body = new ReadableStream({ start(out) {
        for (let at = 0; at < all.length;) {
          const next = Math.min(all.length, at + 1 + below(9));
          out.enqueue(all.slice(at, next));
          at = next;
        }
        out.close();
      } });
      const got = [];
      for await (const one of eventsOf(body)) got.push(one);
      check(JSON.stringify(got) === JSON.stringify(sent), "stream", JSON.stringify(text));
    }
  }

  // What is kept is right, is what was asked for last, and is within the bound.
  async function chunks() {
    const { Chunks } = await load("data/chunks");
    for (let n = 0; n < 20; n += 1) {
      let total = below(2000);
      const size = 1 + below(40);
      let requests = 0;
      const kept = new Chunks({
        size, bound: 300, changed() {}, failed() {}, weigh: (rows) => rows.length,
        async load(start, count) {
          requests += 1;
          const rows = [];
          for (let row = start; row < Math.min(total, start + count); row += 1) rows.push(row);
          await null;
          return rows;
        },
      });
      if (total > 0) {
        const first = below(total);
        await kept.wait(first, first + size - 1, total);
        check(requests === 1, requests, "requests for what a window shows");
      }
      for (let step = 0; step < 60; step += 1) {
        if (random() < 0.3) total += below(30);
        const first = below(total);
        const last = Math.min(total - 1, first + below(100));
        if (total === 0) continue;
        await kept.wait(first, last, total);
        for (let row = first; row <= last && last - first < 300 - 2 * size; row += 1) {
          check(kept.get(row) === row, "row", row, "of", total, "in chunks of", size);
        }
        let held = 0;
        for (let row = 0; row < total; row += 1) held += kept.get(row) === undefined ? 0 : 1;
        check(held <= 300 + size, held, "rows are kept");
      }
    }
  }

  // Scrolling by rows and pixels is scrolling over all heights.
  async function scrolling() {
    const { Scroller } = await load("views/scroller");
    for (let n = 0; n < 40; n += 1) {
      const heights = Array.from({ length: below(120) }, () => pick([18, 18, 18, 36]));
      const sum = heights.reduce((all, one) => all + one, 0);
      const scroller = new Scroller(globalThis.document?.createElement("div") ?? new EventTarget(), {
        rowHeight: 18, heightOf: (row) => heights[row], moved() {} });
      scroller.count = heights.length;
      scroller.height = below(600);
      const most = Math.max(0, sum - scroller.height);
      const place = () => heights.slice(0, scroller.row).reduce((all, one) => all + one, 0)
        + scroller.px;
      let naive = 0;
      for (let step = 0; step < 60; step += 1) {
        if (random() < 0.7) {
          const pixels = below(800) - 400;
          scroller.moveBy(pixels);
          naive = Math.max(0, Math.min(most, naive + pixels));
        } else {
          const row = below(heights.length + 1);
          scroller.toRow(row);
          naive = Math.min(most, heights.slice(0, row).reduce((all, one) => all + one, 0));
        }
        check(place() === naive, "scrolled to", place(), "instead of", naive, "of", most);
        const within = scroller.px < (heights[scroller.row] ?? 1) || heights.length === 0;
        check(within, scroller.px, "pixels of row", scroller.row);
        check(scroller.atEnd === (naive >= most - 1), "the end", naive, most);
      }
    }
  }

  async function hits() {
    const { Hits } = await load("data/hits");
    const found = new Hits();
    for (let n = 0; n < 100; n += 1) {
      found.lines = [...new Set(Array.from({ length: below(50) }, () => below(100)))]
        .sort((one, other) => one - other);
      const line = below(110);
      const naive = found.lines.findIndex((one) => one >= line);
      check(found.placeOf(line) === (naive < 0 ? found.lines.length : naive), "place of", line);
      check(found.has(line) === found.lines.includes(line), "has", line);
    }
  }

  // Hits that are searched for piece by piece are those of one search, with the same counts.
  async function searchesThatGoOn() {
    const { Hits } = await load("data/hits");
    const { getJson } = await load("data/api");
    const log = await getJson(`logs/${encodeURIComponent(id)}`);
    const question = [["q", query]];
    const whole = new Hits();
    await whole.search(log, question);
    const parts = new Hits();
    let searches = 1;
    await parts.search(log, question, 1 + below(40));
    for (; parts.limited && searches < 10; searches += 1) await parts.more();
    check(searches > 2 && !parts.limited, "a search in", searches, "parts");
    check(parts.lines.join() === whole.lines.join(), "hits of", searches, "searches");
    check(parts.found === whole.found, parts.found, "hits instead of", whole.found);
    check(parts.density?.join() === whole.density.join(), "the density of", searches, "searches");
  }

  // Zooming keeps the time under the pointer, and the log in sight.
  async function windows() {
    const { endOf, moved, timeAt, whole, zoomed } = await load("data/window");
    for (let n = 0; n < 100; n += 1) {
      const from = time();
      const range = { from, to: from + BigInt(Math.round(Math.exp(random() * 35) + 1)) };
      let view = whole(range);
      for (let step = 0; step < 30; step += 1) {
        const share = random();
        const before = timeAt(view, share);
        const next = random() < 0.7 ? zoomed(view, Math.exp(random() * 4 - 2.5), share, range)
          : moved(view, random() - 0.5, range);
        check(next.span >= 20, "span", next.span);
        check(next.from <= range.to && endOf(next) >= range.from, "out of sight", next.from);
        // A log of some nanoseconds is kept in sight instead.
        const isLong = range.to - range.from > 1_000n;
        if (isLong && next.span < view.span && before >= range.from && before <= range.to) {
          const away = Number(timeAt(next, share) - before);
          check(Math.abs(away) <= 2 + view.span * 1e-12, "the pointer is", away, "away");
        }
        view = next;
      }
    }
  }

  async function conditions() {
    const { condition } = await load("data/condition");
    const pairs = [
      [["len", 5, 0, "i64"], "len == 5"], [["", 5, 2, ""], "$2 == 5"], [["3", 5, 3, ""], "$3 == 5"],
      [["user-id", 7, 0, "i64"], '$"user-id" == 7'], [["and", true, 0, "bool"], "$and == true"],
      [["name", 'a"b\\c', 0, "str"], 'name == "a\\"b\\\\c"'], [["a", [1], 0, "i64[]"], null],
      [["d", "18446744073709551615", 0, "u64"], "d == 18446744073709551615"],
      [["d", "123", 0, "str"], 'd == "123"'],
      [["at", "1795442587000000001", 0, "time"], 'at == "@1795442587.000000001"'],
    ];
    for (const [given, wanted] of pairs) {
      check(condition(...given) === wanted, "condition", condition(...given), "for", wanted);
    }
  }
}
