import assert from "node:assert/strict";
import { test } from "node:test";
import { flatten, inside, matching } from "./flatten";

const VALUE = { id: "ch_1", body: { rules: ["velocity", "geo"], "a key": null }, none: [] };

test("an unfolded tree has a row for each entry", () => {
  const rows = flatten(VALUE, () => true);
  assert.deepEqual(
    rows.map((row) => row.path),
    ["id", "body", "body.rules", "body.rules[0]", "body.rules[1]", 'body["a key"]', "none"],
  );
  assert.deepEqual(
    rows.map((row) => row.depth),
    [0, 0, 1, 2, 2, 1, 0],
  );
});

test("a folded branch hides what is in it", () => {
  assert.deepEqual(
    flatten(VALUE, () => false).map((row) => row.path),
    ["id", "body", "none"],
  );
});

test("a value that is no branch is one row", () => {
  assert.deepEqual(flatten("text", () => true).map((row) => row.value), ["text"]);
  assert.deepEqual(flatten(null, () => true).map((row) => row.value), [null]);
  assert.deepEqual(flatten([], () => true), []);
});

test("a search finds keys and values, and opens the way to them", () => {
  const { open, hits } = matching(VALUE, "GEO");
  assert.deepEqual([...hits], ["body.rules[1]"]);
  assert.deepEqual([...open].sort(), ["", "body", "body.rules"]);
  assert.equal(matching(VALUE, "rules").hits.has("body.rules"), true);
  assert.equal(matching(VALUE, "").hits.size, 0);
});

test("paths say names that are no words in brackets", () => {
  assert.equal(inside("a", "b c"), 'a["b c"]');
  assert.equal(inside("", "b"), "b");
});
