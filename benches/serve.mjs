#!/usr/bin/env node
// Measures `timeline serve` and its page in a browser: `make bench-serve`. A table on standard output, talk on
// standard error.
//
//     TARGET_DIR=target/release benches/serve.mjs [--quick]
//
// The archive has 50 million events. A jump is measured from the change of the address until the line is drawn and the
// browser has painted once more; a zoom likewise, until the counts of the new range are drawn. The delay of a live
// event is from right before the program is told to log it until it stands on the page, by the clock of this machine.

import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { cpus, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const { chromium } = createRequire(join(here, "../tests/browser/package.json"))("playwright-core");
const quick = process.argv.includes("--quick");
const target = process.env.TARGET_DIR ?? join(here, "../target/release");
const events = quick ? 1_000_000 : 50_000_000;
const repeats = quick ? 5 : 100;
const folder = mkdtempSync(join(tmpdir(), "bench-serve-"));
const rows = [];
const children = [];

const say = (text) => console.error(`bench-serve: ${text}`);
const program = (name) => join(target, name);

/** The value below which a share of the values is. */
function quantile(values, share) {
  const sorted = [...values].sort((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.ceil(share * sorted.length) - 1)];
}

function report(figure, goal, values, unit = "ms") {
  const [median, p99, most] = [quantile(values, 0.5), quantile(values, 0.99), quantile(values, 1)];
  const shown = (value) => `${value.toFixed(value < 10 ? 1 : 0)} ${unit}`;
  rows.push([figure, goal, shown(median), shown(p99), shown(most), String(values.length)]);
}

/** Starts a program, and gives its process and the lines that it prints. */
function start(name, words, more = {}) {
  const child = spawn(name, words, { stdio: ["pipe", "pipe", "inherit"], ...more });
  children.push(child);
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return { child, line: async () => (await lines.next()).value };
}

/** Ends a program, and waits until it has ended. */
async function end(child) {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise((resolve) => child.once("exit", resolve));
  child.kill();
  await ended;
}

async function serve(...paths) {
  const { child, line } = start(program("timeline"), ["serve", "--listen", "127.0.0.1:0", ...paths]);
  return { child, address: await line() };
}

/** Bytes of memory of a process: what it has now, and the most that it had. */
function memory({ pid }) {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  const of = (name) => Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)[1]) / 1024;
  return { now: of("VmRSS"), most: of("VmHWM") };
}

const fragment = (rest) => `#${new URLSearchParams(rest)}`;
const isDrawn = () => document.querySelector("#grid")?.getAttribute("aria-busy") === "false"
  && document.querySelectorAll("#rows .row .c-message").length > 0;

async function firstScreens(browser, address, id) {
  const times = [];
  for (let n = 0; n < Math.max(5, repeats / 5); n += 1) {
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
    const page = await context.newPage();
    await page.goto(address + fragment({ log: id }), { waitUntil: "commit" });
    await page.waitForFunction(isDrawn, undefined, { polling: "raf" });
    times.push(await page.evaluate(() => performance.now()));
    await context.close();
  }
  return times;
}

/** Changes the address, and waits in the page until what it asks for is drawn. */
function jumpTo(page, given) {
  return page.evaluate(async ({ hash, line }) => {
    const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
    const changed = new Promise((resolve) => addEventListener("hashchange", resolve, { once: true }));
    const begun = performance.now();
    location.hash = hash;
    await changed;
    // The tracks say with the first picture of a new range whether it waits for counts.
    if (line === undefined) await frame();
    const isThere = () => {
      if (line === undefined) return document.querySelector("#plot").ariaBusy === "false";
      // Rows whose events are on their way have numbers, too.
      const shown = [...document.querySelectorAll("#rows .row:not(.waiting) .c-line")];
      return shown.some((cell) => Number(cell.textContent.replaceAll(",", "")) === line);
    };
    do {
      await frame();
      if (performance.now() - begun > 20_000) throw new Error(`${hash} is not drawn`);
    } while (!isThere());
    // A message that is sent at the beginning of a frame arrives when the frame is drawn.
    const { port1, port2 } = new MessageChannel();
    const drawn = new Promise((resolve) => { port1.onmessage = resolve; });
    port2.postMessage(null);
    await drawn;
    return performance.now() - begun;
  }, given);
}

