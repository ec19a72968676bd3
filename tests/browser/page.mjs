// Tries the page of `timeline serve` in a browser, and compares what it shows with the command.
//
//     node page.mjs '{"address":"http://127.0.0.1:4280/","timeline":"target/release/timeline",
//       "archive":{"id":"a.tla","path":"/srv/a.tla","query":"got","category":"net","source":"of"},
//       "live":{"id":"/demo","pid":4711},"screenshots":"/tmp/shots"}'
//
// The program with the number `pid` logs to the timeline of `live`, and is killed. `hour` is an
// archive of an hour with long spans, `typed` one of lines of JSON with properties of all types.
// Without `live`, `hour` or `typed`, these parts are left out; `only`
// lists the parts to try. CHROMIUM is the browser, and
// playwright-core is found in node_modules beside this file, or in NODE_PATH. Prints a line for
// each part that holds, and what differs; ends with 1 then.

import { execFileSync } from "node:child_process";
import { createRequire } from "node:module";
import { join } from "node:path";
import { durations, growing, longSpans } from "./durations.mjs";
import { compareModules } from "./modules.mjs";

const { chromium } = createRequire(import.meta.url)("playwright-core");
const given = JSON.parse(process.argv[2]);
const { archive, live } = given;
const complaints = [];

/** Runs the command, and gives the lines that it prints. */
function timeline(...args) {
  const text = execFileSync(given.timeline, args, { encoding: "utf8", maxBuffer: 1 << 28,
    stdio: ["ignore", "pipe", "ignore"] });
  return text.replace(/\n$/, "").split("\n");
}

/** The messages of events. The page says elsewhere how long a span took. */
const dumped = (...args) => timeline("dump", ...args, "--columns", "message", "--color", "never")
  .slice(1).map((message) => message.replace(/ took [\d.]+[nµm]?s$/, ""));

function demand(is, ...said) {
  if (!is) throw new Error(said.join(" "));
}

/** A page of the browser that complains of every error and of all that its policy forbids. */
async function open(context, fragment, before = "") {
  const page = await context.newPage();
  page.setDefaultTimeout(60_000);
  page.on("pageerror", (error) => complaints.push(`${before}${error.stack ?? error}`));
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) complaints.push(before + message.text());
  });
  page.on("response", (response) => {
    if (response.status() >= 400) complaints.push(`${response.status()} ${response.url()}`);
  });
  await page.goto(given.address + fragment);
  return page;
}

const fragmentOf = (log, rest = {}) => `#${new URLSearchParams({ log, ...rest })}`;

// Conditions that the page is waited for. They run in it.
const drawn = () => document.querySelector("#grid").getAttribute("aria-busy") === "false"
  && document.querySelectorAll("#rows .row").length > 0;
const latencyDrawn = () => document.querySelector("#latency").ariaBusy === "false"
  && document.querySelectorAll("#series-rows tr").length > 0;
const tracksDrawn = () => document.querySelector("#plot").getAttribute("aria-busy") === "false";
const numberOf = (text) => Number(text.replaceAll(",", ""));

async function rows(page) {
  await page.waitForFunction(drawn);
  return page.$$eval("#rows .row", (all) => all.map((row) => ({
    line: Number((row.querySelector(".c-line")?.textContent ?? "").replaceAll(",", "")),
    text: row.querySelector(".c-message").textContent })));
}

/** Waits until the search has ended, and gives the number of hits. */
async function hits(page) {
  const text = await page.waitForFunction(() => {
    const shown = !document.querySelector("#count").hidden;
    const said = document.querySelector("#count-text").textContent;
    // If the selected line is a hit, its place among them comes first.
    return shown && /^([\d,]+ of [\d,]+|[\d,]+ hits?)$/.test(said) ? said : null;
  });
  return numberOf((await text.jsonValue()).replace(/^.* of | hits?$/g, ""));
}

/** Waits until the page has drawn what it knows. */
const frames = (page) => page.evaluate(() => new Promise((done) =>
  requestAnimationFrame(() => requestAnimationFrame(done))));

const shot = (page, name) => given.screenshots
  && page.screenshot({ path: join(given.screenshots, `${name}.png`) });

