import assert from "node:assert/strict";
import { test } from "node:test";
import { exampleStep } from "./example";

test("an example has every required parameter, and quotes what YAML would read as something else", () => {
  const schema = {
    type: "object",
    required: ["channelId", "count", "yes", "body", "people"],
    properties: {
      channelId: { type: "string", examples: ["C0DEV"] },
      count: { type: "integer", minimum: 3 },
      yes: { type: "string", default: "no: it is \"odd\"" },
      body: { $ref: "#/$defs/body" },
      people: { type: "array", items: { type: "string" } },
      optional: { type: "string" },
    },
    $defs: { body: { type: "object", required: ["kind"], properties: { kind: { enum: ["a", "b"] } } } },
  };
  assert.equal(
    exampleStep("crm.add-note", schema),
    ["tasks:", "  add-note:", "    action: crm.add-note", "    with:", "      channelId: C0DEV", "      count: 3", '      "yes": "no: it is \\"odd\\""', "      body:", "        kind: a", '      people: ["…"]'].join("\n"),
  );
});

test("an action without parameters has no `with`, and a schema that goes in circles ends", () => {
  assert.equal(exampleStep("core.echo", { type: "object" }), "tasks:\n  echo:\n    action: core.echo");
  const circle = { required: ["a"], properties: { a: { $ref: "#" } } };
  assert.ok(exampleStep("x.y", circle).includes("a:"));
  assert.ok(exampleStep("x.y", null).includes("x.y"));
});
