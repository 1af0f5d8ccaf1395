import assert from "node:assert/strict";
import { test } from "node:test";
import { fieldsOf, valueOf } from "./fields";

const SCHEMA = {
  type: "object",
  required: ["to", "n"],
  properties: {
    subject: { type: "string", default: "Report", title: "Subject" },
    to: { type: "array", items: { type: "string" }, examples: [["ann@example.org"]] },
    n: { type: "integer" },
    loud: { type: "boolean", default: true },
    level: { enum: ["low", "high"] },
    more: { type: "object" },
  },
};

test("each property becomes a field of its kind, required ones first", () => {
  const fields = fieldsOf(SCHEMA);
  assert.deepEqual(fields.map((one) => [one.name, one.kind, one.required, one.first]), [
    ["to", "lines", true, ""],
    ["n", "number", true, ""],
    ["subject", "text", false, "Report"],
    ["loud", "boolean", false, "true"],
    ["level", "choice", false, ""],
    ["more", "json", false, ""],
  ]);
  assert.equal(fields[0]?.example, "ann@example.org");
  assert.deepEqual(fieldsOf(undefined), []);
});

test("what was written becomes values of the right types, and says what cannot be read", () => {
  const fields = fieldsOf(SCHEMA);
  const good = valueOf(fields, { to: "ann@example.org\n\n bob@example.org ", n: "3", loud: "false", more: '{"a": 1}' });
  assert.deepEqual(good, { value: { to: ["ann@example.org", "bob@example.org"], n: 3, subject: "Report", loud: false, more: { a: 1 } }, problems: {} });
  const bad = valueOf(fields, { n: "many", more: "{" });
  assert.deepEqual(Object.keys(bad.problems).sort(), ["more", "n", "to"]);
  assert.equal(bad.problems["to"], "is missing");
});