async function lines(context) {
  const page = await open(context, fragmentOf(archive.id));
  const first = await rows(page);
  demand(first[0].line === 0, "the first line is", first[0].line);
  demand(first[0].text === dumped(archive.path, "--line", "0", "-n", "1")[0], first[0].text);
  // The requests of the first screen are sent before the page is made, and it takes their answers.
  const urls = await page.evaluate(() => performance.getEntriesByType("resource").map((e) => e.name));
  const asked = urls.map((url) => new URL(url)).filter((url) => /^.api.logs./.test(url.pathname))
    .map((url) => `${url.pathname.split("/").slice(4)} ${url.searchParams.get("from") ?? ""}`);
  for (const once of [" ", "lines 0"]) {
    demand(asked.filter((each) => each === once).length === 1, `not one "${once}" in`, asked.join());
  }

  const bar = await page.locator("#bar").boundingBox();
  const thumb = await page.locator("#bar .thumb").boundingBox();
  await page.mouse.move(thumb.x + 4, thumb.y + 4);
  await page.mouse.down();
  await page.mouse.move(bar.x + 4, bar.y + bar.height / 2, { steps: 6 });
  await page.mouse.up();
  await page.waitForFunction(() => Number(document.querySelector("#bar").ariaValueNow) > 0);
  const middle = await rows(page);
  const total = numberOf(/of ([\d,]+)/.exec(await page.textContent(".part-place"))[1]);
  const [from, to] = [middle[0].line, middle.at(-1).line];
  demand(from > total / 4 && from < total * 3 / 4, "the middle of", total, "is", from);
  for (const { line, text } of [middle[0], middle[middle.length >> 1], middle.at(-1)]) {
    const wanted = dumped(archive.path, "--line", String(line), "-n", "1");
    // A message of several lines is printed in one.
    demand(wanted.join().split("\\n").includes(text), `line ${line} is`, text, "instead of", wanted);
  }
  await shot(page, "lines-light");

  await page.keyboard.press("End");
  await page.waitForFunction((last) => [...document.querySelectorAll("#rows .c-line")]
    .some((cell) => Number(cell.textContent.replaceAll(",", "")) === last), total - 1);
  await page.keyboard.press("g");
  await page.keyboard.type(String(from));
  await page.keyboard.press("Enter");
  // A message of several lines is selected as a whole.
  await page.waitForFunction((line) => [...document.querySelectorAll("#rows .selected .c-line")]
    .some((cell) => Number(cell.textContent.replaceAll(",", "")) === line), from);
  await page.waitForSelector("#details[aria-busy=false] .facts");
  await page.keyboard.press("j");
  await page.waitForFunction((line) => Number(document.querySelector("#rows .selected .c-line")
    ?.textContent.replaceAll(",", "") ?? -1) > line, from);
  await page.close();
  return `lines: ${from} to ${to} of ${total}`;
}

/** Where lines are slow to come, places for them are shown, and then the lines. */
async function slow(context) {
  let [holds, answer] = [false, null];
  const may = new Promise((done) => { answer = done; });
  // From the beginning: the first requests of a page that is open may pass by a new route.
  await context.route("**/lines?*", async (route) => {
    if (holds) await may;
    await route.continue();
  });
  const page = await open(context, fragmentOf(archive.id));
  await rows(page);
  holds = true;
  await page.keyboard.press("End");
  await page.waitForFunction(() => document.querySelectorAll("#rows .row.waiting").length > 9);
  demand(await page.getAttribute("#grid", "aria-busy") === "true", "it is not said to be busy");
  const places = await page.$$eval("#rows .row.waiting .c-line", (all) => all.length);
  await page.waitForSelector("#grid.slow");
  answer();
  const last = (await rows(page)).at(-1);
  demand(!await page.$("#rows .waiting, #grid.slow"), "places stay");
  const wanted = dumped(archive.path, "--line", String(last.line), "-n", "1");
  demand(wanted.join().split("\\n").includes(last.text), last.text, "instead of", wanted);
  await page.close();
  await context.unroute("**/lines?*");
  return `slow: ${places} places before the lines`;
}

