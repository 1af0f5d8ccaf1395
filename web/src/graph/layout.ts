/** Layered layout of a workflow, left to right. Deterministic, and keeps the written order where nothing speaks against it.
 *
 * 1. layers by longest path, 2. long edges become chains of thin bends, 3. order by barycentre sweeps, 4. heights by
 * isotonic regression: each layer as near to its neighbours' heights as the distances allow. An edge that closes a
 * cycle (drafts can have one) is laid out backwards. */

export interface Point {
  x: number;
  y: number;
}
export interface Size {
  width: number;
  height: number;
  gapX: number;
  gapY: number;
  bend: number;
}
export type Link = readonly [source: string, target: string];
export interface Layout {
  /** The upper left corner of each node. */
  at: ReadonlyMap<string, Point>;
  /** The points of each edge, in the order of the edges that were given; empty for an edge whose ends are unknown. */
  path: readonly (readonly Point[])[];
  width: number;
  height: number;
}

interface Item {
  layer: number;
  size: number;
  y: number;
  order: number;
  mean: number;
  prev: Item[];
  next: Item[];
  real: boolean;
}
interface Chain {
  line: Item[];
  backwards: boolean;
}

export const SIZE: Size = { width: 204, height: 50, gapX: 40, gapY: 24, bend: 8 };
const CORNER = 8;
const SWEEPS = 6;
const SETTLINGS = 9;
const EMPTY: Layout = { at: new Map(), path: [], width: 0, height: 0 };

/** Places nodes and edges. The same input gives the same places. */
export function layout(ids: readonly string[], links: readonly Link[], size: Size = SIZE): Layout {
  const index = new Map<string, number>();
  for (const id of ids) if (!index.has(id)) index.set(id, index.size);
  if (!index.size) return { ...EMPTY, path: links.map(() => []) };
  const ends = links.map(([a, b]) => [index.get(a) ?? -1, index.get(b) ?? -1] as const);
  const forward = withoutCycles(index.size, ends);
  const layer = layers(index.size, forward.filter(([a, b]) => a >= 0 && b >= 0 && a !== b));
  const rows: Item[][] = [];
  const items = layer.map((one) => placed(rows, one, size.height, true));
  const chains = forward.map(([a, b], i): Chain | null => {
    const from = items[a];
    const to = items[b];
    if (!from || !to || from === to) return null;
    return { line: chain(from, to, rows, size), backwards: ends[i]?.[0] !== a };
  });
  for (const row of rows) number(row);
  arrange(rows);
  heights(rows, size);

  let top = Infinity;
  let bottom = -Infinity;
  for (const row of rows) {
    for (const one of row) {
      one.y = Math.round(one.y); // borders on whole pixels are sharp
      top = Math.min(top, one.y - one.size / 2);
      bottom = Math.max(bottom, one.y + one.size / 2);
    }
  }
  const pitch = size.width + size.gapX;
  const at = new Map<string, Point>();
  for (const [id, i] of index) {
    const one = items[i];
    if (one) at.set(id, { x: one.layer * pitch, y: one.y - one.size / 2 - top });
  }
  const path = chains.map((one) => (one ? pointsOf(one, pitch, size, top) : []));
  return { at, path, width: rows.length * pitch - size.gapX, height: bottom - top };
}

/** The edges, with those turned round that close a cycle. Each node is walked once, without recursion. */
function withoutCycles(n: number, ends: readonly (readonly [number, number])[]): (readonly [number, number])[] {
  const out: { edge: number; to: number }[][] = Array.from({ length: n }, () => []);
  ends.forEach(([a, b], edge) => {
    if (a >= 0 && b >= 0) out[a]?.push({ edge, to: b });
  });
  const turned = new Set<number>();
  const state = new Uint8Array(n); // 0 not seen, 1 on the way, 2 done
  const taken = new Uint32Array(n);
  for (let start = 0; start < n; start += 1) {
    if (state[start]) continue;
    const stack = [start];
    state[start] = 1;
    for (let node = stack.at(-1); node !== undefined; node = stack.at(-1)) {
      const next = out[node]?.[taken[node] ?? 0];
      if (!next) {
        state[node] = 2;
        stack.pop();
        continue;
      }
      taken[node] = (taken[node] ?? 0) + 1;
      if (state[next.to] === 1) turned.add(next.edge);
      else if (!state[next.to]) {
        state[next.to] = 1;
        stack.push(next.to);
      }
    }
  }
  return ends.map(([a, b], i) => (turned.has(i) ? ([b, a] as const) : ([a, b] as const)));
}

