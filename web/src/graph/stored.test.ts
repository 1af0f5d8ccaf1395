import assert from "node:assert/strict";
import { test } from "node:test";
import { type Link, layout, type Point, SIZE } from "./layout";
import { withStored } from "./stored";

/** The same numbers on every machine. */
function random(seed: number): () => number {
  let x = seed >>> 0;
  return () => {
    x = (Math.imul(x, 1664525) + 1013904223) >>> 0;
    return x / 4294967296;
  };
}

function graph(seed: number): { ids: string[]; links: Link[] } {
  const next = random(seed);
  const n = 2 + Math.floor(next() * 40);
  const ids = Array.from({ length: n }, (_, i) => `s${i}`);
  const links = ids.slice(1).map((id, i): Link => [`s${Math.floor(next() * (i + 1))}`, id]);
  return { ids, links };
}

const CHAIN: Link[] = [["a", "b"], ["b", "c"], ["c", "d"]];

test("stored places win, and edges lead to them", () => {
  const at = layout(["a", "b", "c", "d"], CHAIN);
  const stored = new Map([["a", { x: -100, y: 40 }], ["b", { x: 300, y: -60 }], ["c", { x: 20, y: 400 }], ["d", { x: 900, y: 90 }]]);
  const found = withStored(at, CHAIN, stored);
  // The corner of everything is 0, 0.
  for (const [id, { x, y }] of stored) assert.deepEqual(found.at.get(id), { x: x + 100, y: y + 60 });
  assert.deepEqual([found.width, found.height], [1000 + SIZE.width, 460 + SIZE.height]);
  assert.deepEqual(found.path[0], [{ x: SIZE.width, y: 100 + SIZE.height / 2 }, { x: 400, y: SIZE.height / 2 }]);
  // c lies left of b, so the edge leads back.
  assert.deepEqual(found.path[1], [{ x: 400, y: SIZE.height / 2 }, { x: 120 + SIZE.width, y: 460 + SIZE.height / 2 }]);
});

test("a new step is placed beside its neighbours, as the layout has it", () => {
  const at = layout(["a", "b", "c"], [["a", "b"], ["a", "c"]]);
  const [a, c] = [at.at.get("a"), at.at.get("c")];
  assert.ok(a && c);
  const found = withStored(at, [["a", "b"], ["a", "c"]], new Map([["a", { x: a.x + 1000, y: a.y + 500 }], ["b", { x: 0, y: 0 }]]));
  const [now, mine] = [found.at.get("a"), found.at.get("c")];
  assert.ok(now && mine);
  assert.deepEqual({ x: mine.x - now.x, y: mine.y - now.y }, { x: c.x - a.x, y: c.y - a.y });
});

test("without a place of this graph the layout stays the same object: tidied up is laid out", () => {
  const at = layout(["a", "b"], [["a", "b"]]);
  assert.equal(withStored(at, [["a", "b"]], new Map()), at);
  assert.equal(withStored(at, [["a", "b"]], new Map([["gone", { x: 1, y: 1 }]])), at);
  assert.equal(withStored(at, [["a", "b"]], new Map([["a", { x: Number.NaN, y: 1 }]])), at);
});

test("a new step never lies on another one, wherever the others were put", () => {
  for (let seed = 1; seed <= 200; seed += 1) {
    const { ids, links } = graph(seed);
    const next = random(seed * 7);
    const at = layout(ids, links);
    const stored = new Map<string, Point>();
    for (const id of ids) if (next() < 0.6) stored.set(id, { x: Math.floor(next() * 900 - 300), y: Math.floor(next() * 600 - 200) });
    const found = withStored(at, links, stored);
    assert.deepEqual(withStored(at, links, stored), found);
    assert.deepEqual([...found.at.keys()], ids);
    for (const [id, one] of found.at) {
      assert.ok(one.x >= 0 && one.y >= 0 && one.x + SIZE.width <= found.width && one.y + SIZE.height <= found.height);
      if (stored.has(id) || stored.size === 0) continue;
      for (const [other, place] of found.at) {
        if (other === id) continue;
        const isApart = Math.abs(one.x - place.x) >= SIZE.width || Math.abs(one.y - place.y) >= SIZE.height;
        assert.ok(isApart, `seed ${seed}: ${id} lies on ${other}`);
      }
    }
  }
});

test("edges that are not drawn stay out, and doubled ones stay", () => {
  const links: Link[] = [["a", "a"], ["a", "ghost"], ["a", "b"], ["a", "b"]];
  const found = withStored(layout(["a", "b"], links), links, new Map([["b", { x: 10, y: 10 }]]));
  assert.deepEqual(found.path.map((one) => one.length), [0, 0, 2, 2]);
});
