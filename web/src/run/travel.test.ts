import assert from "node:assert/strict";
import { test } from "node:test";
import { advance, type Edge, type Entry, isOver, type Moment, nextSeq, type Step, seqAt, stateAt } from "./travel";

const at = (ms: number) => new Date(1_700_000_000_000 + ms).toISOString();
const step = (name: string, change: Partial<Step> = {}): Step => ({
  name, kind: "action", status: "pending", ready_at: null, started_at: null, finished_at: null, duration_ms: null,
  tries: [], attempt: null, next_at: null, until: null, reason: null, child_run_id: null, items: null, error: null,
  guard: null, ...change,
});
const edge = (source: string, target: string, when = "success"): Edge => ({ source, target, when, state: "open" });
const entry = (seq: number, change: Partial<Entry>): Entry => ({
  seq, at: at(seq * 1000), kind: "ended", step: null, attempt: 1, status: null, error: null, duration_ms: 5,
  retry_at: null, skipped: [], failed: {}, sleep_until: {}, wait_until: {}, run_status: null, ...change,
});
const statuses = (moment: Moment) => Object.fromEntries(moment.steps.map((one) => [one.name, one.status]));
const edges = (moment: Moment) => moment.edges.map((one) => `${one.source}-${one.state}-${one.target}`);

/** As recorded: validate, then a skipped review, a sleep and a charge that fails once; then an answer, then the end. */
const BEGIN: Moment = {
  steps: [step("validate"), step("review", { kind: "wait" }), step("nap", { kind: "sleep" }), step("charge"), step("approve", { kind: "wait" }), step("close")],
  edges: [edge("validate", "review"), edge("validate", "nap"), edge("validate", "charge"), edge("nap", "approve"), edge("approve", "close"), edge("charge", "close")],
  status: "running",
};
const JOURNAL: Entry[] = [
  entry(1, { step: "validate", status: "success", skipped: ["review"], sleep_until: { nap: at(5000) } }),
  entry(2, { kind: "retry", step: "charge", status: "failed", error: { message: "502" }, retry_at: at(2500) }),
  entry(3, { step: "charge", attempt: 2, status: "success" }),
  entry(4, { step: "nap", status: "success", wait_until: { approve: at(9_000_000) } }),
  entry(5, { step: "approve", attempt: null, status: "success" }),
  entry(6, { step: "close", status: "success", run_status: "completed" }),
];
const END = advance({ ...BEGIN, steps: BEGIN.steps.map((one) => (one.name === "validate" ? { ...one, status: "running" } : one)) }, JOURNAL);

test("a run followed to its end by its entries", () => {
  assert.deepEqual(statuses(END), { validate: "success", review: "skipped", nap: "success", charge: "success", approve: "success", close: "success" });
  assert.equal(END.status, "completed");
  assert.deepEqual(END.steps.find((one) => one.name === "charge")?.tries.map((one) => [one.attempt, one.status]), [[1, "failed"], [2, "success"]]);
  assert.deepEqual(edges(END), ["validate-dead-review", "validate-taken-nap", "validate-taken-charge", "nap-taken-approve", "approve-taken-close", "charge-taken-close"]);
});

test("the run as it was after each entry", () => {
  const seen = [0, 1, 2, 3, 4, 5, 6].map((seq) => statuses(stateAt(END, JOURNAL, seq, at(0))));
  assert.deepEqual(seen[0], { validate: "running", review: "pending", nap: "pending", charge: "pending", approve: "pending", close: "pending" });
  assert.deepEqual(seen[1], { validate: "success", review: "skipped", nap: "sleeping", charge: "running", approve: "pending", close: "pending" });
  assert.equal(seen[2]?.["charge"], "scheduled");
  assert.deepEqual(seen[3], { validate: "success", review: "skipped", nap: "sleeping", charge: "success", approve: "pending", close: "pending" });
  assert.equal(seen[4]?.["approve"], "waiting");
  assert.equal(seen[5]?.["close"], "running");
  assert.deepEqual(seen[6], statuses(END));
  assert.equal(stateAt(END, JOURNAL, 6, null), END);
});

test("steps that did not change stay the same objects", () => {
  const before = stateAt(END, JOURNAL, 1, at(0));
  const after = advance(before, JOURNAL.slice(1, 2));
  const changed = after.steps.filter((one, i) => one !== before.steps[i]).map((one) => one.name);
  assert.deepEqual(changed, ["charge"]);
  assert.equal(advance(before, []), before);
});