/** The layer of each node: the longest way to it, then as near to what follows as its own edges allow. */
function layers(n: number, links: readonly (readonly [number, number])[]): number[] {
  const nodes = Array.from({ length: n }, () => ({ layer: 0, left: 0, into: 0, out: [] as number[] }));
  for (const [a, b] of links) {
    nodes[a]?.out.push(b);
    const to = nodes[b];
    if (to) {
      to.left += 1;
      to.into += 1;
    }
  }
  const queue = nodes.filter((one) => !one.left);
  for (const one of queue) {
    for (const b of one.out) {
      const to = nodes[b];
      if (!to) continue;
      to.layer = Math.max(to.layer, one.layer + 1);
      to.left -= 1;
      if (!to.left) queue.push(to);
    }
  }
  for (const one of queue.reverse()) {
    if (!one.out.length || one.out.length < one.into) continue;
    one.layer = one.out.reduce((least, b) => Math.min(least, nodes[b]?.layer ?? least), Infinity) - 1;
  }
  return nodes.map((one) => one.layer);
}

function placed(rows: Item[][], layer: number, size: number, real: boolean): Item {
  while (rows.length <= layer) rows.push([]);
  const one: Item = { layer, size, y: 0, order: 0, mean: 0, prev: [], next: [], real };
  rows[layer]?.push(one);
  return one;
}

/** The items that an edge passes: its ends, and one bend in every layer between them. */
function chain(from: Item, to: Item, rows: Item[][], size: Size): Item[] {
  const line = [from];
  for (let l = from.layer + 1; l < to.layer; l += 1) line.push(placed(rows, l, size.bend, false));
  line.push(to);
  let before = from;
  for (const one of line.slice(1)) {
    before.next.push(one);
    one.prev.push(before);
    before = one;
  }
  return line;
}

function number(row: Item[]): void {
  row.forEach((one, i) => {
    one.order = i;
  });
}

/** Orders each layer: a first order by depth-first walk keeps branches together; then the mean of the neighbours, both
 * ways in turn, and the order with the fewest crossings is kept. */
function arrange(rows: Item[][]): void {
  const seen = new Set<Item>();
  const counters = rows.map(() => 0);
  const visit = (start: Item) => {
    const stack = [start];
    for (let one = stack.pop(); one; one = stack.pop()) {
      if (seen.has(one)) continue;
      seen.add(one);
      const count = counters[one.layer] ?? 0;
      one.order = count;
      counters[one.layer] = count + 1;
      for (let i = one.next.length - 1; i >= 0; i -= 1) {
        const next = one.next[i];
        if (next) stack.push(next);
      }
    }
  };
  for (const row of rows) for (const one of row) if (!one.prev.length) visit(one);
  for (const row of rows) {
    row.sort((a, b) => a.order - b.order);
    number(row);
  }
  let best = crossings(rows);
  let kept = rows.map((row) => row.slice());
  for (let s = 0; s < SWEEPS && best > 0; s += 1) {
    const down = s % 2 === 0;
    for (const row of down ? rows.slice(1) : rows.slice(0, -1).reverse()) {
      for (const one of row) {
        const near = down ? one.prev : one.next;
        one.mean = near.length ? near.reduce((sum, x) => sum + x.order, 0) / near.length : one.order;
      }
      row.sort((a, b) => a.mean - b.mean || a.order - b.order);
      number(row);
    }
    const now = crossings(rows);
    if (now < best) {
      best = now;
      kept = rows.map((row) => row.slice());
    }
  }
  kept.forEach((row, l) => {
    rows[l] = row;
    number(row);
  });
}

