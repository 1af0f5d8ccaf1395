import assert from "node:assert/strict";
import { test } from "node:test";
import { schemaRows } from "./rows";

test("a schema becomes one row for each property, what is inside of it below", () => {
  const rows = schemaRows({
    type: "object",
    required: ["channel"],
    properties: {
      channel: { type: "string", minLength: 1, description: "Where to" },
      people: { type: "array", maxItems: 3, items: { type: "object", properties: { name: { type: ["string", "null"] } } } },
      level: { enum: ["info", "error"], default: "info" },
      any: true,
    },
  });
  assert.deepEqual(rows.map((one) => [one.path, one.depth, one.type, one.required, one.preset, one.limits]), [
    ["channel", 0, "text", true, "", "at least 1 character"],
    ["people", 0, "list of objects", false, "", "at most 3 items"],
    ["people[].name", 1, "text or null", false, "", ""],
    ["level", 0, "choice", false, '"info"', "info, error"],
    ["any", 0, "anything", false, "", ""],
  ]);
  assert.equal(rows[0]?.says, "Where to");
});

test("references are followed once on a way down, and nothing odd stops the page", () => {
  const schema = {
    $defs: { node: { type: "object", properties: { next: { $ref: "#/$defs/node" }, "a/b": { $ref: "#/$defs/missing" } } } },
    allOf: [{ $ref: "#/$defs/node" }],
  };
  assert.deepEqual(schemaRows(schema).map((one) => one.path), ["next", "next.next", "next.a/b", "a/b"]);
  for (const odd of [null, 1, "x", [], {}, { properties: [] }, { $ref: "#/$ref" }, { properties: { x: { items: 3, enum: 4 } } }]) schemaRows(odd);
  const wide = { properties: Object.fromEntries(Array.from({ length: 5000 }, (_, i) => [`p${i}`, { type: "string" }])) };
  assert.equal(schemaRows(wide).length, 400);
});