async function search(context) {
  const page = await open(context, fragmentOf(archive.id));
  await rows(page);
  await page.keyboard.press("/");
  await page.keyboard.type(archive.query);
  const found = await hits(page);
  const events = new Map(timeline("search", archive.path, archive.query, "--json", "--whole")
    .filter(Boolean).map((line) => JSON.parse(line))
    .map(({ line, message }) => [line, message]));
  demand(found === events.size, found, "hits instead of", events.size);
  await page.waitForFunction(() => document.querySelector("#rows mark") !== null);
  for (const { line, text } of await rows(page)) {
    const shown = text.replace(/ \+\d+ lines$/, "");
    demand(events.get(line)?.includes(shown), `line ${line} is`, shown, "not", events.get(line));
  }

  await page.keyboard.press("Escape");
  const order = [...events.keys()].sort((one, other) => one - other);
  for (const [key, place] of [["n", 0], ["n", 1], ["N", 0], ["N", order.length - 1]]) {
    await page.keyboard.press(key);
    await page.waitForFunction((line) => location.hash.includes(`line=${line}&`), order[place]);
  }
  await page.keyboard.press("h");
  await page.waitForSelector("#rows .row.hit.selected");
  await shot(page, "search-all-lines");
  await page.close();
  return `search: ${found} hits`;
}

async function filters(context) {
  const page = await open(context, fragmentOf(archive.id, { category: archive.category }));
  const wanted = timeline("search", archive.path, "", "--category", archive.category, "--json",
    "--whole").filter(Boolean).length;
  demand(await hits(page) === wanted, "hits of the filter instead of", wanted);
  await page.click("#chips .chip .bare");
  await page.waitForFunction(() => document.querySelector("#count").hidden
    && !location.hash.includes("category"));
  await rows(page);
  // A click on the category of a line gives the filter back.
  const cell = page.locator("#rows .c-category.clickable", { hasText: archive.category }).first();
  await cell.click();
  demand(await hits(page) === wanted, "hits after the click instead of", wanted);
  await page.goBack();
  await page.waitForFunction(() => document.querySelectorAll("#chips .chip").length === 0);
  await page.close();
  await unknownProcess(context);
  return `filters: ${wanted} events of ${archive.category}`;
}

/** Of events whose process nobody knows, a filter of processes says that it leaves them out. */
async function unknownProcess(context) {
  const { id, events } = given.hour;
  const page = await open(context, fragmentOf(id, { pid: "1" }));
  const left = `${events} of an unknown process left out`;
  await page.waitForFunction((text) => document.querySelector("#count-text").textContent
    === `0 hits, ${text}`, left);
  await page.close();
}

/** The range of time in the address, or null. */
const range = (page) => page.evaluate(() => {
  const given = new URLSearchParams(location.hash.slice(1));
  return given.has("from") ? [given.get("from"), given.get("to")] : null;
});

async function tracks(context) {
  const page = await open(context, fragmentOf(archive.id, { view: "tracks" }));
  await page.waitForFunction(tracksDrawn);
  const colours = await page.$eval("#canvas", (canvas) => {
    const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    return new Set(new Uint32Array(data.buffer)).size;
  });
  demand(colours > 5, "the picture has", colours, "colours");
  await shot(page, "tracks-light");
  const box = await page.locator("#canvas").boundingBox();
  const at = (share, y = 120) => [box.x + 170 + (box.width - 170) * share, box.y + y];
  await page.mouse.move(...at(0.5));
  await page.mouse.wheel(0, -1500);
  await page.waitForFunction(() => location.hash.includes("from="));
  await page.waitForFunction(tracksDrawn);
  const before = await range(page);
  await page.keyboard.press("+");
  await page.waitForFunction((from) => !location.hash.includes(from), before[0]);
  await page.waitForFunction(tracksDrawn);
  const now = await range(page);
  const span = ([from, to]) => Number(BigInt(to) - BigInt(from));
  demand(Math.abs(span(now) / span(before) - 0.5) < 0.05, "zoomed", span(before), span(now));

  // Of a range that is brushed, the count is that of its lines.
  await page.keyboard.press("Home");
  await page.waitForFunction(() => !location.hash.includes("from="));
  await page.waitForFunction(tracksDrawn);
  await page.keyboard.down("Shift");
  await page.mouse.move(...at(0.3));
  await page.mouse.down();
  await page.mouse.move(...at(0.6, 150), { steps: 4 });
  await page.mouse.up();
  await page.keyboard.up("Shift");
  await page.waitForFunction(() => /event/.test(document.querySelector("#brush-text").textContent));
  const brushed = await page.textContent("#brush-text");
  await shot(page, "tracks-range");
  await page.click("#brush-lines");
  const found = await hits(page);
  demand(brushed.startsWith("about") || numberOf(brushed.split(" ")[0]) === found,
    `"${brushed}" has`, found, "lines");
  const chips = await page.$$eval("#chips .chip-name", (all) => all.map((one) => one.textContent));
  demand(chips.join() === "since,until", "the filters are", chips);
  await page.close();
  return `tracks: ${brushed}`;
}

