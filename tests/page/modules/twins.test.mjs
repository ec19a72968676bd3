// What is clever in modules is as its naive twin.

import assert from "node:assert/strict";
import { test } from "node:test";

import { compareModules } from "../../browser/modules.mjs";
import { PAGE } from "./load.mjs";

test("modules are as their twins", async () => {
  const seed = Number(process.env.SEED ?? 1);
  const wrong = await compareModules({ seed, base: PAGE.href });
  assert.deepEqual(wrong, [], `with seed ${seed}`);
});
