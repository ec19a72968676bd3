// Checks the description of `timeline serve`, and that its answers are as it says: describe.mjs ADDRESS LOG

import { Validator } from "@seriousme/openapi-schema-validator";
import Ajv from "ajv/dist/2020.js";

const [address, log] = process.argv.slice(2);

/** Answers, and the data of the events of a stream up to one that says enough. */
async function get(path) {
  const answer = await fetch(address + path);
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
  if (!answer.headers.get("content-type").includes("event-stream")) {
    return { isStream: false, bodies: [await answer.json()] };
  }
  let text = "";
  const decoder = new TextDecoder();
  for await (const bytes of answer.body) {
    text += decoder.decode(bytes, { stream: true });
    if (/event: (end|grown)\ndata: .*\n\n/.test(text)) break;
  }
  const events = text.matchAll(/event: (?:progress|end|grown)\ndata: (.*)\n\n/g);
  return { isStream: true, bodies: [...events].map(([, data]) => JSON.parse(data)) };
}

const description = (await get("/api/openapi.json")).bodies[0];
const { valid, errors } = await new Validator().validate(structuredClone(description));
if (!valid) throw new Error(JSON.stringify(errors));

const ajv = new Ajv({ strict: false, validateFormats: false });
ajv.addSchema({ $id: "description", components: description.components });
const queries = { "/api/logs/{log}/at": "?time=0", "/api/logs/{log}/search": "?q=sent",
  "/api/logs/{log}/spans": `?from=1&to=${(BigInt(Date.now()) + 60_000n) * 1_000_000n}` };
let asked = 0;
for (const [path, { get: described }] of Object.entries(description.paths)) {
  // Bytes, what a live timeline has not, and a stream without an end.
  const left = ["/file", "/archive", "/files", "{name}", "/changes"];
  if (!described || left.some((end) => path.endsWith(end))) continue;
  const place = path.replace("{log}", log).replace("{line}", "3") + (queries[path] ?? "");
  const { isStream, bodies } = await get(place);
  asked += 1;
  const [[kind, { schema }]] = Object.entries(described.responses[200].content);
  if (isStream !== (kind === "text/event-stream")) throw new Error(`${path}: not of ${kind}`);
  if (bodies.length === 0) throw new Error(`${path}: an empty stream`);
  const own = JSON.parse(JSON.stringify(schema).replaceAll("#/components", "description#/components"));
  for (const body of bodies) {
    if (!ajv.validate(own, body)) {
      throw new Error(`${path}: ${ajv.errorsText()} in ${JSON.stringify(body)}`);
    }
  }
}
// Each request says how it is answered if it fails, and is answered so.
const { $ref } = description.paths["/api/logs"].get.responses.default.content["application/json"].schema;
for (const [path, methods] of Object.entries(description.paths)) {
  for (const [method, { responses }] of Object.entries(methods)) {
    const described = responses.default.content["application/json"].schema.$ref;
    if (described !== $ref) throw new Error(`${method} ${path}: fails as ${described}`);
    if (!path.includes("{log}")) continue;
    const place = path.replace("{log}", "%FF").replace("{line}", "3").replace("{name}", "x.tla");
    const answer = await fetch(address + place, { method: method.toUpperCase() });
    const body = await answer.json();
    const own = { $ref: $ref.replace("#/", "description#/") };
    if (answer.status !== 400 || !ajv.validate(own, body)) {
      throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(body)}`);
    }
  }
}
console.log(`${Object.keys(description.paths).length} described, ${asked} asked`);
