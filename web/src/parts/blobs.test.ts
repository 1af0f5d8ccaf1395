import assert from "node:assert/strict";
import { test } from "node:test";
import { blobsIn } from "./blobs";

const blob = (n: number) => ({ $blob: `blob_${String(n).padStart(26, "0")}`, size: 1_000_000 + n, type: "image/png", sha256: "0" });

test("the blobs of a value are found in their order, each once", () => {
  const value = { body: blob(1), more: [blob(2), { again: blob(1) }], "$blob": "no" };
  assert.deepEqual(blobsIn(value).map((one) => one.size), [1_000_001, 1_000_002]);
});

test("what only looks like a blob is none, and a large value ends the search", () => {
  assert.deepEqual(blobsIn({ $blob: "../secret", size: 1, type: "x" }), []);
  assert.deepEqual(blobsIn("text"), []);
  assert.equal(blobsIn(Array.from({ length: 100 }, (_, n) => blob(n))).length, 20);
});