async function follow(context) {
  const page = await open(context, fragmentOf(live.id), "live: ");
  await page.waitForSelector("#follow[aria-pressed=true]");
  const place = async () => (await rows(page)).at(-1).line;
  const later = (than) => page.waitForFunction((before) => {
    const last = [...document.querySelectorAll("#rows .c-line")].at(-1);
    return Number(last?.textContent.replaceAll(",", "")) > before;
  }, than);
  await later(await place());
  await later(await place());

  // Paused, the place is kept while the list grows.
  const grid = await page.locator("#grid").boundingBox();
  await page.mouse.move(grid.x + 200, grid.y + 100);
  await page.mouse.wheel(0, -400);
  await page.waitForSelector("#follow[aria-pressed=false]");
  await page.waitForFunction(() => /\+/.test(document.querySelector("#follow").textContent));
  const top = (await rows(page))[0].line;
  const max = await page.$eval("#bar", (bar) => Number(bar.ariaValueMax));
  await page.waitForFunction((before) => Number(document.querySelector("#bar").ariaValueMax)
    > before, max);
  demand((await rows(page))[0].line === top, "the place was not kept");
  await shot(page, "live-paused");

  await page.keyboard.press("f");
  await page.waitForSelector("#follow[aria-pressed=true]");
  await later(await place());
  process.kill(live.pid, "SIGKILL");
  // The last event of a program that was killed is the last one that is shown.
  let last = dumped(live.id, "-n", "1")[0];
  for (let again = dumped(live.id, "-n", "1")[0]; again !== last;) {
    last = again;
    again = dumped(live.id, "-n", "1")[0];
  }
  await page.waitForFunction((text) => [...document.querySelectorAll("#rows .c-message")].at(-1)
    ?.textContent === text, last);
  await page.close();
  return `follow: up to "${last}"`;
}

async function links(context) {
  const count = 5;
  const wanted = fragmentOf(archive.id, { line: count, q: archive.query, all: 1 });
  const page = await open(context, wanted);
  await page.waitForSelector("#rows .row.selected");
  await hits(page);
  demand(await page.inputValue("#q") === archive.query, "the query of the link");
  demand(await page.getAttribute("#all", "aria-pressed") === "true", "all lines of the link");
  demand((await rows(page)).some(({ line }) => line === count), "the line of the link");
  await page.click("#tab-tracks");
  await page.waitForFunction(tracksDrawn);
  await page.mouse.move(600, 400);
  await page.mouse.wheel(0, -600);
  await page.waitForFunction(() => location.hash.includes("from="));
  await page.waitForFunction(tracksDrawn);
  const address = page.url();
  await page.close();

  // The window is that of the link also if the selected line, which is earlier, is known late.
  let release;
  const drawnBefore = new Promise((done) => { release = done; });
  await context.route(/lines\?from=5&count=1$/, async (route) => {
    await drawnBefore;
    await route.continue();
  });
  const other = await open(context, new URL(address).hash);
  await other.waitForFunction(tracksDrawn);
  const shown = () => other.$eval("#tracks-said", (said) => said.textContent.split(", ").at(-1));
  const window = await shown();
  const answered = other.waitForResponse(/lines\?from=5&count=1$/);
  release();
  await (await answered).finished();
  await frames(other);
  demand(await shown() === window, "the window", window, "became", await shown());
  demand(other.url() === address, "the link", address, "became", other.url());
  await context.unroute(/lines\?from=5&count=1$/);
  // It stays if the address comes to have another line.
  const again = other.waitForResponse(/lines\?from=9&count=1$/);
  await other.evaluate(() => { location.hash = location.hash.replace("line=5", "line=9"); });
  await (await again).finished();
  await frames(other);
  demand(await shown() === window, "the window", window, "became", await shown());
  // A line that is selected now is brought into sight.
  await hits(other);
  await other.keyboard.press("n");
  await other.waitForFunction((before) => !document.querySelector("#tracks-said").textContent
    .endsWith(before), window);
  await other.waitForSelector("#tab-tracks[aria-selected=true]");
  await other.keyboard.press("3");
  await other.waitForSelector("#overview[aria-busy=false] .bar-row");
  await shot(other, "overview-light");
  await other.close();
  return "links: a line, a query, a window of time";
}

