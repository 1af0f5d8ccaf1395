import assert from "node:assert/strict";
import { test } from "node:test";
import { elapsed, type Segment, type StepTimes, segments, workSpans } from "./segments";

const at = (ms: number) => new Date(ms).toISOString();
const STEP: StepTimes = {
  kind: "http", status: "pending", ready_at: null, started_at: null, finished_at: null, tries: [], next_at: null,
  until: null, child_run_id: null,
};
const shape = (bar: readonly Segment[]) => bar.map((one) => [one.kind, one.from, one.to, one.tone, one.attempt]);

test("a step that is tried three times: queue, two failed tries with their pauses, and the work that counts", () => {
  const bar = segments({
    ...STEP, status: "success", ready_at: at(0), started_at: at(100), finished_at: at(9000),
    tries: [
      { attempt: 1, from: 100, to: 1000, status: "failed", again: 3000 },
      { attempt: 2, from: 3000, to: 4000, status: "failed", again: 8000 },
      { attempt: 3, from: 8050, to: 9000, status: "success", again: null },
    ],
  }, 10_000);
  assert.deepEqual(shape(bar), [
    ["queued", 0, 100, "idle", null],
    ["try", 100, 1000, "fail", 1],
    ["backoff", 1000, 3000, "hold", null],
    ["try", 3000, 4000, "fail", 2],
    ["backoff", 4000, 8000, "hold", null],
    ["queued", 8000, 8050, "idle", null],
    ["work", 8050, 9000, "ok", 3],
  ]);
  assert.equal(elapsed(bar, 10_000), 9000);
});

test("the last failed try is the end of the step, drawn as such", () => {
  const one = { attempt: 1, from: 0, to: 5, status: "failed", again: null };
  const bar = segments({ ...STEP, status: "failed", ready_at: at(0), started_at: at(0), finished_at: at(5), tries: [one] }, 9);
  assert.deepEqual(shape(bar), [["work", 0, 5, "fail", null]]);
});

test("what is open reaches until now, or until the time that is planned", () => {
  const running = segments({ ...STEP, status: "running", ready_at: at(0), started_at: at(10) }, 500);
  assert.deepEqual(shape(running), [["queued", 0, 10, "idle", null], ["work", 10, 500, "run", null]]);
  assert.equal(running.at(-1)?.open, true);
  const sleep = segments({ ...STEP, kind: "sleep", status: "sleeping", started_at: at(10), until: at(9000) }, 500);
  assert.deepEqual(shape(sleep), [["sleep", 10, 9000, "idle", null]]);
  assert.equal(elapsed(sleep, 500), 490);
  const wait = segments({ ...STEP, kind: "wait", status: "waiting", started_at: at(10), until: at(9000) }, 500);
  assert.deepEqual(shape(wait), [["wait", 10, 500, "wait", null]]);
  const tries = [{ attempt: 1, from: 10, to: 20, status: "failed", again: 900 }];
  const retrying = segments({ ...STEP, status: "scheduled", ready_at: at(10), started_at: at(10), tries, next_at: at(900) }, 500);
  assert.deepEqual(shape(retrying), [["try", 10, 20, "fail", 1], ["backoff", 20, 900, "hold", null]]);
  assert.deepEqual(shape(segments({ ...STEP, status: "running", ready_at: at(3) }, 50)), [["queued", 3, 50, "idle", null]]);
});

test("a child run, a skipped step and one that never began", () => {
  const child = segments({ ...STEP, kind: "subworkflow", status: "running", ready_at: at(0), started_at: at(0), child_run_id: "run_1" }, 70);
  assert.deepEqual(shape(child), [["child", 0, 70, "run", null]]);
  assert.deepEqual(shape(segments({ ...STEP, status: "skipped", finished_at: at(4) }, 9)), [["skipped", 4, 4, "idle", null]]);
  assert.deepEqual(segments(STEP, 9), []);
  assert.equal(elapsed([], 9), null);
});

test("segments are in order and never overlap, whatever the clocks say", () => {
  let x = 7;
  const next = () => {
    x = (Math.imul(x, 1664525) + 1013904223) >>> 0;
    return x / 4294967296;
  };
  const pick = <T,>(all: readonly T[]): T => all[Math.floor(next() * all.length)] as T;
  const maybe = () => (next() < 0.3 ? null : at(Math.floor(next() * 10_000)));
  for (let i = 0; i < 3000; i += 1) {
    const step: StepTimes = {
      kind: pick(["http", "action", "sleep", "wait", "subworkflow", "map", "signal", "surprise"]),
      status: pick(["pending", "running", "waiting", "sleeping", "scheduled", "success", "failed", "skipped", "cancelled"]),
      ready_at: maybe(), started_at: maybe(), finished_at: maybe(), next_at: maybe(), until: maybe(),
      child_run_id: next() < 0.1 ? "run_1" : null,
      tries: Array.from({ length: Math.floor(next() * 4) }, (_, k) => ({
        attempt: k + 1, from: Math.floor(next() * 10_000), to: Math.floor(next() * 10_000), status: pick(["failed", "success", "reattempted", null]),
        again: next() < 0.3 ? null : Math.floor(next() * 10_000),
      })),
    };
    const bar = segments(step, 5000);
    let place = -Infinity;
    for (const one of bar) {
      assert.ok(Number.isFinite(one.from) && one.from <= one.to, JSON.stringify(step));
      assert.ok(one.from >= place, JSON.stringify(step));
      place = one.to;
    }
    for (const [a, b] of workSpans([bar])) assert.ok(a <= b);
    const long = elapsed(bar, 5000);
    assert.ok(long === null || long >= 0);
  }
});
