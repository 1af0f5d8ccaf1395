import assert from "node:assert/strict";
import { test } from "node:test";
import { doneWords, placeOf } from "./audit_words";

test("an operation is said in words", () => {
  assert.equal(doneWords("cancel_run"), "Cancel run");
  assert.equal(doneWords(""), "");
});

test("an object leads to its page, if it has one", () => {
  assert.equal(placeOf("workflow", "a b/c"), "/workflows/a%20b%2Fc");
  assert.equal(placeOf("key", "k1"), "/admin/keys");
  assert.equal(placeOf("session", "s1"), null);
  assert.equal(placeOf("run", null), null);
});
