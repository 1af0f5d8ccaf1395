import assert from "node:assert/strict";
import { test } from "node:test";
import { offset } from "../look/time";
import { evenAxis, foldedAxis } from "./fold";
import { axisEnd, LEAST, moved, ticks } from "./ticks";

test("labels are round, apart from each other, and no two say the same", () => {
  let x = 5;
  const next = () => {
    x = (Math.imul(x, 1664525) + 1013904223) >>> 0;
    return x / 4294967296;
  };
  for (let i = 0; i < 300; i += 1) {
    const to = 1 + next() ** 4 * 1e9;
    const axis = next() < 0.5 ? evenAxis(0, to) : foldedAxis([[0, to * 0.01], [to * 0.9, to]], 0, to);
    const a = next() * 0.8;
    const found = ticks(axis, { a, b: a + 0.2 }, 900, 0);
    for (const [k, tick] of found.slice(1).entries()) assert.ok(tick.x - (found[k]?.x ?? 0) >= 40, `${to} ${a}`);
    const words = found.map((tick) => offset(tick.after));
    assert.equal(new Set(words).size, words.length, words.join(", "));
  }
});

test("a window stays inside of the axis, whatever a wheel does", () => {
  let window = { a: 0, b: 1 };
  let x = 9;
  const next = () => {
    x = (Math.imul(x, 1664525) + 1013904223) >>> 0;
    return x / 4294967296;
  };
  for (let i = 0; i < 2000; i += 1) {
    window = moved(window, { zoom: 0.2 + next() * 2, around: next(), shift: next() - 0.5 });
    assert.ok(window.a >= 0 && window.b <= 1 + 1e-12 && window.b - window.a >= LEAST - 1e-12);
  }
});

test("the axis of an open run ends a little behind now, and stays while now moves on", () => {
  for (let long = 0; long < 40 * 86_400_000; long = long * 1.37 + 1) {
    const end = axisEnd(5000, 5000 + long);
    const ahead = end - 5000 - long;
    assert.ok(ahead > 0 && ahead <= Math.max(1, long / 32), `${long}: ${ahead}`);
  }
  const ends = new Set(Array.from({ length: 600 }, (_, second) => axisEnd(0, 600_000 + second * 1000)));
  assert.ok(ends.size < 80, `${ends.size} axes in 600 seconds`);
});
