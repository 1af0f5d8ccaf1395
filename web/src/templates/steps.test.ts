import assert from "node:assert/strict";
import { test } from "node:test";
import { stepsOf } from "./steps";

test("steps of both forms are said in words", () => {
  const tasks = { ask: { action: "email.send" }, answer: { wait_for_webhook: { timeout: "1d" } }, load: { url: "https://x", for_each: "{{ a }}", if: "b" }, nap: { sleep: "1d" } };
  assert.deepEqual(stepsOf({ tasks }).map((one) => [one.name, one.does, one.note]), [
    ["ask", "email.send", ""],
    ["answer", "waits for an answer", ""],
    ["load", "POST https://x", "if b, for each of {{ a }}"],
    ["nap", "sleeps 1d", ""],
  ]);
  assert.deepEqual(stepsOf({ nodes: [{ id: "a", displayName: "Ask", actionType: "slack.post-message" }, 3] }), [{ name: "a", does: "slack.post-message: Ask", note: "" }]);
  assert.deepEqual(stepsOf(null), []);
});
