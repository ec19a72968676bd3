// Tries the page of `timeline serve` in Firefox, and compares what it shows with the command.
//
//     node firefox.mjs '{"address":"http://127.0.0.1:4280/","timeline":"target/release/timeline",
//       "archive":{"id":"a.tla","path":"/srv/a.tla","query":"got"},"live":{"id":"/demo"}}'
//
// FIREFOX is the browser, and ws is found in node_modules beside this file, or in NODE_PATH.
// page.mjs tries more, in Chromium. Prints a line for each part that holds, and what differs; ends
// with 1 then.

import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { Firefox } from "./bidi.mjs";
import { compareModules } from "./modules.mjs";

const given = JSON.parse(process.argv[2]);
const { archive, live } = given;
const complaints = [];

/** The messages of lines of the archive. The page says elsewhere how long a span took. */
function dumped(line, count) {
  const text = execFileSync(given.timeline, ["dump", archive.path, "--line", String(line), "-n",
    String(count), "--columns", "message", "--color", "never"], { encoding: "utf8" });
  return text.split("\n").slice(1, count + 1)
    .map((message) => message.replace(/ took [\d.]+[nµm]?s$/, ""));
}

function demand(is, ...said) {
  if (!is) throw new Error(said.join(" "));
}

const firefox = await Firefox.launch(process.env.FIREFOX ?? "/usr/bin/firefox-esr",
  (text) => complaints.push(text));
/** Opens the page anew: another fragment of the same address would go on with the page. */
async function go(log) {
  await firefox.open("about:blank");
  await firefox.open(`${given.address}#${new URLSearchParams({ log })}`);
}

// Conditions and questions that run in the page.
const rows = () => {
  if (document.querySelector("#grid")?.getAttribute("aria-busy") !== "false") return null;
  const shown = [...document.querySelectorAll("#rows .row")].map((row) => ({
    line: Number((row.querySelector(".c-line")?.textContent ?? "").replaceAll(",", "")),
    text: row.querySelector(".c-message").textContent }));
  return shown.length ? shown : null;
};
const painted = (selector) => {
  const canvas = document.querySelector(selector);
  const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  return new Set(new Uint32Array(data.buffer)).size;
};
const click = (selector) => document.querySelector(selector).click();

async function lines() {
  await go(archive.id);
  const first = await firefox.until(rows);
  demand(first[0].line === 0, "the first line is", first[0].line);
  demand(first[0].text === dumped(0, 1)[0], first[0].text);
  await firefox.call((line) => { location.hash += `&line=${line}`; }, 9_000);
  const there = await firefox.until((wanted) => [...document.querySelectorAll("#rows .row")]
    .map((row) => [row.querySelector(".c-line").textContent.replaceAll(",", ""),
      row.querySelector(".c-message").textContent])
    .find(([line]) => line === wanted)?.[1], "9000");
  // The command prints all lines of an event as one.
  const whole = dumped(9_000, 1)[0].split("\\n");
  demand(whole.includes(there), "line 9,000 is", there, "and not of", whole);
  return "lines: as dumped";
}

async function search() {
  await go(archive.id);
  await firefox.until(rows);
  await firefox.type("/");
  await firefox.type(archive.query);
  const said = await firefox.until(() => {
    const text = document.querySelector("#count-text").textContent;
    return !document.querySelector("#count").hidden && /^[\d,]+ hits?$/.test(text) && text;
  });
  const expected = execFileSync(given.timeline, ["search", archive.path, archive.query, "--count"],
    { encoding: "utf8" }).trim();
  demand(said.replace(/ hits?$/, "").replaceAll(",", "") === expected, said, "and not", expected);
  const shown = await firefox.until(rows);
  demand(shown.every(({ text }) => text.toLowerCase().includes(archive.query)), "other lines");
  return `search: ${said}`;
}

async function views() {
  await go(archive.id);
  await firefox.until(rows);
  await firefox.call(click, "#tab-tracks");
  await firefox.until(() => document.querySelector("#plot").ariaBusy === "false");
  demand(await firefox.call(painted, "#plot canvas, canvas#plot") > 2, "the tracks are blank");
  await shot("firefox-tracks");
  await firefox.call(click, "#tab-overview");
  await firefox.until(() => /\d/.test(document.querySelector("#overview").innerText));
  await firefox.call(click, "#tab-latency");
  await firefox.until(() => document.querySelector("#latency").ariaBusy === "false"
    && document.querySelectorAll("#series-rows tr").length > 0);
  await shot("firefox-latency");
  return "views: tracks, overview and latency are drawn";
}

async function follow() {
  await go(live.id);
  // A live timeline is followed from the beginning.
  await firefox.until(rows);
  const last = () => {
    const all = [...document.querySelectorAll("#rows .row .c-message")];
    return all.map((one) => one.textContent).filter(Boolean).at(-1) ?? null;
  };
  const one = await firefox.until(last);
  const other = await firefox.until((before) => {
    const all = [...document.querySelectorAll("#rows .row .c-message")];
    const now = all.map((one) => one.textContent).filter(Boolean).at(-1);
    return now !== before && now;
  }, one);
  return `follow: from "${one}" to "${other}"`;
}

async function narrow() {
  await firefox.resize(400, 800);
  await go(archive.id);
  await firefox.until(rows);
  const wide = await firefox.call(() => document.documentElement.scrollWidth);
  demand(wide <= 400, "400 pixels are too few:", wide);
  await firefox.resize(1280, 800);
  return "narrow: fits into 400 pixels";
}

async function modules() {
  const seed = given.seed ?? 1;
  await go(archive.id);
  await firefox.until(rows);
  const wrong = await firefox.call(compareModules, { seed, id: archive.id, query: archive.query });
  demand(wrong.length === 0, `with seed ${seed}:\n  ${wrong.join("\n  ")}`);
  return "modules: as their twins";
}

const shot = (name) => given.screenshots
  && firefox.screenshot(join(given.screenshots, `${name}.png`));

let failed = false;
try {
  await firefox.resize(1280, 800);
  const parts = [lines, search, views, ...(live ? [follow] : []), narrow, modules];
  for (const part of parts) {
    try {
      console.log(await part());
    } catch (error) {
      failed = true;
      console.error(`${part.name}: ${error.stack}`);
    }
  }
} finally {
  await firefox.close();
}
for (const complaint of complaints) console.error(`Firefox complains: ${complaint}`);
process.exit(failed || complaints.length ? 1 : 0);