/** Clicks into the bar beside the lines, and waits in the page until the lines there are drawn. */
async function scrollTo(page, share) {
  const box = await page.locator("#bar").boundingBox();
  const drawn = page.evaluate(() => new Promise((resolve, failed) => {
    const frame = () => new Promise((next) => requestAnimationFrame(next));
    const first = () => document.querySelector("#rows .row:not(.waiting) .c-line")?.textContent;
    const before = first();
    const isThere = () => first() !== before && !document.querySelector("#rows .row.waiting");
    document.querySelector("#bar").addEventListener("pointerdown", async () => {
      const begun = performance.now();
      do {
        await frame();
        if (performance.now() - begun > 20_000) failed(new Error("nothing is drawn"));
      } while (!isThere());
      const { port1, port2 } = new MessageChannel();
      port1.onmessage = () => resolve(performance.now() - begun);
      port2.postMessage(null);
    }, { once: true, capture: true });
  }));
  await page.mouse.move(box.x + box.width / 2, box.y + share * box.height);
  await page.mouse.down();
  await page.mouse.up();
  return drawn;
}

/** Milliseconds between frames while the wheel turns in each: it zooms in, moves to the right, and zooms out. */
function turnTheWheel(page, frames) {
  return page.evaluate(async (count) => {
    const canvas = document.querySelector("#canvas");
    const box = canvas.getBoundingClientRect();
    const at = { clientX: box.left + box.width / 2, clientY: box.top + box.height / 2, cancelable: true };
    const turns = [{ deltaY: -120 }, { deltaX: 40 }, { deltaY: 120 }];
    const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
    const times = [];
    let last = await frame();
    for (let n = 0; n < count; n += 1) {
      canvas.dispatchEvent(new WheelEvent("wheel", { ...at, ...turns[Math.floor((3 * n) / count)] }));
      const now = await frame();
      times.push(now - last);
      last = now;
    }
    return times;
  }, frames);
}

async function archive(browser) {
  const path = join(folder, "flight.tla");
  say(`making an archive of ${events.toLocaleString("en")} events`);
  execFileSync(program("bench-archive"), ["--mode", "write", "--file", path, "--events", events]);
  execFileSync(program("timeline"), ["index", path], { stdio: "ignore" });
  const { child, address } = await serve(path);
  const api = `${address}api/logs/${encodeURIComponent(path)}`;
  const log = await (await fetch(api)).json();
  say("opening the page");
  report("first screen", "300 ms", await firstScreens(browser, address, path));
  const page = await (await browser.newContext({ viewport: { width: 1280, height: 800 } })).newPage();
  await page.goto(address + fragment({ log: path }));
  await page.waitForFunction(isDrawn);
  say("jumping");
  const jumps = [];
  for (let n = 0; n < repeats; n += 1) {
    const line = Math.floor(Math.random() * (log.lines - 100));
    jumps.push(await jumpTo(page, { hash: fragment({ log: path, line }), line }));
  }
  report("jump to any line, until drawn", "50 ms (99 %)", jumps);
  say("scrolling");
  const scrolls = [];
  for (let n = 0; n < repeats; n += 1) {
    // To the other half each time: a click on the thumb goes nowhere.
    scrolls.push(await scrollTo(page, 0.02 + 0.44 * Math.random() + (n % 2 ? 0.5 : 0)));
  }
  report("scroll to any place, until drawn", "50 ms (99 %)", scrolls);
  say("zooming");
  const [first, last] = [BigInt(log.first.unix_ns), BigInt(log.last.unix_ns)];
  await page.goto(address + fragment({ log: path, view: "tracks" }));
  await page.waitForFunction(() => document.querySelector("#plot").ariaBusy === "false");
  const zooms = [];
  for (let n = 0; n < repeats; n += 1) {
    const span = Number(last - first) * 10 ** (-7 * Math.random());
    const from = first + BigInt(Math.floor(Math.random() * (Number(last - first) - span)));
    const to = from + BigInt(Math.ceil(span));
    const hash = fragment({ log: path, view: "tracks", from, to });
    zooms.push(await jumpTo(page, { hash }));
  }
  report("zoom of the tracks to any range, until drawn", "100 ms (99 %)", zooms);
  say("turning the wheel");
  await jumpTo(page, { hash: fragment({ log: path, view: "tracks", from: first, to: last }) });
  const frames = await turnTheWheel(page, quick ? 60 : 600);
  report("from frame to frame, while the wheel zooms and moves", "16.7 ms: 60 a second", frames);
  await page.context().close();
  rows.push(["memory of the server, one log", "64 MiB", `${memory(child).now.toFixed()} MiB`, "", "", ""]);
  say("200 readers");
  const reader = async () => {
    for (let n = 0; n < (quick ? 2 : 10); n += 1) {
      const from = Math.floor(Math.random() * (log.lines - 200));
      const answer = await fetch(`${api}/lines?from=${from}&count=200`);
      await answer.text();
      if (!answer.ok) throw new Error(`a reader got ${answer.status}`);
    }
  };
  await Promise.all(Array.from({ length: 200 }, reader));
  rows.push(["the most of it, with 200 readers", "256 MiB", `${memory(child).most.toFixed()} MiB`, "", "", ""]);
  await end(child);
}

