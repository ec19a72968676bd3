// What may be changed of a live timeline from here: its level, its channels, and a copy of it.

import { getJson, isAbort, ofLog, post } from "./api.js";
import { byId, make } from "./dom.js";
import { showError, showMessage } from "./status.js";
import { visible } from "./text.js";

const LEVELS = ["none", "error", "warning", "info", "trace", "app", "packet", "library", "all"];

/** Shows the controls of a log, if it is live and the server allows changes. */
export async function showControl(log, server) {
  const section = byId("control");
  const allowed = log.kind === "live" && server?.control === true;
  section.hidden = !allowed;
  if (!allowed) return;
  try {
    fill(log, await getJson(ofLog(log.id, "control"), {}, log.signal));
  } catch (error) {
    section.hidden = true;
    if (!isAbort(error)) showError(error, "Control");
  }
}

function fill(log, { level, channels }) {
  const levels = LEVELS.includes(level) ? LEVELS : [level, ...LEVELS];
  const change = async (path, object, said) => {
    try {
      const response = await post(ofLog(log.id, path), object);
      showMessage(said);
      fill(log, await response.json());
    } catch (error) {
      showError(error, "Control");
    }
  };
  const select = make("select", { id: "level",
    onchange: () => change("level", { level: select.value }, `The level is ${select.value}`) },
  levels.map((name) => make("option", { value: name, text: name, selected: name === level })));
  const boxes = (channels ?? []).map(({ name, on }) => make("label", { class: "channel" },
    make("input", { type: "checkbox", checked: on, onchange: (event) => {
      const now = event.target.checked;
      change("channels", { name, on: now }, `Channel ${name} is ${now ? "on" : "off"}`);
    } }), visible(name)));
  byId("control-parts").replaceChildren(
    make("label", {}, "Level ", select),
    ...(boxes.length ? [make("span", { class: "words", text: "Channels" }), ...boxes] : []),
    make("button", { type: "button", text: "Save a snapshot", onclick: () => save(log) }));
}

async function save(log) {
  try {
    const bytes = await (await post(ofLog(log.id, "snapshot"), {})).blob();
    const address = URL.createObjectURL(bytes);
    const name = `${log.name.replaceAll("/", "")}.timeline`;
    make("a", { href: address, download: name }).click();
    setTimeout(() => URL.revokeObjectURL(address), 60_000);
  } catch (error) {
    showError(error, "Snapshot");
  }
}
