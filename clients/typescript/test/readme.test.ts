import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { Server } from "./server.js";

const README = new URL("../README.md", import.meta.url);
const EXAMPLE = fileURLToPath(new URL("./readme-example.mjs", import.meta.url));

test("the example of the README prints what its comments say", { timeout: 900_000 }, async () => {
  const example = /```js\n([\s\S]+?)```/.exec(await readFile(README, "utf8"))?.[1] ?? "";
  const expected = [...example.matchAll(/console\.log\(.+\); \/\/ (.+)$/gm)].map((match) => match[1]);
  await writeFile(EXAMPLE, example);
  const server = await Server.start();
  try {
    const env = { ...process.env, DETENT_URL: server.baseUrl, DETENT_KEY: server.key };
    const { stdout } = await promisify(execFile)(process.execPath, [EXAMPLE], { env, timeout: 300_000 });
    assert.equal(expected.length, 3);
    assert.deepEqual(stdout.trim().split("\n"), expected);
  } finally {
    await server.stop();
  }
});
