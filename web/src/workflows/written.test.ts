import assert from "node:assert/strict";
import { test } from "node:test";
import { stepIn } from "./written";

test("a step is found in every form", () => {
  assert.deepEqual(stepIn({ tasks: { a: { url: "x" } } }, "a"), { url: "x" });
  assert.deepEqual(stepIn({ nodes: [{ id: "a" }, { id: "b", n: 1 }] }, "b"), { id: "b", n: 1 });
  assert.deepEqual(stepIn({ steps: [{ name: "a", n: 2 }] }, "a"), { name: "a", n: 2 });
});

test("what is not there is not found, whatever its name", () => {
  assert.equal(stepIn({ tasks: {} }, "toString"), undefined);
  assert.equal(stepIn(null, "a"), undefined);
  assert.equal(stepIn({ nodes: [null, 3] }, "a"), undefined);
});
