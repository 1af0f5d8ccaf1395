/** A layout with places that a person chose. They win; every other node is placed beside its neighbours, where it was
 * in the layout, as near as there is room. */
import { type Layout, type Link, type Point, type Size, SIZE } from "./layout";

/** The upper left corners that a person chose, by the name of the step. */
export type Stored = ReadonlyMap<string, Point>;

/** The same layout with these places, or the same object if none of them is of this graph. */
export function withStored(at: Layout, links: readonly Link[], stored: Stored, size: Size = SIZE): Layout {
  const places = new Map<string, Point>();
  for (const id of at.at.keys()) {
    const place = stored.get(id);
    if (place && Number.isFinite(place.x) && Number.isFinite(place.y)) places.set(id, { x: Math.round(place.x), y: Math.round(place.y) });
  }
  if (places.size === 0) return at;
  const chosen = [...places.keys()];
  const near = neighbours(at, links);
  const rest = [...at.at].filter(([id]) => !places.has(id)).sort(([, a], [, b]) => a.x - b.x || a.y - b.y);
  for (const [id, own] of rest) {
    const known = (near.get(id) ?? []).filter((one) => places.has(one));
    const anchors = known.length > 0 ? known : [nearest(own, chosen, at)];
    const wanted = { ...own };
    for (const one of anchors) {
      const [now, before] = [places.get(one) ?? own, at.at.get(one) ?? own];
      wanted.x += (now.x - before.x) / anchors.length;
      wanted.y += (now.y - before.y) / anchors.length;
    }
    places.set(id, free({ x: Math.round(wanted.x), y: Math.round(wanted.y) }, places, size));
  }
  return drawn(places, at, links, size);
}

function neighbours(at: Layout, links: readonly Link[]): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const [source, target] of links) {
    if (source === target || !at.at.has(source) || !at.at.has(target)) continue;
    found.set(source, [...(found.get(source) ?? []), target]);
    found.set(target, [...(found.get(target) ?? []), source]);
  }
  return found;
}

/** The node of these that is nearest in the layout. */
function nearest(own: Point, ids: readonly string[], at: Layout): string {
  let best = { id: "", far: Infinity };
  for (const id of ids) {
    const place = at.at.get(id);
    const far = place ? Math.hypot(place.x - own.x, place.y - own.y) : Infinity;
    if (far < best.far) best = { id, far };
  }
  return best.id;
}

/** The nearest place above or below on which no node lies. Each node is in the way of three steps at most. */
function free(wanted: Point, places: ReadonlyMap<string, Point>, size: Size): Point {
  const step = size.height + size.gapY;
  const beside = [...places.values()].filter((one) => Math.abs(one.x - wanted.x) < size.width + size.gapX / 2);
  for (let i = 0; i <= 6 * beside.length; i += 1) {
    const y = wanted.y + (i % 2 ? 1 : -1) * Math.ceil(i / 2) * step;
    if (beside.every((one) => Math.abs(one.y - y) >= step)) return { x: wanted.x, y };
  }
  return wanted;
}

/** The nodes moved so that nothing is left of or above the corner, and edges straight from node to node. */
function drawn(places: ReadonlyMap<string, Point>, before: Layout, links: readonly Link[], size: Size): Layout {
  const all = [...places.values()];
  const left = Math.min(...all.map((one) => one.x));
  const top = Math.min(...all.map((one) => one.y));
  const at = new Map([...before.at.keys()].flatMap((id) => {
    const place = places.get(id);
    return place ? [[id, { x: place.x - left, y: place.y - top }] as const] : [];
  }));
  const path = links.map(([source, target], i) => {
    const [a, b] = [at.get(source), at.get(target)];
    if (!a || !b || !before.path[i]?.length) return [];
    // An edge that leads back leaves on the left and arrives on the right, as in the layout.
    const isBack = b.x < a.x;
    return [
      { x: a.x + (isBack ? 0 : size.width), y: a.y + size.height / 2 },
      { x: b.x + (isBack ? size.width : 0), y: b.y + size.height / 2 },
    ];
  });
  return {
    at,
    path,
    width: Math.max(...all.map((one) => one.x)) - left + size.width,
    height: Math.max(...all.map((one) => one.y)) - top + size.height,
  };
}
