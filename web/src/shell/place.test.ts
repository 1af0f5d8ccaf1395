import assert from "node:assert/strict";
import { test } from "node:test";
import { changedSearch } from "./place";

test("a value is set, changed and taken away", () => {
  assert.equal(changedSearch("", { a: "1" }), "?a=1");
  assert.equal(changedSearch("?a=1&b=2", { a: "3" }), "?a=3&b=2");
  assert.equal(changedSearch("a=1", { a: null }), "");
  assert.equal(changedSearch("a=1", { a: "" }), "");
});

test("values are escaped", () => {
  assert.equal(changedSearch("", { step: "a&b=<c>" }), "?step=a%26b%3D%3Cc%3E");
});