async function editor(context) {
  const found = timeline("search", archive.path, archive.source, "--limit", "1", "--json",
    "--whole");
  const { line: first, properties } = JSON.parse(found[0]);
  const file = Object.values(properties).find((one) => one?.$type === "SourceFile").$text;
  const line = Object.values(properties).find((one) => one?.$type === "LineNumber").$text;
  const page = await open(context, fragmentOf(archive.id, { line: first }));
  const place = `${file}:${line}`;
  const link = async () => {
    await page.waitForSelector("#details[aria-busy=false] .facts");
    return page.locator("#details a", { hasText: place }).first().getAttribute("href");
  };
  demand(await link() === `vscode://file/${place}`, "the link is", await link());

  const setLink = async (template) => {
    await page.keyboard.press("?");
    await page.fill("#help[open] #editor", template);
    await page.press("#editor", "Tab");
    const good = await page.$eval("#editor", (input) => input.validity.valid);
    await page.keyboard.press("Escape");
    return good;
  };
  demand(await setLink("idea://open?file={path}&line={line}"), "the template is refused");
  demand(!await setLink("javascript:alert('{path}')"), "a script is taken for an editor");
  await page.reload();
  demand(await link() === `idea://open?file=${file}&line=${line}`, "the new link is", await link());
  await page.evaluate(() => localStorage.clear());
  await page.close();
  return `editor: ${place}`;
}

/** Each value that filters by a click finds the line that it was clicked in. */
async function typed(context) {
  const { id, lines: count } = given.typed;
  const page = await open(context, fragmentOf(id));
  const buttons = page.locator("#details tbody button.value");
  const shown = async (line) => {
    await page.waitForFunction((at) => location.hash.includes(`line=${at}`)
      && !location.hash.includes("where=") && !location.hash.includes("category="), line);
    await page.waitForSelector("#details[aria-busy=false] .facts");
    await frames(page);
  };
  let tried = 0;
  const names = new Set();
  for (let line = 0; line < count; line += 1) {
    await page.goto(`${given.address}${fragmentOf(id, { line })}`);
    await shown(line);
    const all = await buttons.count();
    for (let place = 0; place < all; place += 1) {
      const title = await buttons.nth(place).getAttribute("title");
      names.add(title);
      await buttons.nth(place).click();
      const said = await page.waitForFunction(() => {
        const text = document.querySelector("#count-text").textContent;
        return /^([\d,]+ of [\d,]+|[\d,]+ hits?)$/.test(text)
          && /where=|category=/.test(location.hash) ? text : null;
      });
      // The selected line has a place among the hits if it is one.
      demand(/ of /.test(await said.jsonValue()), `line ${line}: "${title}" finds`,
        await said.jsonValue());
      await page.goBack();
      await shown(line);
      tried += 1;
    }
    if (line > 0) continue;
    const address = await page.locator("#details tbody a").getAttribute("href");
    demand(/\/build\/Engine\/Foo\.cpp:42$/.test(address), "the link of the file is", address);
    const types = await page.$$eval("#details td.type",
      (cells) => cells.map((one) => one.textContent));
    for (const type of ["Channel", "SourceFile", "Asset", "Symbol", "Severity", "LineNumber",
      "ColumnNumber", "ToolName", "ScreenshotTest"]) {
      demand(types.includes(type), `no ${type} is shown`);
    }
    await shot(page, "typed");
  }
  for (const name of ["category LogInit", 'where what.assetPath == "/Game/Foo"',
    'where where.depotPath == "//UE5/Main/Engine/Foo.cpp"', "where where.line == 42",
    'where row == "41"', "where at.col == 7", "where big == 9007199254740993"]) {
    demand(names.has(`Show only ${name}`), "nothing filters", name, [...names].join("; "));
  }
  await page.close();
  return `typed: ${tried} values find their lines`;
}

