import assert from "node:assert/strict";
import { test } from "node:test";
import { fromField, toField } from "./clock_field";

test("an instant survives the way into a field and back, to the minute", () => {
  const at = Date.parse("2026-03-04T10:05:00Z");
  assert.equal(fromField(toField(at)), "2026-03-04T10:05:00.000Z");
  assert.equal(fromField(toField(at + 59_000)), "2026-03-04T10:05:00.000Z");
});

test("an empty field is no instant", () => {
  assert.equal(fromField(""), null);
});
