// Tries the view of durations and the bars of spans, and compares them with the command.

/** Pixels around what a plot shows. */
const [left, right, top, bottom] = [60, 8, 6, 20];

/** The middle of a cell of the heat map, as the page draws it, in pixels of the page. */
async function placeOf(page, answer, series, [column, row]) {
  const box = await page.locator("#plot-heat").boundingBox();
  const used = series.cells.map(([, used]) => used);
  const log = (bound) => Math.log10(Math.max(1, answer.rows[bound]));
  const [low, high] = [log(Math.min(...used)), log(Math.max(...used) + 1)];
  const up = ((log(row) + log(row + 1)) / 2 - low) / Math.max(0.05, high - low);
  const wide = box.width - left - right;
  return [box.x + left + ((column + 0.5) / answer.columns) * wide,
    box.y + box.height - bottom - up * (box.height - top - bottom)];
}

const listed = () => {
  const list = document.querySelector("#behind");
  return !list.hidden && list.ariaBusy === "false";
};

/** A click on a cell lists the durations in it. Returns how many there are. */
async function clickCell({ page, demand }, answer) {
  const [series] = answer.series;
  const cell = series.cells.reduce((best, one) => (one[1] > best[1] ? one : best));
  await page.locator("#plot-heat").scrollIntoViewIfNeeded();
  await page.mouse.click(...await placeOf(page, answer, series, cell));
  await page.waitForFunction(listed);
  const values = await page.$$eval("#behind-rows tr", (all) =>
    all.map((row) => Number(row.dataset.ns)));
  const [, row, count] = cell;
  demand(values.length === Math.min(200, count), values.length, "durations of", count);
  const [least, end] = [answer.rows[row], answer.rows[row + 1]];
  demand(values.every((value) => value >= least && value < end), values, "in", least, end);
  return values.length;
}

/**
 * The bars of a window of the tracks: a tip names the span, and its bar is in the picture. Other
 * threads may have spans of the same name at the same time, so the tip's words are compared, too.
 */
async function bar({ page, demand }, name, words) {
  const box = await page.locator("#canvas").boundingBox();
  const x = box.x + 168 + (box.width - 168) / 2;
  for (let y = 50; y < 300; y += 4) {
    await page.mouse.move(x, box.y + y);
    const told = await page.$eval("#tip", (tip) => !tip.hidden
      && [".tip-category", ".words"].map((part) => tip.querySelector(part).textContent));
    if (!told || told[0] !== name || told[1] !== words) continue;
    await page.waitForFunction(() => /^(begin|start) /.test(
      document.querySelector("#tip .tip-message").textContent));
    const colours = await page.$eval("#canvas", (canvas, [x, y]) => {
      const { width, height } = canvas;
      // The browser complains if pixels of the page's own canvas are read again and again.
      const copy = new OffscreenCanvas(width, height).getContext("2d", { willReadFrequently: true });
      copy.drawImage(canvas, 0, 0);
      const { data } = copy.getImageData(0, 0, width, height);
      const pixels = new Uint32Array(data.buffer);
      // The row has its own colour at the left end.
      return [pixels[y * canvas.width + x], pixels[y * canvas.width + 2]];
    }, [Math.round(x - box.x) + 40, y]);
    demand(colours[0] !== colours[1], "there is no bar at", x, y);
    return [x, box.y + y];
  }
  demand(false, "there is no bar of", name, words);
}