function crossings(rows: readonly Item[][]): number {
  let all = 0;
  rows.slice(0, -1).forEach((row, l) => {
    const size = rows[l + 1]?.length ?? 0;
    const tree = new Int32Array(size + 1);
    let count = 0;
    for (const one of row) {
      const to = one.next.map((x) => x.order).sort((a, b) => a - b);
      for (const t of to) {
        let below = 0;
        for (let i = t + 1; i > 0; i -= i & -i) below += tree[i] ?? 0;
        all += count - below;
      }
      for (const t of to) {
        count += 1;
        for (let i = t + 1; i <= size; i += i & -i) tree[i] = (tree[i] ?? 0) + 1;
      }
    }
  });
  return all;
}

type Gap = (a: Item, b: Item) => number;

function heights(rows: readonly Item[][], size: Size): void {
  const gap: Gap = (a, b) => (a.size + b.size) / 2 + (a.real && b.real ? size.gapY : size.gapY / 2);
  for (const row of rows) {
    let y = 0;
    let before: Item | undefined;
    for (const one of row) {
      y = before ? y + gap(before, one) : 0;
      one.y = y;
      before = one;
    }
    for (const one of row) one.y -= y / 2;
  }
  const back = [...rows].reverse();
  for (let s = 0; s < SETTLINGS; s += 1) {
    for (const row of s % 2 ? back : rows) settle(row, s % 2 ? "next" : "prev", gap);
  }
}

/** The best heights for one layer in one pass: pool adjacent violators. */
function settle(row: readonly Item[], way: "prev" | "next", gap: Gap): void {
  const blocks: { sum: number; weight: number; members: { one: Item; offset: number }[] }[] = [];
  let offset = 0;
  let before: Item | undefined;
  for (const one of row) {
    if (before) offset += gap(before, one);
    before = one;
    const near = one[way].length ? one[way] : way === "prev" ? one.next : one.prev;
    let want = near.length ? 0 : one.y * 0.01;
    let weight = near.length ? 0 : 0.01;
    for (const x of near) {
      const w = one.real || x.real ? 1 : 4;
      want += x.y * w;
      weight += w;
    }
    let block = { sum: want - weight * offset, weight, members: [{ one, offset }] };
    for (let last = blocks.at(-1); last && last.sum / last.weight > block.sum / block.weight; last = blocks.at(-1)) {
      last.sum += block.sum;
      last.weight += block.weight;
      last.members.push(...block.members);
      block = last;
      blocks.pop();
    }
    blocks.push(block);
  }
  for (const block of blocks) {
    for (const { one, offset: place } of block.members) one.y = block.sum / block.weight + place;
  }
}

function pointsOf({ line, backwards }: Chain, pitch: number, size: Size, top: number): Point[] {
  const points: Point[] = [];
  line.forEach((one, i) => {
    const x = one.layer * pitch;
    const y = one.y - top;
    if (i > 0) points.push({ x, y });
    if (i < line.length - 1) points.push({ x: x + size.width, y });
  });
  return backwards ? points.reverse() : points;
}

/** A path through the points that leaves and arrives level. Corners of a line that goes straight down are round. */
export function smooth(points: readonly Point[]): string {
  const [first] = points;
  if (!first) return "";
  let d = `M${first.x},${first.y}`;
  let a = first;
  points.slice(1).forEach((b, i) => {
    const next = points[i + 2];
    const m = (a.x + b.x) / 2;
    if (next && (a.x === b.x) !== (b.x === next.x)) {
      const from = towards(b, a);
      const to = towards(b, next);
      d += `L${from.x},${from.y}Q${b.x},${b.y} ${to.x},${to.y}`;
    } else d += a.x === b.x || Math.abs(a.y - b.y) < 3 ? `L${b.x},${b.y}` : `C${m},${a.y} ${m},${b.y} ${b.x},${b.y}`;
    a = b;
  });
  return d;
}

/** A point near a corner on the way to another: where its rounding begins. */
function towards(corner: Point, other: Point): Point {
  const far = Math.hypot(other.x - corner.x, other.y - corner.y);
  const share = Math.min(CORNER, far / 2) / Math.max(far, 1);
  return { x: corner.x + (other.x - corner.x) * share, y: corner.y + (other.y - corner.y) * share };
}