async function dark() {
  const context = await browser.newContext({ colorScheme: "dark",
    viewport: { width: 1280, height: 800 } });
  const page = await open(context, fragmentOf(archive.id, { line: 3 }));
  await page.waitForSelector("#details[aria-busy=false] .facts");
  const brightness = () => page.evaluate(() => {
    const [red, green, blue] = getComputedStyle(document.body).backgroundColor.match(/\d+/g);
    return (Number(red) + Number(green) + Number(blue)) / 765;
  });
  demand(await brightness() < 0.2, "dark is", await brightness());
  await rows(page);
  await shot(page, "lines-dark");
  await page.keyboard.press("2");
  await page.waitForFunction(tracksDrawn);
  await shot(page, "tracks-dark");
  await page.keyboard.press("4");
  await page.waitForFunction(latencyDrawn);
  await shot(page, "latency-dark");
  await page.keyboard.press("t");
  await page.waitForFunction(() => document.documentElement.dataset.theme === "light");
  demand(await brightness() > 0.8, "light is", await brightness());
  await context.close();
  return "dark and light";
}

async function narrow() {
  const context = await browser.newContext({ viewport: { width: 400, height: 760 } });
  const page = await open(context, fragmentOf(archive.id, { line: 3 }));
  await page.waitForSelector("#details[aria-busy=false] .facts");
  await rows(page);
  const fits = () => page.evaluate(() => document.documentElement.scrollWidth <= innerWidth);
  const grid = await page.locator("#grid").boundingBox();
  const details = await page.locator("#details").boundingBox();
  demand(details.y >= grid.y + grid.height - 1, "the details are not below the lines");
  for (const [view, ready] of [["lines", drawn], ["tracks", tracksDrawn],
    ["latency", latencyDrawn]]) {
    await page.click(`#tab-${view}`);
    await page.waitForFunction(ready);
    demand(await fits(), view, "is wider than 400 pixels");
    await shot(page, `${view}-narrow`);
  }
  await page.click("#tab-overview");
  await page.waitForSelector("#overview[aria-busy=false]");
  demand(await fits(), "the overview is wider than 400 pixels");
  await page.click("#help-button");
  await page.waitForSelector("#help[open]");
  await page.keyboard.press("Escape");
  await page.waitForFunction(() => !document.querySelector("dialog[open]"));
  await context.close();
  return "400 pixels";
}

async function latency(context) {
  const page = await open(context, fragmentOf(archive.id));
  await rows(page);
  return durations({ page, rows, shot, timeline, demand, archive, latencyDrawn, tracksDrawn });
}

async function hour(context) {
  const { id, begin } = given.hour;
  const from = BigInt(begin) + 1_800_000_000_000n;
  const rest = { view: "tracks", from, to: from + 5_000_000_000n };
  const page = await open(context, fragmentOf(id, rest));
  return longSpans({ page, demand, shot, tracksDrawn }, begin);
}

async function latencyGrows(context) {
  const fragment = fragmentOf(live.id, { view: "latency", what: "every net.sent" });
  return growing({ page: await open(context, fragment, "live: "), latencyDrawn });
}

async function modules(context) {
  const seed = given.seed ?? 1;
  const page = await open(context, fragmentOf(archive.id));
  await rows(page);
  const wrong = await page.evaluate(compareModules, { seed, id: archive.id, query: archive.query });
  demand(wrong.length === 0, `with seed ${seed}:\n  ${wrong.join("\n  ")}`);
  await page.close();
  return "modules: as their twins";
}

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"] });
const context = await browser.newContext({ colorScheme: "light",
  viewport: { width: 1280, height: 800 } });
const parts = [modules, lines, slow, search, filters, tracks, latency, links, editor, dark, narrow];
if (given.hour) parts.push(hour);
if (given.typed) parts.push(typed);
if (live) parts.push(latencyGrows, follow);
let failed = false;
for (const part of parts) {
  if (given.only && !given.only.includes(part.name)) continue;
  try {
    console.log(await part(context));
  } catch (error) {
    failed = true;
    console.log(`FAILED ${part.name}: ${error.stack ?? error}`);
    // So that what failed does not have the next parts fail.
    await context.unrouteAll();
    for (const page of context.pages()) await page.close();
  }
}
await browser.close();
for (const complaint of complaints) console.log(`The browser complains: ${complaint}`);
process.exitCode = failed || complaints.length ? 1 : 0;