/** Everything, beginning in the view of lines. */
export async function durations(tools) {
  const { page, rows, shot, timeline, demand, archive, latencyDrawn, tracksDrawn } = tools;
  const asked = page.waitForResponse((answer) => /durations\?/.test(answer.url()));
  await page.keyboard.press("4");
  const answer = await (await asked).json();
  await page.waitForFunction(latencyDrawn);
  const shown = await page.$$eval("#series-rows tr", (all) => all.map((row) =>
    `${row.cells[0].textContent} ${row.cells[1].textContent.replaceAll(",", "")}`));
  const totals = timeline("histogram", archive.path, "--json").map((line) => JSON.parse(line))
    .filter((row) => row.type === "total").map(({ tag, count }) => `${tag} ${count}`);
  demand([...shown].sort().join() === [...totals].sort().join(), shown, "instead of", totals);
  await shot(page, "latency-light");
  const count = await clickCell(tools, answer);
  await shot(page, "latency-cell");

  // The events of the longest: from its begin to its end.
  const name = await page.$eval("#series-rows .selected td", (cell) => cell.textContent);
  const word = name.split(".")[1];
  await page.click("#behind-rows tr:first-child .link");
  await page.waitForFunction(() => /^[\d,]+ hits?$/.test(
    document.querySelector("#count-text").textContent));
  await page.waitForSelector("#rows .row:not(.waiting) .c-message");
  const events = (await rows(page)).map(({ text }) => text);
  demand(events[0].startsWith(`begin ${word} `), "the first event is", events[0]);
  demand(events.some((text) => text.startsWith(`end ${word} `)), "the end is not in", events);
  await page.goBack();
  await page.waitForFunction(latencyDrawn);

  // A range that is chosen narrows everything.
  await page.locator("#plot-over").scrollIntoViewIfNeeded();
  const box = await page.locator("#plot-over").boundingBox();
  const y = box.y + box.height / 2;
  // It has some of the durations and not all: the program may have waited for long between any two.
  const columns = [...new Set(answer.series[0].cells.map(([column]) => column))]
    .sort((one, other) => one - other);
  const middle = columns[(columns.length - 1) >> 1];
  const share = (middle + 1) / answer.columns;
  const at = (share) => box.x + left + (box.width - left - right) * share;
  await page.mouse.move(at(share < 0.5 ? 1 : 0), y);
  await page.mouse.down();
  await page.mouse.move(at(share), y, { steps: 4 });
  const narrowed = page.waitForResponse((answer) => /durations\?.*from=/.test(answer.url()));
  await page.mouse.up();
  const less = await (await narrowed).json();
  await page.waitForFunction(latencyDrawn);
  demand(less.series[0].count < answer.series[0].count, "the range has", less.series[0].count);
  const state = page.url();

  // By the keyboard: the slowest cell, its durations, and where in time the first of them is.
  await page.focus("#plot-heat");
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("Enter");
  await page.waitForFunction(listed);
  const own = await page.$eval("#series-rows .selected td", (cell) => cell.textContent);
  const longest = await page.$eval("#behind-rows tr", (row) => Number(row.dataset.ns));
  const words = await page.$eval("#behind-rows tr", (row) =>
    [row.cells[0], row.cells[2]].map((cell) => cell.textContent).join(" from "));
  await page.click("#behind-rows tr:first-child td:nth-child(2) .link");
  await page.waitForFunction(tracksDrawn);
  await page.waitForFunction(() => /\d spans?,/.test(
    document.querySelector("#tracks-said").textContent));
  const place = await bar(tools, own, words);
  await shot(page, "tracks-spans");

  // A double click on a bar zooms to it.
  await page.mouse.dblclick(...place);
  const margin = 2 * (Math.ceil(longest / 12) + 1);
  await page.waitForFunction((span) => {
    const given = new URLSearchParams(location.hash.slice(1));
    return Number(BigInt(given.get("to")) - BigInt(given.get("from"))) === span;
  }, longest + margin);

  // The address holds the view and its range.
  await page.goto("about:blank");
  await page.goto(state);
  await page.waitForFunction(latencyDrawn);
  demand(page.url() === state, "the link", state, "became", page.url());
  await page.close();
  return `latency: ${shown.join(", ")}; ${count} in a cell`;
}

/**
 * In the tracks of a few seconds, there are the spans of an hour around them, too: above those that
 * they enclose.
 */
export async function longSpans(tools, begin) {
  const { page, tracksDrawn } = tools;
  await page.waitForFunction(tracksDrawn);
  await page.waitForFunction(() => /3 spans,/.test(
    document.querySelector("#tracks-said").textContent));
  const [day, step, wait] = await page.evaluate(async (begin) => {
    const { dateAndTime, duration } = await import(new URL("app/data/time.js", document.baseURI).href);
    const words = (seconds, from) => `${duration(BigInt(seconds) * 1_000_000_000n)} from ${
      dateAndTime(BigInt(begin) + BigInt(from) * 1_000_000_000n)}`;
    return [words(3600, 0), words(1, 1802), `open for ${words(3599, 1)}`];
  }, begin);
  const [, above] = await bar(tools, "job.day", day);
  const [, below] = await bar(tools, "job.step", step);
  tools.demand(above < below, "the step is at", below, "and what it lies in at", above);
  await bar(tools, "job.wait", wait);
  await tools.shot(page, "tracks-hour");
  await page.close();
  return "tracks: spans of an hour in a window of seconds";
}

/** The view of a log that grows is read again. */
export async function growing({ page, latencyDrawn }) {
  await page.waitForFunction(latencyDrawn);
  const count = () => page.$eval("#series-rows td.number", (cell) =>
    Number(cell.textContent.replaceAll(",", "")));
  const before = await count();
  await page.waitForFunction((before) => Number(document.querySelector("#series-rows td.number")
    ?.textContent.replaceAll(",", "")) > before, before);
  const after = await count();
  await page.close();
  return `latency: ${before}, then ${after}`;
}
