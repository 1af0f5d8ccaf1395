import assert from "node:assert/strict";
import { test } from "node:test";
import { placeOf, urlOf } from "./place";

test("a place and its URL say the same", () => {
  const places = [
    {},
    { tab: "steps", failedOnly: true },
    { step: "a/b & c", part: "input", at: 0 },
    { tab: "journal", entry: 17 },
    { tab: "data", of: ":output", folded: false, verb: "retry" },
  ] as const;
  for (const place of places) {
    const [path = "", search = ""] = urlOf("run_1", place).split("?");
    const found = placeOf(path.split("/")[3], search);
    for (const [name, value] of Object.entries(place)) assert.deepEqual(found[name as keyof typeof found], value, name);
    assert.equal(urlOf("run_1", found), urlOf("run_1", place));
  }
});

test("what a URL should not have is left out", () => {
  const found = placeOf("nothing", "at=x&entry=-3&step=%3Cscript%3E");
  assert.equal(found.tab, "graph");
  assert.equal(found.at, null);
  assert.equal(found.entry, null);
  assert.equal(found.step, "<script>");
});
