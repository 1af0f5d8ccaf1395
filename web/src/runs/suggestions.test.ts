import assert from "node:assert/strict";
import { test } from "node:test";
import type { Facets } from "../api/documents";
import { suggestions } from "./suggestions";

const FACETS: Facets = {
  workflows: [{ value: "order-processing", count: 40 }, { value: "refund", count: 3 }],
  triggers: [{ value: "webhook", count: 9 }],
  labels: [{ key: "team", value: "shop", count: 12 }],
  sampled: false,
};

test("an empty box offers the names of filters", () => {
  const found = suggestions("", [], FACETS);
  assert.equal(found[0]?.insert, "status:");
  assert.ok(found.every((one) => one.insert && !one.chip));
});

test("words find values of any filter", () => {
  const found = suggestions("sho", [], FACETS);
  assert.deepEqual(found[0]?.chip, { name: "label", value: "team:shop" });
  assert.equal(found[0]?.count, 12);
});

test("after a name only its values are offered", () => {
  assert.deepEqual(suggestions("workflow:", [], FACETS).map((one) => one.value), ["order-processing", "refund"]);
  assert.deepEqual(suggestions("status:fa", [], FACETS).map((one) => one.value), ["failed"]);
});

test("what is chosen already is not offered, and never more than nine", () => {
  assert.deepEqual(suggestions("workflow:ref", [{ name: "workflow", value: "refund" }], FACETS), []);
  assert.ok(suggestions("e", [], FACETS).length <= 9);
});
