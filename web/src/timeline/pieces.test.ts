import assert from "node:assert/strict";
import { test } from "node:test";
import { pieces } from "./pieces";
import type { Segment } from "./segments";

/** A step that is tried again and again: each try takes `work`, each pause `rest`. */
function tried(n: number, work: number, rest: number): Segment[] {
  const bar: Segment[] = [];
  for (let i = 0; i < n; i += 1) {
    const from = i * (work + rest);
    bar.push({ kind: "try", from, to: from + work, tone: "fail", attempt: i + 1, open: false });
    bar.push({ kind: "backoff", from: from + work, to: from + work + rest, tone: "hold", attempt: null, open: false });
  }
  const end = n * (work + rest);
  return [...bar, { kind: "work", from: end, to: end + 1000, tone: "run", attempt: n + 1, open: true }];
}
const shape = (bar: readonly Segment[], scale: number) => pieces(bar, (time) => time * scale).map(({ one, last }) => [one.kind, one.from, one.to, one.attempt, last]);

test("a short bar is drawn as it is", () => {
  assert.equal(pieces(tried(5, 1, 1), (time) => time).length, 11);
});

test("tries that are too narrow are one piece, and what goes on is its own", () => {
  assert.deepEqual(shape(tried(100, 10, 5), 0.1), [["try", 0, 1495, 1, 100], ["work", 1500, 2500, 101, null]]);
});

test("the moment that is looked at parts them", () => {
  const found = pieces(tried(100, 10, 5), (time) => time * 0.1, 700);
  assert.deepEqual(found.map(({ one, last }) => [one.kind, one.attempt, last]), [["try", 1, 47], ["try", 48, 100], ["work", 101, null]]);
});

test("a closer look parts them", () => {
  assert.equal(pieces(tried(100, 10, 5), (time) => time).filter(({ one }) => one.kind === "try").length, 100);
});

test("a long pause parts what is before it from what is behind it", () => {
  const bar = tried(20, 10, 5);
  const [first, pause, ...rest] = bar;
  assert.ok(first && pause);
  const later = rest.map((one) => ({ ...one, from: one.from + 900, to: one.to + 900 }));
  const found = shape([first, { ...pause, to: pause.to + 900 }, ...later], 0.1);
  assert.deepEqual(found.map(([kind]) => kind), ["try", "backoff", "try", "work"]);
});

test("no piece overlaps another, and none is lost that is wide", () => {
  let seed = 5;
  const next = () => {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
    return seed / 4294967296;
  };
  for (let round = 0; round < 500; round += 1) {
    const scale = next() * 3;
    const bar = tried(Math.floor(next() * 60), next() * 20, next() * 20);
    const found = pieces(bar, (time) => time * scale);
    let place = -Infinity;
    for (const { one } of found) {
      assert.ok(one.from >= place && one.to >= one.from);
      place = one.to;
    }
    const wide = bar.filter((one) => (one.to - one.from) * scale >= 6);
    assert.ok(wide.every((one) => found.some((piece) => piece.one === one)));
  }
});
