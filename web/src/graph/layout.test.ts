import assert from "node:assert/strict";
import { test } from "node:test";
import { firstView, shown, wholeView } from "./first_view";
import { type Layout, type Link, layout, type Point, SIZE, smooth } from "./layout";
import { wrapped } from "./wrap";

/** The same numbers on every machine. */
function random(seed: number): () => number {
  let x = seed >>> 0;
  return () => {
    x = (Math.imul(x, 1664525) + 1013904223) >>> 0;
    return x / 4294967296;
  };
}

function graph(seed: number, most: number, cyclic = false): { ids: string[]; links: Link[] } {
  const next = random(seed);
  const n = 1 + Math.floor(next() * most);
  const ids = Array.from({ length: n }, (_, i) => `s${i}`);
  const links: Link[] = [];
  const edges = Math.floor(next() * n * 2.2);
  for (let i = 0; i < edges; i += 1) {
    const a = Math.floor(next() * n);
    const b = Math.min(n - 1, a + 1 + Math.floor(next() ** 2 * 12));
    if (cyclic && next() < 0.2) links.push([`s${b}`, `s${a}`]);
    else if (a !== b) links.push([`s${a}`, `s${b}`]);
  }
  return { ids, links };
}

function boxes(at: Layout): (Point & { id: string })[] {
  return [...at.at].map(([id, point]) => ({ id, ...point }));
}

/** Points on the drawn curve between two points, which leaves and arrives level. */
function* along(a: Point, b: Point): Generator<Point> {
  for (let i = 1; i < 16; i += 1) {
    const t = i / 16;
    const u = 1 - t;
    const m = (a.x + b.x) / 2;
    yield {
      x: u ** 3 * a.x + 3 * u * u * t * m + 3 * u * t * t * m + t ** 3 * b.x,
      y: u ** 3 * a.y + 3 * u * u * t * a.y + 3 * u * t * t * b.y + t ** 3 * b.y,
    };
  }
}

/** A long graph: lanes of steps one after the other, with edges between lanes, far ahead, and back in drafts. */
function long(seed: number): { ids: string[]; links: Link[] } {
  const next = random(seed);
  const lanes = 1 + Math.floor(next() * 4);
  const layers = 30 + Math.floor(next() * 60);
  const id = (lane: number, layer: number) => `s${lane}-${layer}`;
  const ids: string[] = [];
  const links: Link[] = [];
  for (let layer = 0; layer < layers; layer += 1) {
    for (let lane = 0; lane < lanes; lane += 1) {
      ids.push(id(lane, layer));
      if (layer) links.push([id(lane, layer - 1), id(lane, layer)]);
      if (layer && next() < 0.1) links.push([id(Math.floor(next() * lanes), layer - 1), id(lane, layer)]);
      if (next() < 0.05) links.push([id(lane, layer), id(lane, Math.min(layers - 1, layer + 2 + Math.floor(next() * 20)))]);
      if (seed % 4 === 0 && layer && next() < 0.03) links.push([id(lane, layer), id(lane, Math.floor(next() * layer))]);
    }
  }
  return { ids, links: links.filter(([source, target]) => source !== target) };
}

function assertApart(at: Layout, ids: readonly string[], links: readonly Link[], what: string): void {
  const all = boxes(at);
  assert.equal(all.length, ids.length);
  for (const [i, one] of all.entries()) {
    for (const other of all.slice(i + 1)) {
      const apart = Math.abs(one.x - other.x) >= SIZE.width || Math.abs(one.y - other.y) >= SIZE.height - 1e-6;
      assert.ok(apart, `${what}: ${one.id} lies on ${other.id}`);
    }
  }
  links.forEach(([source, target], i) => {
    const points = at.path[i] ?? [];
    points.slice(1).forEach((b, k) => {
      const a = points[k] ?? b;
      for (const p of along(a, b)) {
        for (const box of all) {
          if (box.id === source || box.id === target) continue;
          const inside =
            p.x > box.x + 1 && p.x < box.x + SIZE.width - 1 && p.y > box.y + 1 && p.y < box.y + SIZE.height - 1;
          assert.ok(!inside, `${what}: ${source} to ${target} runs through ${box.id}`);
        }
      }
    });
  });
}

test("nodes never overlap and no edge runs through a node", () => {
  for (let seed = 1; seed <= 200; seed += 1) {
    const { ids, links } = graph(seed, 40, seed % 3 === 0);
    assertApart(layout(ids, links), ids, links, `seed ${seed}`);
  }
});

test("a long graph goes on in lines: apart, inside of its own size, and shown at least twice as large", () => {
  const box = { width: 1200, height: 500 };
  let lines = 0;
  for (let seed = 1; seed <= 24; seed += 1) {
    const { ids, links } = long(seed);
    const one = layout(ids, links);
    const at = wrapped(one);
    assert.deepEqual(wrapped(one), at);
    assertApart(at, ids, links, `seed ${seed}`);
    links.forEach(([source, target], i) => {
      const [from, to] = [at.at.get(source), at.at.get(target)];
      const ends = [at.path[i]?.[0], at.path[i]?.at(-1)];
      assert.ok(from && to && ends[0] && ends[1]);
      // An edge that closes a cycle is drawn backwards, from the left of its source to the right of its target.
      const back = ends[0].x === from.x;
      assert.deepEqual(ends[0], { x: from.x + (back ? 0 : SIZE.width), y: from.y + SIZE.height / 2 });
      assert.deepEqual(ends[1], { x: to.x + (back ? SIZE.width : 0), y: to.y + SIZE.height / 2 });
    });
    for (const { x, y } of [...boxes(at), ...at.path.flat()]) {
      assert.ok(x >= 0 && x <= at.width && y >= -1e-6 && y <= at.height + 1e-6, `seed ${seed}: ${x}, ${y} is outside`);
    }
    if (at === one) continue;
    lines += 1;
    assert.ok(wholeView(at, box).zoom > 1.5 * wholeView(one, box).zoom, `seed ${seed}`);
  }
  assert.ok(lines > 12, `only ${lines} were wrapped`);
});