test("what the opening decided was so from the beginning", () => {
  const now: Moment = { steps: [step("a", { status: "skipped", finished_at: at(0) }), step("b", { status: "success" }), step("c")], edges: [edge("a", "c"), edge("b", "c", "any")], status: "running" };
  const journal = [entry(1, { step: "b", status: "success" }), entry(2, { kind: "paused", by: "ann" } as Partial<Entry>)];
  const first = stateAt(now, journal, 0, at(0));
  assert.deepEqual(statuses(first), { a: "skipped", b: "running", c: "pending" });
  assert.deepEqual(edges(first), ["a-dead-c", "b-open-c"]);
  assert.equal(advance(now, [entry(3, { kind: "paused" })]).status, "paused");
  assert.equal(advance(now, [entry(3, { kind: "resumed" })]).status, "running");
});

test("a run that ends early ends its steps", () => {
  const cancelled = advance(stateAt(END, JOURNAL, 2, at(0)), [entry(3, { kind: "cancelled", run_status: "cancelled" })]);
  assert.equal(cancelled.steps.every((one) => isOver(one.status)), true);
  assert.equal(cancelled.steps.find((one) => one.name === "close")?.status, "cancelled");
  const failed = advance(BEGIN, [entry(1, { step: "validate", status: "failed", failed: { close: { message: "no" } } })]);
  assert.equal(failed.steps.find((one) => one.name === "close")?.error, "no");
});

test("entries are found by time, and one after the other", () => {
  assert.equal(seqAt(JOURNAL, Date.parse(at(3500))), 3);
  assert.equal(seqAt(JOURNAL, Date.parse(at(3000))), 3);
  assert.equal(seqAt(JOURNAL, 0), 0);
  assert.equal(seqAt(JOURNAL, Infinity), 6);
  assert.equal(seqAt([], 5), 0);
  assert.equal(nextSeq(JOURNAL, 3, -1), 2);
  assert.equal(nextSeq(JOURNAL, 0, -1), null);
  assert.equal(nextSeq(JOURNAL, 6, 1), null);
  assert.equal(nextSeq(JOURNAL, 99, -1), 5);
});

test("random graphs: the past leads to the present, step by step", () => {
  let x = 3;
  const next = () => {
    x = (Math.imul(x, 1664525) + 1013904223) >>> 0;
    return x / 4294967296;
  };
  for (let round = 0; round < 120; round += 1) {
    const n = 2 + Math.floor(next() * 14);
    const steps = Array.from({ length: n }, (_, i) => step(`s${i}`));
    const links: Edge[] = [];
    for (let i = 1; i < n; i += 1) for (let k = 0; k < i; k += 1) if (next() < 0.25) links.push(edge(`s${k}`, `s${i}`, "any"));
    let live = stateAt({ steps, edges: links, status: "running" }, [entry(1, {})], 0, at(0));
    const journal: Entry[] = [];
    for (let seq = 1; live.steps.some((one) => one.status === "running" || one.status === "scheduled"); seq += 1) {
      const open = live.steps.filter((one) => one.status === "running" || one.status === "scheduled");
      const one = open[Math.floor(next() * open.length)];
      if (!one) break;
      const again = next() < 0.3;
      const told = entry(seq, again ? { kind: "retry", step: one.name, attempt: one.tries.length + 1, status: "failed", retry_at: at(seq * 1000 + 10) } : { step: one.name, attempt: one.tries.length + 1, status: next() < 0.2 ? "failed" : "success" });
      journal.push(told);
      live = advance(live, [told]);
    }
    assert.ok(live.steps.every((one) => isOver(one.status)), "every step of a graph without conditions is reached");
    let before = stateAt(live, journal, 0, at(0));
    for (const told of journal.slice(0, -1)) {
      const there = stateAt(live, journal, told.seq, at(0));
      const stepwise = advance(before, [told]);
      assert.deepEqual(statuses(there), statuses(stepwise));
      assert.deepEqual(edges(there), edges(stepwise));
      before = there;
    }
    assert.deepEqual(statuses(advance(before, journal.slice(-1))), statuses(live));
  }
});
