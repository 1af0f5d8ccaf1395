import assert from "node:assert/strict";
import { test } from "node:test";
import { saidDiff, written } from "./diff_words";

test("a diff is counted in words", () => {
  const none = { added: [], removed: [], changed: [] };
  assert.equal(saidDiff({ steps: none, edges: none, settings: [] }), "Nothing differs.");
  const steps = { added: [1, 2], removed: [], changed: [3] };
  assert.equal(
    saidDiff({ steps, edges: { ...none, removed: [1] }, settings: [{ field: "timeout" }] }),
    "2 steps added, 1 step changed, 1 edge removed, 1 setting changed.",
  );
});

test("texts are written as they are, the rest as JSON, and nothing is endless", () => {
  assert.equal(written("a < b"), "a < b");
  assert.equal(written({ a: 1 }), '{\n  "a": 1\n}');
  assert.equal(written("x".repeat(3000)).length, 2001);
});
