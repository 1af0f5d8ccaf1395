import assert from "node:assert/strict";
import { test } from "node:test";
import { askedChoices, choicesOf, draftOf } from "./choices";

const definition = (...texts: string[]) => ({ tasks: { pay: { if: texts[0], with: { nested: texts.slice(1) } } } });

test("a yes or no has both buttons", () => {
  const found = choicesOf("answer", definition("tasks.answer.body.ok == true"));
  assert.deepEqual(found.map((one) => one.body), [{ ok: true }, { ok: false }]);
  assert.deepEqual(found.map((one) => one.word), ["Yes, ok", "No, not ok"]);
});

test("texts that are compared with are choices", () => {
  const found = choicesOf("payment-result", definition("tasks.payment-result.body.status == 'paid'", "{{ tasks['payment-result'].body.status != \"void\" }}"));
  assert.deepEqual(found.map((one) => one.body), [{ status: "paid" }, { status: "void" }]);
  assert.equal(found[0]?.word, "Answer status: paid");
});

test("several fields are for the body, not for a button", () => {
  const two = definition("tasks.a.body.ok == true && tasks.a.body.n == 3", "{{tasks.a.body.note}}");
  assert.deepEqual(choicesOf("a", two), []);
  assert.deepEqual(draftOf("a", two), { ok: true, n: 3, note: null });
});

test("other steps and names with signs of their own are left alone", () => {
  assert.deepEqual(choicesOf("a", definition("tasks.ab.body.ok == true")), []);
  assert.deepEqual(draftOf("a.*", definition("tasks.abc.body.ok == true")), {});
  assert.deepEqual(draftOf("a", null), {});
});

test("a wait that names its buttons is answered by them", () => {
  assert.deepEqual(askedChoices({ buttons: [{ label: "Ship it", body: { go: 1 } }] }), [{ word: "Ship it", body: { go: 1 } }]);
  assert.equal(askedChoices({ buttons: [] }), undefined);
  assert.equal(askedChoices(null), undefined);
});
