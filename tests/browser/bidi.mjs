// Drives Firefox by WebDriver BiDi, as far as the test of the page needs it.
// https://w3c.github.io/webdriver-bidi/

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

const { WebSocket } = createRequire(import.meta.url)("ws");
/** How long a condition is waited for, in ms. */
const PATIENCE = 60_000;

/** A browser with one tab. `complaint(text)` is called for each error and warning of a page. */
export class Firefox {
  #next = 1;
  #waiting = new Map();

  static async launch(executable, complaint) {
    const firefox = new Firefox();
    firefox.profile = mkdtempSync(join(tmpdir(), "firefox-"));
    // Nothing is fetched from elsewhere.
    const prefs = { "app.normandy.enabled": false, "app.update.auto": false,
      "browser.safebrowsing.downloads.enabled": false, "datareporting.policy.dataSubmissionEnabled": false,
      "extensions.getAddons.cache.enabled": false, "network.captive-portal-service.enabled": false,
      "network.connectivity-service.enabled": false, "remote.active-protocols": 1,
      "remote.prefs.recommended": true };
    const lines = Object.entries(prefs).map(([name, value]) => `user_pref("${name}", ${value});`);
    writeFileSync(join(firefox.profile, "user.js"), lines.join("\n"));
    firefox.process = spawn(executable, ["--headless", "--no-remote", "--profile", firefox.profile,
      "--remote-debugging-port", "0", "about:blank"], { stdio: ["ignore", "ignore", "pipe"] });
    try {
      firefox.socket = new WebSocket(`${await firefox.#address()}/session`);
      firefox.socket.on("message", (data) => firefox.#take(JSON.parse(data), complaint));
      await once(firefox.socket, "open");
      await firefox.#ask("session.new", { capabilities: {} });
      await firefox.#ask("session.subscribe", { events: ["log.entryAdded"] });
      const { contexts } = await firefox.#ask("browsingContext.getTree", {});
      firefox.context = contexts[0].context;
    } catch (error) {
      await firefox.close();
      throw error;
    }
    return firefox;
  }

  async #address() {
    for await (const line of createInterface({ input: this.process.stderr })) {
      const found = /WebDriver BiDi listening on (ws:\S+)/.exec(line);
      if (found) {
        this.process.stderr.resume();
        return found[1];
      }
    }
    throw new Error("Firefox has ended before it listened");
  }

  #take(message, complaint) {
    if (message.method === "log.entryAdded") {
      const { level, text } = message.params;
      if (level === "error" || level === "warn") complaint(text);
    }
    const waiting = this.#waiting.get(message.id);
    this.#waiting.delete(message.id);
    if (message.type === "error") waiting?.failed(new Error(`${message.error}: ${message.message}`));
    else waiting?.done(message.result);
  }

  #ask(method, params) {
    const id = this.#next++;
    this.socket.send(JSON.stringify({ id, method, params }));
    return new Promise((done, failed) => this.#waiting.set(id, { done, failed }));
  }

  /** Opens an address, and waits until the page is loaded. */
  async open(url) {
    await this.#ask("browsingContext.navigate", { context: this.context, url, wait: "complete" });
  }

  async resize(width, height) {
    await this.#ask("browsingContext.setViewport",
      { context: this.context, viewport: { width, height } });
  }

  /** Calls a function in the page with values that JSON has; its result comes back as JSON. */
  async call(body, ...given) {
    const source = `async () => JSON.stringify(await (${body})(...${JSON.stringify(given)}) ?? null)`;
    const answer = await this.#ask("script.callFunction", { functionDeclaration: source,
      awaitPromise: true, target: { context: this.context } });
    if (answer.type === "exception") throw new Error(answer.exceptionDetails.text);
    return JSON.parse(answer.result.value);
  }

  /** Waits until a function returns something that is true, and returns that. */
  async until(body, ...given) {
    const begun = performance.now();
    for (;;) {
      const found = await this.call(body, ...given);
      if (found) return found;
      if (performance.now() - begun > PATIENCE) {
        const there = await this.call(() => `${location.href}\n${document.body.innerText}`);
        throw new Error(`not within a minute: ${body}\n${there.slice(0, 1_000)}`);
      }
      await this.call(() => new Promise((done) => requestAnimationFrame(done)));
    }
  }

  /** Types a text where the page has its focus. */
  async type(text) {
    const keys = [...text].flatMap((value) => [{ type: "keyDown", value }, { type: "keyUp", value }]);
    await this.#ask("input.performActions", { context: this.context,
      actions: [{ type: "key", id: "keyboard", actions: keys }] });
  }

  /** A picture of the page, as a PNG. */
  async screenshot(path) {
    const { data } = await this.#ask("browsingContext.captureScreenshot", { context: this.context });
    writeFileSync(path, Buffer.from(data, "base64"));
  }

  async close() {
    this.socket?.terminate();
    this.process.kill("SIGKILL");
    if (this.process.exitCode === null && this.process.signalCode === null) {
      await once(this.process, "exit");
    }
    rmSync(this.profile, { recursive: true, force: true, maxRetries: 10 });
  }
}