test("a short graph is not wrapped", () => {
  for (let seed = 1; seed <= 40; seed += 1) {
    const { ids, links } = graph(seed, 30);
    const at = layout(ids, links);
    assert.equal(wrapped(at), at);
  }
});

test("an edge leads from its source to its target", () => {
  for (let seed = 1; seed <= 100; seed += 1) {
    const { ids, links } = graph(seed, 30);
    const at = layout(ids, links);
    links.forEach(([source, target], i) => {
      const from = at.at.get(source);
      const to = at.at.get(target);
      assert.ok(from && to && from.x < to.x);
      assert.deepEqual(at.path[i]?.[0], { x: from.x + SIZE.width, y: from.y + SIZE.height / 2 });
      assert.deepEqual(at.path[i]?.at(-1), { x: to.x, y: to.y + SIZE.height / 2 });
    });
  }
});

test("the same graph is laid out the same way, inside of its own width and height", () => {
  for (let seed = 1; seed <= 60; seed += 1) {
    const { ids, links } = graph(seed, 60, seed % 2 === 0);
    const at = layout(ids, links);
    assert.deepEqual(layout(ids, links), at);
    for (const { x, y } of boxes(at)) {
      assert.ok(x >= 0 && x + SIZE.width <= at.width + 1e-6);
      assert.ok(y >= -1e-6 && y + SIZE.height <= at.height + 1e-6);
    }
  }
});

test("cycles, loops, doubled edges and unknown ends are drawn or left out, and end", () => {
  const ids = ["a", "b", "c", "c"];
  const links: Link[] = [["a", "b"], ["b", "c"], ["c", "a"], ["a", "a"], ["a", "b"], ["a", "ghost"]];
  const at = layout(ids, links);
  assert.deepEqual([...at.at.keys()], ["a", "b", "c"]);
  assert.deepEqual(at.path.map((one) => one.length > 0), [true, true, true, false, true, false]);
  const back = at.path[2] ?? [];
  const a = at.at.get("a");
  assert.deepEqual(back.at(-1), { x: (a?.x ?? 0) + SIZE.width, y: (a?.y ?? 0) + SIZE.height / 2 });
  assert.deepEqual(layout([], [["a", "b"]]).path, [[]]);
  for (let seed = 1; seed <= 40; seed += 1) {
    const { ids: many, links: knots } = graph(seed, 200, true);
    for (const { x, y } of boxes(layout(many, knots))) assert.ok(Number.isFinite(x) && Number.isFinite(y));
  }
});

test("a chain of 10,000 steps is laid out without recursion", () => {
  const ids = Array.from({ length: 10_000 }, (_, i) => `s${i}`);
  const at = layout(ids, ids.slice(1).map((id, i) => [`s${i}`, id] as const));
  assert.equal(at.height, SIZE.height);
  assert.equal(at.at.get("s9999")?.x, 9999 * (SIZE.width + SIZE.gapX));
});

test("a path is level at its ends and straight where nothing bends", () => {
  assert.equal(smooth([]), "");
  assert.equal(smooth([{ x: 0, y: 5 }, { x: 10, y: 6 }]), "M0,5L10,6");
  assert.equal(smooth([{ x: 0, y: 0 }, { x: 10, y: 20 }]), "M0,0C5,0 5,20 10,20");
  const turn = [{ x: 0, y: 0 }, { x: 40, y: 0 }, { x: 40, y: 100 }, { x: 0, y: 100 }];
  assert.equal(smooth(turn), "M0,0L32,0Q40,0 40,8L40,92Q40,100 32,100L0,100");
});

test("the first view shows everything if that is readable, else what is going on", () => {
  const few = layout(["a", "b"], [["a", "b"]]);
  const box = { width: 1000, height: 400 };
  const whole = firstView(few, SIZE, [], box);
  assert.equal(whole.zoom, 1);
  assert.equal(whole.x, (1000 - few.width) / 2);
  for (let seed = 1; seed <= 80; seed += 1) {
    const { ids, links } = graph(seed, 200);
    const at = layout(ids, links);
    const hot = [ids[seed % ids.length] ?? "s0"];
    const view = firstView(at, SIZE, hot, box);
    const place = at.at.get(hot[0] ?? "");
    assert.ok(place && view.zoom >= 0.7 && view.zoom <= 1);
    const left = place.x * view.zoom + view.x;
    const top = place.y * view.zoom + view.y;
    assert.ok(left >= 0 && left + SIZE.width * view.zoom <= box.width, `seed ${seed}: beside the view`);
    assert.ok(top >= 0 && top + SIZE.height * view.zoom <= box.height, `seed ${seed}: above or below the view`);
    const fit = wholeView(at, box);
    assert.ok(at.width * fit.zoom <= box.width && at.height * fit.zoom <= box.height);
    const moved = shown({ x: 1e6, y: -1e6, zoom: 0.8 }, at, SIZE, hot[0] ?? "", box);
    assert.ok(place.x * 0.8 + moved.x > 0 && place.x * 0.8 + moved.x < box.width);
    assert.equal(shown(moved, at, SIZE, hot[0] ?? "", box), moved);
  }
  assert.deepEqual(firstView(layout([], []), SIZE, [], box), { x: 0, y: 0, zoom: 1 });
});
