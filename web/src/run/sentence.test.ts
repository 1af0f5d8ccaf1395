import assert from "node:assert/strict";
import { test } from "node:test";
import type { Outline, StepOutline } from "../api/run";
import { wholeStep } from "../api/whole_step";
import { noteOf, shortly, shownName } from "./nodes";
import { credentialOf, type Part, sentenceOf, stateOfRun } from "./sentence";

const NOW = Date.parse("2026-03-04T12:00:00Z");
const ago = (seconds: number) => new Date(NOW - seconds * 1000).toISOString();
const step = (change: Partial<StepOutline>) => wholeStep({ name: "charge", kind: "http", status: "pending", ...change });
const said = (parts: Part[]) => parts.map((part) => (typeof part === "string" ? part : `[${part.step}]`)).join("");

function outline(status: string, steps: StepOutline[], run: object = {}): Outline {
  const head = { id: "run_1", workflow: "shop", version: 1, status, trigger: "api", started_at: ago(100), finished_at: null, ...run };
  return { run: head as never, why: "Nothing is known.", reasons: [], seq: 1, begun_at: ago(100), now: ago(0), steps: steps.map(wholeStep) };
}

test("a run that a credential paused names it, and asks to reconnect it", () => {
  const head = { paused_by: "credential", paused_step: "charge" };
  const error = "the credential 'crm' needs a person: the grant was revoked";
  const of = (change: Partial<StepOutline>) => outline("paused", [{ name: "charge", kind: "http", status: "scheduled", ...change }], head);
  assert.match(said(sentenceOf(of({ error }), NOW)), /^Paused: \[charge\] needs a person to reconnect the credential crm\./);
  assert.equal(credentialOf(of({ error })), "crm");
  assert.match(said(sentenceOf(of({}), NOW)), /reconnect its credential\./);
  assert.equal(credentialOf(outline("paused", [], { paused_by: "ada" })), undefined);
});

test("one sentence says how a run ended, or why it does not move", () => {
  const of = (status: string, change: Partial<StepOutline>, run = {}) => said(sentenceOf(outline(status, [{ name: "charge", kind: "http", status: "pending", ...change }], run), NOW));
  assert.equal(of("completed", { status: "success" }, { finished_at: ago(40) }), "Completed 1 step in 1 m 0 s");
  assert.equal(of("failed", { status: "failed", error: "502 Bad Gateway\nmore", finished_at: ago(1) }), "[charge] failed: 502 Bad Gateway");
  assert.equal(of("running", { status: "running", started_at: ago(12) }), "[charge] runs, for 12 s");
  assert.match(of("running", { kind: "wait", status: "waiting", started_at: ago(3600) }), /^Waits for an answer to \[charge\], asked 1 h ago/);
  const tries = [{ attempt: 1, started_at: ago(9), finished_at: ago(8), status: "failed" }];
  assert.equal(of("running", { status: "scheduled", next_at: ago(-12), error: "503", tries }), "[charge] failed once and is tried again in 12 s: 503");
  assert.equal(of("running", { status: "running", child_run_id: "run_2", started_at: ago(12) }), "Waits for the run that [charge] started, for 12 s");
  assert.match(of("paused", { status: "waiting", reason: "uncertain" }), /^Did \[charge\] happen\?/);
  assert.match(of("paused", {}, { paused_by: "ann" }), /^Paused by ann: /);
  assert.match(of("paused", { status: "failed", error: "KeyError: 'x'" }, { paused_by: "an exception in function 'f'" }), /^Paused: \[charge\] failed: KeyError: 'x'/);
  assert.equal(of("running", {}), "Nothing is known.");
});

test("a step that fails beside the one that is waited for is told too", () => {
  const tries = [{ attempt: 1, started_at: ago(9), finished_at: ago(8), status: "failed" }];
  const run = outline("running", [
    { name: "approve", kind: "wait", status: "waiting", started_at: ago(60), until: ago(-7200) },
    { name: "crm", kind: "http", status: "scheduled", next_at: ago(-12), error: "POST http://crm.example answered 503", tries },
  ]);
  assert.equal(said(sentenceOf(run, NOW)), "Waits for an answer to [approve], asked 1 m ago, 2 h 0 m left; [crm] failed once so far");
});

test("the state of a run is that of what needs attention", () => {
  const state = (...steps: Partial<StepOutline>[]) => stateOfRun(outline("running", steps.map((one, i) => ({ name: `s${i}`, kind: "http", status: "pending", ...one }))));
  assert.equal(state({ status: "running" }, { status: "waiting" }), "running");
  assert.equal(state({ status: "sleeping" }, { status: "waiting" }), "waiting");
  assert.equal(state({ status: "sleeping" }, { status: "scheduled" }), "retrying");
  assert.equal(state({ status: "waiting", reason: "uncertain" }), "uncertain");
});

test("a node says in a few words what its step does", () => {
  const note = (change: Partial<StepOutline>, needs = 1) => noteOf(step(change), "POST pay.example", needs, NOW);
  assert.equal(note({}), "POST pay.example");
  assert.equal(note({}, 3), "needs 3 steps");
  assert.equal(note({ status: "running", started_at: ago(5) }), "5 s");
  assert.equal(note({ status: "running", started_at: ago(96), items: { count: 40, succeeded: 36, failed: 1, pages: 1 } }), "37 of 40 · 1 m 36 s");
  assert.equal(note({ status: "success", started_at: ago(5), finished_at: ago(4), duration_ms: 1000 }), "1.0 s");
  assert.equal(note({ status: "success", duration_ms: 0.1 }), "under 1 ms");
  assert.equal(note({ status: "failed", error: "no\nstack" }), "no");
  assert.equal(note({ status: "scheduled", next_at: ago(-12) }), "try 1 in 12 s");
});

test("names and conditions are short where there is little room", () => {
  assert.equal(shownName("@wait:approval"), "approval");
  assert.equal(shownName("@sleep"), "sleep");
  assert.equal(shownName("charge#2"), "charge#2");
  assert.equal(shortly("tasks.fraud-score.body.risk.score > 80 and trigger.body.total < 5"), "risk.score > 80 and total < 5");
  assert.equal(shortly("tasks.charge.status_code == 201", "charge"), "status_code == 201");
  assert.equal(shortly("tasks.charge.status_code == 201", "other"), "charge.status_code == 201");
});
