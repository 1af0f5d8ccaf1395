import type { Layout, Size } from "./layout";

export interface View {
  x: number;
  y: number;
  zoom: number;
}
export interface Box {
  width: number;
  height: number;
}

const PAD = 22;
/** From here on a whole graph is readable. */
const READABLE = 0.7;
const NEAREST = 0.86;
const FARTHEST = 0.8;

/** Where a graph is first looked at: everything if that is readable, else what is going on in the middle. `hot` has the
 * most urgent first. */
export function firstView(at: Layout, size: Size, hot: readonly string[], box: Box): View {
  if (!at.width || !at.height || !box.width || !box.height) return { x: 0, y: 0, zoom: 1 };
  const fit = Math.min((box.width - 2 * PAD) / at.width, (box.height - 2 * PAD) / at.height, 1);
  if (fit >= READABLE) {
    return { zoom: fit, x: (box.width - at.width * fit) / 2, y: (box.height - at.height * fit) / 2 };
  }
  const zoom = Math.max(FARTHEST, Math.min(NEAREST, (box.height - 2 * PAD) / at.height));
  const [first] = at.at.keys();
  const room = { width: (box.width - 2 * PAD) / zoom, height: (box.height - 2 * PAD) / zoom };
  let left = Infinity;
  let right = -Infinity;
  let top = Infinity;
  let bottom = -Infinity;
  for (const { x, y } of (hot.length ? hot : [first ?? ""]).flatMap((id) => at.at.get(id) ?? [])) {
    const wide = { left: Math.min(left, x), right: Math.max(right, x + size.width) };
    const high = { top: Math.min(top, y), bottom: Math.max(bottom, y + size.height) };
    const isFirst = left === Infinity;
    // What does not fit beside the more urgent ones is left out of the middle.
    if (!isFirst && (wide.right - wide.left > room.width || high.bottom - high.top > room.height)) continue;
    ({ left, right } = wide);
    ({ top, bottom } = high);
  }
  if (left === Infinity) [left, right, top, bottom] = [0, 0, 0, 0];
  return {
    zoom,
    x: within(box.width / 2 - ((left + right) / 2) * zoom, box.width, at.width * zoom),
    y: within(box.height / 2 - ((top + bottom) / 2) * zoom, box.height, at.height * zoom),
  };
}

/** Keeps the graph in the box: centred if it is smaller, without empty margins if it is larger. */
function within(place: number, room: number, all: number): number {
  if (all + 2 * PAD <= room) return (room - all) / 2;
  return Math.min(PAD, Math.max(room - all - PAD, place));
}

/** The view that shows everything. */
export function wholeView(at: Layout, box: Box): View {
  if (!at.width || !at.height) return { x: 0, y: 0, zoom: 1 };
  const zoom = Math.min((box.width - 2 * PAD) / at.width, (box.height - 2 * PAD) / at.height, 1);
  const fit = Math.max(zoom, 0.02);
  return { zoom: fit, x: (box.width - at.width * fit) / 2, y: (box.height - at.height * fit) / 2 };
}

/** The view moved so that a node is inside of it; the same view if it was. */
export function shown(view: View, at: Layout, size: Size, id: string, box: Box): View {
  const place = at.at.get(id);
  if (!place) return view;
  const x = inside(view.x, place.x * view.zoom, size.width * view.zoom, box.width);
  const y = inside(view.y, place.y * view.zoom, size.height * view.zoom, box.height);
  return x === view.x && y === view.y ? view : { ...view, x, y };
}

function inside(shift: number, from: number, length: number, room: number): number {
  const start = from + shift;
  if (start >= PAD && start + length <= room - PAD) return shift;
  return room / 2 - from - length / 2;
}
