import assert from "node:assert/strict";
import { test } from "node:test";
import type { RunSummary } from "../api/documents";
import { DAY, HOUR } from "../look/time";
import { whyOf } from "./why";

const NOW = Date.parse("2026-03-04T12:19:40.000Z");

function run(facts: Partial<RunSummary>): RunSummary {
  return { id: "run_1", status: "running", workflow: "order", error: null, stage: null, ...facts } as RunSummary;
}

const soon = (ms: number) => new Date(NOW + ms).toISOString();

test("an open run says what it waits for", () => {
  const cases: [Partial<RunSummary>, string, boolean][] = [
    [{ stage: { kind: "person", step: "approve", until: soon(21 * HOUR), since: null } }, "approve: 21 h 0 m left", true],
    [{ stage: { kind: "sleeping", step: "nap", until: soon(2 * DAY), since: null } }, "nap: wakes in 2 d 0 h", false],
    [{ stage: { kind: "retrying", step: "crm", until: soon(12_000), since: null } }, "crm: next try in 12 s", true],
    [{ stage: { kind: "retrying", step: "crm", until: soon(-5000), since: null } }, "crm: tries again now", true],
    [{ stage: { kind: "running", step: "ship", until: null, since: null }, progress: { done: 3, total: 13, failed: 0 } }, "ship · 3 of 13 steps", false],
    [{ stage: { kind: "queued", step: null, until: null, since: null } }, "waits for a free node", false],
    [{ stage: { kind: "queued", step: null, until: null, since: soon(-400) } }, "waits for a free node", false],
    [{ stage: { kind: "queued", step: null, until: null, since: soon(-12_000) } }, "waits for a free node: 12 s", false],
    [{ stage: { kind: "queued", step: null, until: null, since: soon(-50_000) } }, "waits for a free node: 50 s", false],
    [{ stage: { kind: "delayed", step: null, until: soon(3 * HOUR), since: null } }, "starts in 3 h 0 m", false],
    [{ stage: { kind: "paused", step: null, until: null, since: null } }, "begins nothing until it is resumed", true],
    [{ stage: { kind: "a-newer-kind", step: "x", until: null, since: null } }, "x", false],
  ];
  for (const [facts, text, loud] of cases) assert.deepEqual(whyOf(run(facts), NOW), { text, loud });
});

test("a run that no node takes is told loudly after a minute", () => {
  const found = whyOf(run({ stage: { kind: "queued", step: null, until: null, since: soon(-3 * HOUR) } }), NOW);
  assert.deepEqual(found, { text: "waits for a free node: 3 h 0 m", loud: true, tone: "hold" });
});

test("a run that ended says how", () => {
  assert.deepEqual(whyOf(run({ status: "failed", error: "transfer: account closed" }), NOW), {
    text: "transfer: account closed",
    loud: true,
  });
  assert.equal(whyOf(run({ status: "completed", progress: { done: 13, total: 13, failed: 0 } }), NOW).text, "13 of 13 steps");
  assert.equal(whyOf(run({ status: "completed", progress: { done: 1, total: 1, failed: 0 } }), NOW).text, "1 step");
  assert.equal(whyOf(run({ status: "completed" }), NOW).text, "");
  assert.equal(whyOf(run({ status: "timeout" }), NOW).loud, true);
});
