import assert from "node:assert/strict";
import { test } from "node:test";
import { revealing, visible } from "./rows";

test("every row that is seen is mounted, and few more", () => {
  for (let i = 0; i < 5000; i += 1) {
    const row = 20 + Math.floor(Math.random() * 60);
    const count = Math.floor(Math.random() ** 3 * 1_000_000);
    const height = Math.random() * 2000;
    const top = Math.random() * Math.max(0, count * row - height);
    const { first, end } = visible(top, height, row, count);
    assert.ok(first >= 0 && end <= count && first <= end);
    assert.ok(first * row <= top || first === count);
    assert.ok(end * row >= Math.min(top + height, count * row) - 1e-6);
    assert.ok(end - first <= height / row + 15);
  }
});

test("an empty list mounts nothing", () => {
  assert.deepEqual(visible(0, 500, 36, 0), { first: 0, end: 0 });
});

test("a list that became shorter mounts its end", () => {
  const { first, end } = visible(36_000, 500, 36, 3);
  assert.ok(first <= end && end === 3);
});

test("to reveal a row scrolls as little as possible", () => {
  assert.equal(revealing(5, 0, 500, 36), 0);
  assert.equal(revealing(20, 0, 500, 36), 21 * 36 - 500);
  assert.equal(revealing(2, 400, 500, 36), 72);
});
