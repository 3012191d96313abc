// Holds values against the official definitions of the Agent Client Protocol.
//
//     node acp_schema.mjs SDK
//
// SDK is the folder of the package @agentclientprotocol/sdk. Each line of the input is
// {"definition": "ReadTextFileRequest", "value": ..}; each line of the output says whether the value is one, or why not:
// {"definition": .., "ok": true} or {"definition": .., "ok": false, "schema": [..], "decoder": [..]}. The schema is
// strict where the decoder takes a default for what it cannot read; the decoder knows the bounds of numbers.

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { resolve } from "node:path";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const sdk = resolve(process.argv[2]);
const zod = createRequire(`${sdk}/package.json`)("zod/v4");
const decoders = await import(pathToFileURL(`${sdk}/dist/v1/schema/zod.gen.js`).href);
const schema = JSON.parse(readFileSync(`${sdk}/schema/v1/schema.json`, "utf8"));

function strict(definition) {
  return zod.fromJSONSchema({ $schema: schema.$schema, $defs: schema.$defs, $ref: `#/$defs/${definition}` });
}

function findings(type, value) {
  const { error } = type.safeParse(value);
  return (error?.issues ?? []).map(({ path, message }) => `${path.join(".") || "(all of it)"}: ${message}`);
}

function judge({ definition, value }) {
  const verdict = { definition, schema: findings(strict(definition), value) };
  verdict.decoder = findings(decoders[`z${definition}`], value);
  const ok = verdict.schema.length + verdict.decoder.length === 0;
  return ok ? { definition, ok } : { ok, ...verdict };
}

for await (const line of createInterface({ input: process.stdin })) {
  console.log(JSON.stringify(judge(JSON.parse(line))));
}
