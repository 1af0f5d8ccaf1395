import assert from "node:assert/strict";
import { test } from "node:test";
import { saidError } from "./errors";

test("an error is said without the ids of runs and without addresses", () => {
  assert.equal(saidError("transfer: POST http://bank.example:8443/v2/x?y=1 answered 422"), "transfer: answered 422");
  assert.equal(
    saidError("report: run_01m7m98tabe81tevq92a8hvgvh ended as failed: transfer: GET https://bank.example answered 503"),
    "report: its run failed: transfer: answered 503",
  );
  assert.equal(saidError("run_01m7m98tabe81tevq92a8hvgvh ended as timeout"), "its run timed out");
});

test("what is missing comes before the template that reads it", () => {
  assert.equal(
    saidError("transfer: Failed to resolve {{trigger.body.account.number}}: 'account' is not in trigger.body"),
    "transfer: 'account' is not in trigger.body ({{trigger.body.account.number}})",
  );
});

test("other errors stay as they are", () => {
  for (const text of ["", "mailbox is full", "POST is not allowed", "run_1 ended as failed", "http://x.example answered 200"]) {
    assert.equal(saidError(text), text);
  }
});
