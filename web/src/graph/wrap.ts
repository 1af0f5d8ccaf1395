/** Lines for a graph that is much longer than high: its layers go on in the next line, as words do, so that a look at
 * the whole of it shows more than a thread. Pure geometry: the layout inside of a line stays as it was. */
import type { Layout, Point, Size } from "./layout";
import { SIZE } from "./layout";

/** A graph with fewer layers is never wrapped: it can be followed by the eye. */
const FEWEST = 32;
/** The shape, width by height, of the room that graphs are shown in. */
const ROOM = 3;
/** Lines are worth it if everything is shown at least so much larger. */
const GAIN = 2;
/** Between the nodes of a line and what turns round them. */
const CLEAR = 20;

interface Turn {
  path: number;
  /** The turn is between this point of the path and the next one. */
  point: number;
  /** Heights in the line that is left and in the one that follows. */
  from: number;
  to: number;
  backwards: boolean;
}

/** The same layout in lines, or the same object if lines do not help. */
export function wrapped(at: Layout, size: Size = SIZE): Layout {
  const pitch = size.width + size.gapX;
  const layers = Math.round((at.width + size.gapX) / pitch);
  const columns = columnsOf(layers, at.height, pitch);
  if (columns >= layers) return at;
  const count = Math.ceil(layers / columns);
  const lineOf = (x: number) => Math.min(count - 1, Math.floor(x / pitch / columns));
  const turns = turnsOf(at, size, columns, count);
  const most = Math.max(0, ...turns.map((one) => one.length));
  const margin = CLEAR + most * size.bend;

  const tops: number[] = Array.from({ length: count }, () => Infinity);
  const bottoms: number[] = Array.from({ length: count }, () => -Infinity);
  const reach = (x: number, top: number, bottom: number) => {
    const line = lineOf(x);
    tops[line] = Math.min(tops[line] ?? top, top);
    bottoms[line] = Math.max(bottoms[line] ?? bottom, bottom);
  };
  for (const { x, y } of at.at.values()) reach(x, y, y + size.height);
  for (const path of at.path) for (const { x, y } of path) reach(x, y, y);
  const shifts: number[] = [];
  let height = 0;
  for (let line = 0; line < count; line += 1) {
    if (line) height += 2 * CLEAR + (turns[line - 1]?.length ?? 0) * size.bend;
    shifts.push(height - (tops[line] ?? 0));
    height += (bottoms[line] ?? 0) - (tops[line] ?? 0);
  }
  const moved = ({ x, y }: Point): Point => {
    const line = lineOf(x);
    return { x: x - line * columns * pitch + margin, y: y + (shifts[line] ?? 0) };
  };
  const right = margin + columns * pitch - size.gapX;
  const around = new Map<string, Point[]>();
  turns.forEach((members, line) => {
    // They lie in each other: the upper one goes round all below it, so that none crosses another.
    const sorted = [...members].sort((a, b) => a.from - b.from || a.to - b.to || a.path - b.path);
    const gutter = (bottoms[line] ?? 0) + (shifts[line] ?? 0) + CLEAR;
    sorted.forEach((turn, i) => {
      const outer = sorted.length - 1 - i;
      const x = right + CLEAR + outer * size.bend;
      const y = gutter + outer * size.bend;
      const left = margin - CLEAR - i * size.bend;
      const points = [
        { x, y: turn.from + (shifts[line] ?? 0) },
        { x, y },
        { x: left, y },
        { x: left, y: turn.to + (shifts[line + 1] ?? 0) },
      ];
      around.set(`${turn.path} ${turn.point}`, turn.backwards ? points.reverse() : points);
    });
  });
  return {
    at: new Map([...at.at].map(([id, point]) => [id, moved(point)])),
    path: at.path.map((path, i) => path.flatMap((point, k) => [moved(point), ...(around.get(`${i} ${k}`) ?? [])])),
    width: columns * pitch - size.gapX + 2 * margin,
    height,
  };
}

/** How many layers a line has, so that everything is shown as large as can be; all of them if lines gain little. */
function columnsOf(layers: number, height: number, pitch: number): number {
  if (layers < FEWEST) return layers;
  const scale = (columns: number) => {
    const lines = Math.ceil(layers / columns);
    return Math.min(ROOM / (columns * pitch), 1 / (lines * (height + 3 * CLEAR)));
  };
  let best = layers;
  for (let columns = 4; columns < layers; columns += 1) if (scale(columns) > scale(best)) best = columns;
  return scale(best) >= GAIN * scale(layers) ? best : layers;
}

/** Where paths go from the last layer of a line to the first one of the next. */
function turnsOf(at: Layout, size: Size, columns: number, count: number): Turn[][] {
  const pitch = size.width + size.gapX;
  const turns: Turn[][] = Array.from({ length: count - 1 }, () => []);
  at.path.forEach((points, path) => {
    points.slice(1).forEach((next, point) => {
      const here = points[point];
      if (!here || Math.abs(next.x - here.x) !== size.gapX) return;
      const backwards = next.x < here.x;
      const [a, b] = backwards ? [next, here] : [here, next];
      const layer = Math.round(b.x / pitch);
      if (layer % columns === 0) turns[layer / columns - 1]?.push({ path, point, from: a.y, to: b.y, backwards });
    });
  });
  return turns;
}
