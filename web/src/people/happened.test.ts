import assert from "node:assert/strict";
import { test } from "node:test";
import type { TimelineEntry } from "../api/heroes";
import { happened } from "./happened";

const entry = (given: Partial<TimelineEntry>): TimelineEntry => ({
  answers: {}, at: "2026-03-04T10:00:00Z", attempt: null, by: null, carried: [], duration_ms: null, error: null, failed: {}, finished: false,
  kind: "ended", notes: [], result: null, retry_at: null, run_id: "run_1", run_status: null, seq: 1, skipped: [], sleep_until: {}, status: null,
  step: null, wait_until: {}, workflow: "w", ...given,
});

test("an entry is a sentence", () => {
  assert.equal(happened(entry({ step: "charge", status: "success", duration_ms: 134 })).text, "charge succeeded after 134 ms");
  assert.equal(happened(entry({ kind: "run_started", seq: 0 })).text, "A run was started");
  assert.equal(happened(entry({ kind: "cancelled", by: "ann" })).text, "The run was cancelled by ann");
  assert.equal(happened(entry({ step: "a", status: "success", wait_until: { approve: null } })).text, "a succeeded; waits for approve");
});

test("what failed is loud and says why", () => {
  const error = { code: "http_status", message: "answered 500\nmore", detail: null };
  const found = happened(entry({ kind: "retry", step: "charge", attempt: 2, retry_at: "2026-03-04T10:00:12Z", error: error as never }));
  assert.deepEqual(found, { state: "retrying", text: "charge: try 2 failed, the next in 12.0 s: answered 500", isLoud: true });
});

test("an entry of a newer Detent is shown by its name", () => {
  assert.equal(happened(entry({ kind: "something_new" })).text, "something new");
});
