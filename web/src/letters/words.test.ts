import assert from "node:assert/strict";
import { test } from "node:test";
import { isSame, resultPlace, saidFilter } from "./words";

test("a filter is said in words, and an empty one means all", () => {
  assert.equal(saidFilter({ state: "open", kind: "step", workflow: "orders" }), "given up and not requeued, about a step, of orders");
  assert.equal(saidFilter({}), "all of them");
});

test("an error that the message has is not said twice", () => {
  assert.ok(isSame("body.order: must be of type integer", "the body does not fit; body.order: must be of type integer"));
  assert.ok(!isSame("Killed", "its node died 3 times"));
});

test("what a requeue made has a place", () => {
  assert.equal(resultPlace("run_1"), "/runs/run_1");
  assert.equal(resultPlace("frg_1"), "/triggers/received?firing=frg_1");
  assert.equal(resultPlace(null), null);
});
