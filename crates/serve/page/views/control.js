// What may be changed of a live timeline from here: its level, its channels, and a copy of it.

import { getJson, isAbort, ofLog, post } from "../data/api.js";
import { visible } from "../data/text.js";
import { byId, make } from "../draw/dom.js";
import { showError, showMessage } from "../shell/status.js";
/** @import { Log } from "../data/log.js" */
/** @import { ControlState, Results, ServerObject } from "../../types/api.js" */

const LEVELS = ["none", "error", "warning", "info", "trace", "app", "packet", "library", "all"];

/**
 * Shows the controls of a log, if it is live and the server allows changes.
 * @param {Log} log @param {ServerObject | null} server
 */
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

/** @param {Log} log @param {ControlState} state */
function fill(log, { level, channels }) {
  const levels = LEVELS.includes(level) ? LEVELS : [level, ...LEVELS];
  /** @param {"rules" | "channels"} path @param {object} object @param {string} said */
  const change = async (path, object, said) => {
    try {
      const response = await post(ofLog(log.id, path), object);
      showMessage(said);
      /** @type {Results[`logs/{log}/${typeof path}`]} */
      const now = await response.json();
      fill(log, now);
    } catch (error) {
      showError(error, "Control");
    }
  };
  /** @type {HTMLSelectElement} */
  const select = make("select", { id: "level",
    onchange: () => change("rules", { rules: select.value }, `The level is ${select.value}`) },
  levels.map((name) => make("option", { value: name, text: name, selected: name === level })));
  const boxes = channels.map(({ name, on }) => make("label", { class: "channel" },
    make("input", { type: "checkbox", checked: on, onchange: ({ target }) => {
      const now = /** @type {HTMLInputElement} */ (target).checked;
      change("channels", { name, on: now }, `Channel ${name} is ${now ? "on" : "off"}`);
    } }), visible(name)));
  byId("control-parts").replaceChildren(
    make("label", {}, "Level ", select),
    ...(boxes.length ? [make("span", { class: "words", text: "Channels" }), ...boxes] : []),
    make("button", { type: "button", text: "Save a snapshot", onclick: () => save(log) }));
}

/** @param {Log} log */
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
