import assert from "node:assert/strict";
import { test } from "node:test";
import { evenAxis, foldedAxis, isMostlyIdle, type Span } from "./fold";

function random(seed: number): () => number {
  let x = seed >>> 0;
  return () => {
    x = (Math.imul(x, 1664525) + 1013904223) >>> 0;
    return x / 4294967296;
  };
}

function spans(next: () => number, from: number, to: number): Span[] {
  return Array.from({ length: Math.floor(next() * 12) }, () => {
    const a = from + next() * (to - from) * 1.1 - (to - from) * 0.05;
    return [a, a + next() ** 4 * (to - from) * 0.3] as const;
  });
}

test("the axis is whole, monotone and invertible for any work", () => {
  for (let seed = 1; seed <= 400; seed += 1) {
    const next = random(seed);
    const from = Math.floor(next() * 1e12);
    const to = from + 1 + next() ** 3 * 1e9;
    const axis = foldedAxis(spans(next, from, to), from, to, next() * 0.1 + 0.001);
    assert.ok(Math.abs(axis.at(from)) < 1e-9, `seed ${seed}`);
    assert.ok(Math.abs(axis.at(to) - 1) < 1e-9, `seed ${seed}`);
    let before = -1;
    for (let i = 0; i <= 200; i += 1) {
      const time = from + ((to - from) * i) / 200;
      const place = axis.at(time);
      assert.ok(place >= before - 1e-12, `seed ${seed}: it goes back at ${i}`);
      before = place;
      assert.ok(Math.abs(axis.time(place) - time) <= (to - from) * 1e-7 + 1e-3, `seed ${seed}: not inverted at ${i}`);
    }
    axis.pieces.slice(1).forEach((piece, i) => {
      assert.equal(piece.from, axis.pieces[i]?.to);
      assert.equal(piece.a, axis.pieces[i]?.b);
    });
  }
});

test("seconds of work before hours of sleep stay readable", () => {
  const hour = 3_600_000;
  const axis = foldedAxis([[0, 2000], [10 * hour, 10 * hour + 1000]], 0, 10 * hour + 1000);
  assert.ok(axis.at(2000) > 0.3);
  assert.deepEqual(axis.pieces.map((one) => one.folded), [false, true, false]);
  assert.ok(evenAxis(0, 10 * hour).at(2000) < 0.001);
});

test("folding is offered only where most of the time is idle", () => {
  assert.equal(isMostlyIdle([[0, 10_000]], 0, 100_000), true);
  assert.equal(isMostlyIdle([[0, 50_000]], 0, 100_000), false);
  assert.equal(isMostlyIdle([], 0, 100_000), false);
  assert.equal(isMostlyIdle([[0, 10]], 0, 100), false, "milliseconds are not folded");
  const even = foldedAxis([], 5, 5);
  assert.ok(Number.isFinite(even.at(5)));
});
