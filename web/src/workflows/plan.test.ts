import assert from "node:assert/strict";
import { test } from "node:test";
import { planEdges, planNodes } from "./plan";

const step = { title: null, kind: "http", label: "POST shop.example", if: null, join: "all", needs: 0, for_each: null };
const edge = { when: "success", condition: null, otherwise: false };

test("a step shows its own condition, else that of its edges if all have one", () => {
  const steps = ["a", "b", "c", "d"].map((name) => ({ ...step, name, if: name === "b" ? "tasks.a.body.ok" : null }));
  const edges = [
    { ...edge, source: "a", target: "b" },
    { ...edge, source: "a", target: "c", when: "failure" },
    { ...edge, source: "a", target: "d", condition: "tasks.a.body.n > 1" },
    { ...edge, source: "b", target: "d" },
  ];
  const guards = planNodes(steps, edges).map((one) => one.guard?.text ?? null);
  assert.deepEqual(guards, [null, "ok", "a failed", null]);
});

test("a step that maps is one", () => {
  assert.equal(planNodes([{ ...step, name: "a", for_each: "trigger.body.items" }], [])[0]?.kind, "map");
});

test("an edge says when it is followed", () => {
  const [one] = planEdges([{ ...edge, source: "a", target: "b", condition: "x == 1", otherwise: true }]);
  assert.equal(one?.tip, "Follows when a succeeds, if nothing else did\nx == 1");
});
