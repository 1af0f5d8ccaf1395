/** A time axis that folds what no step works in: hours of sleep become a narrow band, seconds of work stay readable.
 * Places on the axis are shares of its whole width, 0 to 1; inside a piece they are linear. */

export interface Piece {
  from: number;
  to: number;
  /** Its place on the axis. */
  a: number;
  b: number;
  folded: boolean;
}
export interface Axis {
  pieces: readonly Piece[];
  at: (time: number) => number;
  time: (share: number) => number;
}
export type Span = readonly [from: number, to: number];
interface Cut {
  from: number;
  to: number;
  folded: boolean;
}

/** However short, a stretch of work gets this share (before all are scaled to fit). */
const LEAST = 0.1;
/** All folds together take at most this much. */
const MOST_FOLDED = 0.4;
/** A run as short as this is shown as it is. */
const SHORT = 10_000;
/** Folding is worth it when more than this share of the time has no work. */
const MOSTLY_IDLE = 0.6;

/** The axis on which each millisecond has the same width. */
export function evenAxis(from: number, to: number): Axis {
  return scaled([{ from, to: Math.max(to, from + 1), folded: false }], 0);
}

/** The axis without idle time. `busy`: when steps worked. `band`: the share of one fold, wide enough for its label. */
export function foldedAxis(busy: readonly Span[], from: number, to: number, band = 0.06): Axis {
  const spans = joined(busy, from, to);
  const work = worked(spans);
  if (!work) return evenAxis(from, to);
  const idle = Math.max(work * 0.6, (to - from) * 0.04);
  const cuts: Cut[] = [];
  let place = from;
  for (const [a, b] of [...spans, [to, to] as const]) {
    if (a - place > idle) {
      const pad = Math.min((a - place) * 0.1, work * 0.06);
      const begin = place > from ? place + pad : place;
      const end = a < to ? a - pad : a;
      open(cuts, place, begin);
      cuts.push({ from: begin, to: end, folded: true });
      open(cuts, end, b);
    } else open(cuts, place, b);
    place = Math.max(place, b);
  }
  return scaled(cuts, band);
}

/** Whether so much of the time is idle that folding it helps. */
export function isMostlyIdle(busy: readonly Span[], from: number, to: number): boolean {
  const work = worked(joined(busy, from, to));
  return to - from >= SHORT && work > 0 && 1 - work / Math.max(1, to - from) > MOSTLY_IDLE;
}

function worked(spans: readonly Span[]): number {
  return spans.reduce((sum, [a, b]) => sum + b - a, 0);
}

/** The spans inside of a stretch of time, in order and without overlap. */
export function joined(busy: readonly Span[], from: number, to: number): Span[] {
  const found: [number, number][] = [];
  const inside = busy.map(([a, b]) => [Math.max(from, a), Math.min(to, b)] as const).filter(([a, b]) => b >= a);
  for (const [a, b] of inside.sort((x, y) => x[0] - y[0])) {
    const last = found.at(-1);
    if (last && a <= last[1]) last[1] = Math.max(last[1], b);
    else found.push([a, b]);
  }
  return found;
}

function open(cuts: Cut[], from: number, to: number): void {
  const last = cuts.at(-1);
  if (to <= from) return;
  if (last && !last.folded) last.to = Math.max(last.to, to);
  else cuts.push({ from, to, folded: false });
}

function scaled(cuts: readonly Cut[], band: number): Axis {
  const folds = cuts.filter((cut) => cut.folded).length;
  const width = folds ? Math.min(band, MOST_FOLDED / folds) : 0;
  const root = (cut: Cut) => (cut.folded ? 0 : Math.sqrt(cut.to - cut.from));
  const sum = cuts.reduce((all, cut) => all + root(cut), 0);
  const share = (cut: Cut) => (cut.folded ? 0 : Math.max(LEAST, root(cut) / sum));
  const room = (1 - folds * width) / cuts.reduce((all, cut) => all + share(cut), 0);
  let a = 0;
  const pieces = cuts.map((cut): Piece => {
    const b = a + (cut.folded ? width : share(cut) * room);
    const piece = { ...cut, a, b };
    a = b;
    return piece;
  });
  const find = (is: (one: Piece) => boolean) => pieces.find(is) ?? pieces.at(-1);
  return {
    pieces,
    at: (time) => {
      const p = find((one) => time <= one.to);
      return p ? p.a + ((time - p.from) / (p.to - p.from)) * (p.b - p.a) : 0;
    },
    time: (place) => {
      const p = find((one) => place <= one.b);
      return p ? p.from + ((place - p.a) / (p.b - p.a)) * (p.to - p.from) : 0;
    },
  };
}
