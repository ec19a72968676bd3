// Asks the server: JSON and event streams, with the token if there is one.

import { eventsOf } from "./sse.js";
/** @import { Answers, ErrorObject, Growth, Hits, Progress } from "../../types/api.js" */

/**
 * A value of a parameter, and the parameters of a request: an object, or a list of pairs.
 * @typedef {string | number | bigint | boolean} Word
 * @typedef {Record<string, Word> | Word[][]} Params
 */

/**
 * The path in the server's description that a path of a log has.
 * @template {string} R
 * @typedef {R extends "" ? "logs/{log}" : R extends `lines/${number}` ? "logs/{log}/lines/{line}"
 *   : `logs/{log}/${R}`} OfLog
 */

/**
 * What streams tell: the name of an event, and its data.
 * @typedef {["hits", Hits] | ["progress" | "end", Progress] | ["error", ErrorObject]} Searched
 * @typedef {["grown", Growth] | ["end", unknown] | ["error", ErrorObject]} Followed
 */

/** What the server answered instead of what was asked for; `status` is 0 if it did not. */
export class ApiError extends Error {
  /** @param {number} status @param {string} message */
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

let token = "";

/** Takes the token out of the address, where it could be seen, and keeps it for this tab. */
export function takeToken() {
  const fragment = new URLSearchParams(location.hash.slice(1));
  try {
    if (fragment.has("token")) sessionStorage.setItem("token", fragment.get("token") ?? "");
    token = sessionStorage.getItem("token") ?? "";
  } catch {
    token = fragment.get("token") ?? token;
  }
  if (!fragment.has("token")) return;
  fragment.delete("token");
  const rest = fragment.toString();
  history.replaceState(null, "", location.pathname + (rest ? "#" + rest : ""));
}

/**
 * Whether a request was ended by the page itself, which is no error.
 * @param {unknown} error
 */
export function isAbort(error) {
  return /** @type {{ name?: string } | null} */ (error)?.name === "AbortError";
}

/**
 * The path of something of a log.
 * @template {string} [R=""] @param {string} id @param {R} [rest] @returns {OfLog<R>}
 */
export function ofLog(id, rest = /** @type {R} */ ("")) {
  return /** @type {any} */ (`logs/${encodeURIComponent(id)}${rest ? "/" + rest : ""}`);
}

/** Answers that the page needs at first, by path and query. @type {Map<string, Promise<any>>} */
const early = new Map();

/**
 * Asks a question that the page asks again soon, by `getJson`.
 * @param {keyof Answers} path @param {Params} [params]
 */
export function askEarly(path, params = {}) {
  const answer = getJson(path, params);
  // If it fails, so does the question that takes it.
  answer.catch(() => {});
  early.set(withQuery(path, params), answer);
}

/** From now on, questions are asked when the page has them. */
export function forgetEarly() {
  early.clear();
}

/**
 * The answer to a question as JSON. `params` is an object or a list of pairs.
 * @template {keyof Answers} P @param {P} path @param {Params} [params]
 * @param {AbortSignal} [signal] @returns {Promise<Answers[P]>}
 */
export async function getJson(path, params = {}, signal = undefined) {
  const asked = withQuery(path, params);
  if (early.has(asked)) {
    const answer = early.get(asked);
    early.delete(asked);
    const found = await answer;
    signal?.throwIfAborted();
    return found;
  }
  const response = await ask(path, params, { signal });
  return response.json();
}

/**
 * Posts an object; the answer is the response.
 * @param {string} path @param {object} object @returns {Promise<Response>}
 */
export async function post(path, object) {
  const headers = { "Content-Type": "application/json" };
  return ask(path, {}, { method: "POST", headers, body: JSON.stringify(object) });
}

/**
 * Calls `take(event, object)` for each event of a stream, until it ends.
 * @template {[string, unknown]} T @param {string} path @param {Params} params
 * @param {AbortSignal} signal @param {(...told: T) => void} take
 */
export async function readStream(path, params, signal, take) {
  const headers = { Accept: "text/event-stream" };
  const response = await ask(path, params, { signal, headers });
  const body = /** @type {ReadableStream<Uint8Array>} */ (response.body);
  for await (const { event, data } of eventsOf(body)) {
    if (signal.aborted) return;
    take(.../** @type {T} */ ([event, JSON.parse(data)]));
  }
}

/** @param {string} path @param {Params} params */
function withQuery(path, params) {
  const query = new URLSearchParams(/** @type {string[][]} */ (params)).toString();
  return `${path}${query ? "?" + query : ""}`;
}

/**
 * @param {string} path @param {Params} params
 * @param {RequestInit & { headers?: Record<string, string>, signal?: AbortSignal }} options
 * @param {number} [tries] @returns {Promise<Response>}
 */
async function ask(path, params, options, tries = 3) {
  /** @type {Record<string, string>} */
  const headers = { ...options.headers };
  if (token) headers.Authorization = `Bearer ${token}`;
  let response;
  try {
    response = await fetch(`api/${withQuery(path, params)}`,
      { cache: "no-store", redirect: "error", ...options, headers });
  } catch (error) {
    if (isAbort(error)) throw error;
    throw new ApiError(0, "The server does not answer");
  }
  if (response.ok) return response;
  if (response.status === 503 && tries > 0) {
    const wait = Math.min(5, Number(response.headers.get("Retry-After")) || 1);
    await pause(wait * 1000, options.signal);
    return ask(path, params, options, tries - 1);
  }
  throw new ApiError(response.status, await complaint(response));
}

/** @param {Response} response @returns {Promise<string>} */
async function complaint(response) {
  const object = await response.json().catch(() => ({}));
  if (typeof object?.error === "string") return object.error;
  if (response.status === 401) return "The server needs the token of the address that it printed";
  return `The server answered ${response.status}`;
}

/** @param {number} ms @param {AbortSignal} [signal] @returns {Promise<void>} */
function pause(ms, signal) {
  return new Promise((done, failed) => {
    const timer = setTimeout(done, ms);
    signal?.addEventListener("abort", () => {
      clearTimeout(timer);
      failed(signal.reason);
    }, { once: true });
  });
}
