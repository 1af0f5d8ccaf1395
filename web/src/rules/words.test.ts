import assert from "node:assert/strict";
import { test } from "node:test";
import type { Rule, RuleDifference } from "../api/rules";
import { asDiff, changesOf, changeWords, conditionRows, editable, sentenceOf, storedPlaces, whenOf } from "./words";

const action = { id: "act_1", name: "Send Email", step: "send-email", action_type: "send_email", action_config: { to: "a" }, execution_order: 1, is_active: true };

test("a rule is said in a sentence", () => {
  const rule = { entity: "order", trigger_type_id: "on_update", conditions: "status changed to 'shipped'" };
  assert.equal(sentenceOf(rule), "When order is updated and status changed to 'shipped'");
  assert.equal(sentenceOf({ ...rule, conditions: "a is set or b is set", trigger_conditions: { match: "any" } }), "When order is updated and (a is set or b is set)");
  assert.equal(sentenceOf({ ...rule, conditions: "" }), "When order is updated");
  assert.equal(sentenceOf({ entity: null, trigger_type_id: "scheduled", cron_expression: "0 9 * * *", timezone: "Europe/Zurich", conditions: "" }), "At the times of 0 9 * * * Europe/Zurich");
  assert.equal(whenOf(rule), "order updated");
  assert.equal(whenOf({ entity: null, trigger_type_id: "manual" }), "when it is started");
  assert.equal(whenOf({ entity: null, trigger_type_id: "scheduled" }), "on a schedule");
});

test("changed fields come first, and a field that is new or gone has changed", () => {
  const rows = changesOf({ id: 1, status: "packed", note: "x" }, { id: 1, status: "shipped", at: 5 });
  assert.deepEqual(rows.map((one) => [one.field, one.isChanged]), [["status", true], ["at", true], ["note", true], ["id", false]]);
  assert.equal(changeWords({ status: "packed" }, { status: "shipped" }), 'status "packed" → "shipped"');
  assert.equal(changeWords({ a: 1, b: 1 }, { a: 2, b: 2 }), "a 1 → 2, and 1 more");
  assert.equal(changeWords({ a: 1 }, { a: 1 }), "no field differs");
  assert.equal(changeWords(null, { a: 1 }), "");
  assert.equal(changeWords({ a: "1" }, { a: 1 }), 'a "1" → 1');
});

test("conditions inside a group are below it", () => {
  const leaf = { is_true: true, words: "a is set", field: "a" };
  const rows = conditionRows([leaf, { is_true: false, words: "(b or c)", match: "any", parts: [leaf, { is_true: false, words: "d", parts: [leaf] }] }]);
  assert.deepEqual(rows.map((one) => [one.key, one.depth]), [["0", 0], ["1", 0], ["1.0", 1], ["1.1", 1], ["1.1.0", 2]]);
});

test("places are stored by action and shown by step; what is not a place is left out", () => {
  const layout = { node_positions: { trigger: { x: 1, y: 2 }, act_1: { x: 3, y: 4 }, act_gone: { x: 5, y: 6 }, odd: "x", "": null } };
  const rule = { actions: [action], canvas_layout: layout } as unknown as Rule;
  assert.deepEqual([...(storedPlaces(rule, ":trigger") ?? [])], [[":trigger", { x: 1, y: 2 }], ["send-email", { x: 3, y: 4 }]]);
  assert.equal(storedPlaces({ ...rule, canvas_layout: {} }, ":trigger"), undefined);
});

test("what is written of a rule is what a person can change", () => {
  const rule = { id: "wf_1", key: "a", version: 3, updated_by: null, description: null, conditions: "x", actions: [action], edges: [], name: "A", is_active: true, entity: "order", trigger_type: "on_update", canvas_layout: {}, labels: { team: "x" } };
  assert.deepEqual(Object.keys(editable(rule as unknown as Rule)), ["name", "is_active", "entity", "trigger_type", "actions", "edges", "canvas_layout", "labels"]);
});

test("a difference of rules names actions in place of ids", () => {
  const edge = { id: "edge_1", source_action_id: null, target_action_id: "act_1", edge_type: "start", edge_order: 0 };
  const branch = { ...edge, source_action_id: "act_0", edge_type: "true_branch" };
  const difference = { actions: { added: [action], removed: [], changed: [] }, edges: { added: [edge, branch], removed: [], changed: [] }, settings: [] } as unknown as RuleDifference;
  const diff = asDiff(difference, new Map([["act_0", "Check"]]), 1, 2);
  assert.equal(diff.same, false);
  assert.deepEqual(diff.edges.added as unknown, [
    { source: "start", target: "Send Email", when: "success" },
    { source: "Check", target: "Send Email", when: "true branch" },
  ]);
  const moved = { ...none(), edges: { added: [{ ...edge, edge_order: 2 }, { ...branch, id: "edge_2" }], removed: [edge, { ...branch, id: "edge_2" }] } } as unknown as RuleDifference;
  const order = asDiff(moved, new Map(), 1, 2).edges;
  assert.deepEqual([order.added.length, order.removed.length, order.changed.length], [0, 0, 1]);
  assert.equal(asDiff(none(), new Map(), 1, 2).same, true);
});

function none(): RuleDifference {
  return { actions: { added: [], removed: [], changed: [] }, edges: { added: [], removed: [] }, settings: [] };
}
