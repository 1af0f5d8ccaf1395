import assert from "node:assert/strict";
import { test } from "node:test";
import { gist } from "./gist";

test("the first plain values are said", () => {
  assert.equal(gist({ customer: "Ada", order: { id: 1 }, discount: 20, ok: true, more: 1 }), "customer Ada · discount 20 · ok true");
  assert.equal(gist({ body: { a: 1 }, headers: { b: 2 } }), "a 1");
});

test("anything is a gist", () => {
  assert.equal(gist(null), "");
  assert.equal(gist([1, 2]), "");
  assert.equal(gist("text"), "text");
  assert.equal(gist({ a: "x".repeat(100) }).length, 43);
});
