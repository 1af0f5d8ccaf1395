import assert from "node:assert/strict";
import { test } from "node:test";
import { afterSkip } from "./after_skip";

const step = (name: string, join = "all") => ({ name, title: null, kind: "action", label: "", if: null, join, needs: 1, for_each: null });
const edge = (source: string, target: string, when = "success", state = "open") => ({ source, target, when, condition: null, otherwise: false, state });

test("what needs a skipped step is skipped with it, to the end", () => {
  const steps = ["nap", "ask", "close"].map((name) => step(name));
  assert.deepEqual(afterSkip({ steps, edges: [edge("nap", "ask"), edge("ask", "close")] }, "nap"), { next: [], skipped: ["ask", "close"] });
});

test("what follows in any case is decided next", () => {
  const steps = ["nap", "ask", "close", "log"].map((name) => step(name));
  const edges = [edge("nap", "ask", "any"), edge("nap", "close"), edge("close", "log", "skipped,success"), edge("log", "nap", "then")];
  assert.deepEqual(afterSkip({ steps, edges }, "nap"), { next: ["ask", "log"], skipped: ["close"] });
});

test("a step that one of several ways leads to stays while another is open", () => {
  const steps = [step("a"), step("b"), step("joined", "any"), step("both")];
  const edges = [edge("a", "joined"), edge("b", "joined"), edge("a", "both"), edge("b", "both")];
  assert.deepEqual(afterSkip({ steps, edges }, "a"), { next: ["joined"], skipped: ["both"] });
  const dead = edges.map((one) => (one.source === "b" ? { ...one, state: "dead" } : one));
  assert.deepEqual(afterSkip({ steps, edges: dead }, "a"), { next: [], skipped: ["joined", "both"] });
});

test("a circle ends", () => {
  const steps = [step("a"), step("b")];
  assert.deepEqual(afterSkip({ steps, edges: [edge("a", "b"), edge("b", "a")] }, "a"), { next: [], skipped: ["b"] });
});