/** A program in LuaJIT that logs a number whenever it is told to. */
const LOGGER = `
package.path = arg[1] .. "/?.lua;" .. package.path
local timeline = require("timeline")
local log = timeline.define(timeline.new(arg[2]), "live", "info", "live $number")
print("ready") io.flush()
for line in io.lines() do log(tonumber(line)) end`;

async function live(browser) {
  say("following a live timeline");
  const name = `/bench-serve-${process.pid}`;
  const script = join(folder, "live.lua");
  writeFileSync(script, LOGGER);
  const env = { ...process.env, TIMELINE_LIBRARY: program("libtimeline.so"), LD_LIBRARY_PATH: target };
  const luajit = execFileSync(join(here, "../scripts/luajit.sh"), { encoding: "utf8" }).trim();
  const logger = start(luajit, [script, join(here, "../lua"), name], { env });
  await logger.line();
  const { child, address } = await serve(name);
  const page = await (await browser.newContext()).newPage();
  const wall = () => performance.timeOrigin + performance.now();
  logger.child.stdin.write("0\n");
  await page.goto(address + fragment({ log: name }));
  await page.waitForFunction(isDrawn);
  const times = [];
  for (let number = 1; number <= repeats; number += 1) {
    const shown = page.evaluate((text) => new Promise((resolve) => {
      const look = () => {
        const last = [...document.querySelectorAll("#rows .c-message")].at(-1);
        if (last?.textContent === text) resolve(performance.timeOrigin + performance.now());
        else requestAnimationFrame(look);
      };
      look();
    }), `live number(${number})`);
    const begun = wall();
    logger.child.stdin.write(`${number}\n`);
    times.push(await shown - begun);
  }
  report("a live event, until it stands on the page", "100 ms", times);
  await page.context().close();
  await end(child);
  await end(logger.child);
  execFileSync(program("timeline"), ["rm", name], { stdio: "ignore" });
}

/** What an event costs a program, in readings of the clock, while a page follows it and while none does. */
async function overhead() {
  say("a program, while it is followed and while not");
  const name = `/bench-followed-${process.pid}`;
  const env = { ...process.env, BENCH_RING: name, BENCH_WARM_UP: "100000" };
  const words = ["--mode", "loop", "--variant", "enabled4", "--threads", "1", "--events", "2000000",
    "--repeats", quick ? "2" : "5"];
  execFileSync(program("bench-log"), words, { env });
  const ratios = { followed: [], alone: [] };
  for (let n = 0; n < (quick ? 2 : 8); n += 1) {
    for (const kind of ["alone", "followed"]) {
      const { child, line } = start(program("bench-log"), words, { env });
      let server, stop;
      if (kind === "followed") {
        server = await serve();
        stop = new AbortController();
        const api = `${server.address}api/logs/${encodeURIComponent(name)}`;
        const stream = fetch(`${api}/follow`, { signal: stop.signal });
        stream.then(async (answer) => {
          for await (const _ of answer.body) await (await fetch(`${api}/lines?from=0&count=50`)).text();
        }).catch(() => {});
      }
      for (let said = await line(); said !== undefined; said = await line()) {
        const { event_cpu_ns: event, clock_cpu_ns: clock } = JSON.parse(said);
        ratios[kind].push(event / clock);
      }
      stop?.abort();
      if (server) await end(server.child);
      await end(child);
    }
  }
  execFileSync(program("timeline"), ["rm", name], { stdio: "ignore" });
  report("an event of a program that nobody follows", "", ratios.alone, "clocks");
  report("the same while a page follows it", "no difference", ratios.followed, "clocks");
}

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"] });
try {
  await archive(browser);
  await live(browser);
  await overhead();
  const [{ model }] = cpus();
  console.log(`${model}, ${cpus().length} CPUs, ${browser.version()}; ${events.toLocaleString("en")} events\n`);
  console.log("| figure | goal | median | 99 % | most | runs |\n|---|---|---|---|---|---|");
  for (const row of rows) console.log(`| ${row.join(" | ")} |`);
} finally {
  await browser.close();
  for (const child of children) child.kill();
  rmSync(folder, { recursive: true });
}
