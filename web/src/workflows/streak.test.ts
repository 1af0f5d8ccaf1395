import assert from "node:assert/strict";
import { test } from "node:test";
import { saidStreak, streakOf } from "./streak";

const recent = (...states: string[]) => states.map((status, i) => ({ id: `run_${i}`, status, duration_ms: 1, accepted_at: `2026-03-04T10:0${i}:00Z` }));

test("a workflow fails since the first failure after the last success", () => {
  assert.deepEqual(streakOf(recent("failed", "completed", "failed", "timeout", "failed")), {
    count: 3,
    since: "2026-03-04T10:02:00Z",
    isOpen: false,
  });
  assert.equal(streakOf(recent("failed", "failed"))?.isOpen, false);
  assert.equal(streakOf(recent(...Array.from({ length: 30 }, () => "failed")))?.isOpen, true);
});

test("what is open or was cancelled neither ends nor makes a streak", () => {
  assert.equal(streakOf(recent("completed", "failed", "running", "cancelled"))?.count, 1);
  assert.equal(streakOf(recent("running", "paused")), null);
  assert.equal(streakOf(recent("failed", "completed", "running")), null);
  assert.equal(streakOf([]), null);
});

test("a streak is said in words", () => {
  assert.equal(saidStreak({ count: 1, since: "", isOpen: false }, "10:02"), "its last run failed, started 10:02");
  assert.equal(saidStreak({ count: 3, since: "", isOpen: false }, "10:02"), "failed 3 times in a row, since 10:02");
  assert.equal(saidStreak({ count: 30, since: "", isOpen: true }, "10:02"), "all of the last 30 failed, since 10:02 or earlier");
});
