// Makes the types of the page: of the server's answers, and of the elements that have an id.
//
//   node types.mjs openapi.json index.html
//
// The first file is the server's description of itself. Prints JSON: the texts of api.d.ts and elements.d.ts.

import { readFileSync } from "node:fs";

const MADE = "Made by tests/page/types.mjs: see CONTRIBUTING.md";

/** A comment with what a schema says of something. */
function comment(description, indent) {
  if (!description) return "";
  const lines = description.split("\n");
  if (lines.length === 1) return `${indent}/** ${lines[0]} */\n`;
  return `${indent}/**\n${lines.map((line) => `${indent} * ${line}\n`).join("")}${indent} */\n`;
}

const nameOf = ($ref) => $ref.split("/").at(-1);

/** The type of a schema. */
function typeOf(schema, indent = "") {
  const { $ref, allOf, oneOf, type, items, properties, enum: words } = schema;
  if ($ref) return nameOf($ref);
  if (words) return words.map((word) => JSON.stringify(word)).join(" | ");
  if (allOf) return allOf.map((part) => typeOf(part, indent)).join(" & ");
  if (oneOf) return oneOf.map((part) => typeOf(part, indent)).join(" | ");
  if (Array.isArray(type)) {
    return type.map((one) => typeOf({ ...schema, type: one }, indent)).join(" | ");
  }
  if (type === "array") {
    const item = typeOf(items, indent);
    return /[ |&]/.test(item) ? `(${item})[]` : `${item}[]`;
  }
  if (type === "integer" || type === "number") return "number";
  if (type === "object" && properties) return objectOf(schema, indent);
  const { additionalProperties: values } = schema;
  if (type === "object" && values) return `Record<string, ${typeOf(values, indent)}>`;
  if (["string", "boolean", "null"].includes(type)) return type;
  if (type === undefined) return "unknown";
  throw new Error(`a schema of another kind: ${JSON.stringify(schema)}`);
}

function objectOf({ properties, required = [] }, indent) {
  const deeper = `${indent}  `;
  const parts = Object.entries(properties).map(([name, schema]) => {
    const said = schema.description ?? schema.oneOf?.find((one) => one.description)?.description;
    const sign = required.includes(name) ? "" : "?";
    return `${comment(said, deeper)}${deeper}${name}${sign}: ${typeOf(schema, deeper)};\n`;
  });
  return `{\n${parts.join("")}${indent}}`;
}

/** The types of all answers, and which answer a path has. */
function api({ components: { schemas }, paths }) {
  const types = Object.entries(schemas).map(([name, schema]) => `${comment(schema.description, "")}`
    + `export type ${name} = ${typeOf(schema)};\n`);
  const answers = (method) => Object.entries(paths).flatMap(([path, { [method]: described }]) => {
    const schema = described?.responses[200].content["application/json"]?.schema;
    return schema ? [`  "${path.replace("/api/", "")}": ${typeOf(schema)};\n`] : [];
  });
  return `// The answers of the server. ${MADE}\n\n${types.join("\n")}
/** The answers to GET, by the path behind \`api/\`. */
export interface Answers {\n${answers("get").join("")}}

/** The answers to POST that are JSON, likewise. */
export interface Results {\n${answers("post").join("")}}
`;
}

/** The types of the elements of a page, by their ids. */
function elements(page) {
  const found = [...page.matchAll(/<([a-z]\w*)(?=[^>]*?\sid="([\w-]+)")/g)];
  const lines = found.map(([, tag, id]) => `  "${id}": HTMLElementTagNameMap["${tag}"];\n`);
  return `// The elements of index.html, by their ids. ${MADE}\n
export interface Elements {\n${lines.join("")}}\n`;
}

const [description, page] = process.argv.slice(2).map((path) => readFileSync(path, "utf8"));
console.log(JSON.stringify({ "api.d.ts": api(JSON.parse(description)), "elements.d.ts": elements(page) }));
