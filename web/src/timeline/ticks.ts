/** Where the axis is labelled. */
import type { Axis } from "./fold";

/** The part of the axis that is seen, in shares of it. */
export interface Window {
  a: number;
  b: number;
}
export interface Tick {
  /** Milliseconds after the beginning. */
  after: number;
  x: number;
}

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const STEPS = [
  1, 2, 5, 10, 20, 50, 100, 200, 500, SECOND, 2 * SECOND, 5 * SECOND, 10 * SECOND, 20 * SECOND, 30 * SECOND, MINUTE,
  2 * MINUTE, 5 * MINUTE, 10 * MINUTE, 15 * MINUTE, 30 * MINUTE, HOUR, 2 * HOUR, 3 * HOUR, 6 * HOUR, 12 * HOUR, DAY,
  2 * DAY, 7 * DAY, 30 * DAY,
];
/** Pixels between two labels. */
const ROOM = 76;
/** Pixels between a label and the edge of its piece. */
const MARGIN = 24;
const MOST = 200;

/** The end of the axis of an open run: a little behind now, so that now can move on while everything else stays. */
export function axisEnd(begin: number, now: number): number {
  const room = 2 ** Math.ceil(Math.log2(Math.max(1, now - begin) / 64));
  return begin + (Math.floor((now - begin) / room) + 1) * room;
}

/** The labels of what is seen, at round distances from the beginning; none inside of folds. */
export function ticks(axis: Axis, window: Window, width: number, begin: number): Tick[] {
  const found: Tick[] = [];
  const place = (share: number) => ((share - window.a) / (window.b - window.a)) * width;
  for (const piece of axis.pieces) {
    if (piece.folded || piece.b < window.a || piece.a > window.b) continue;
    const from = Math.max(piece.from, axis.time(Math.max(piece.a, window.a)));
    const to = Math.min(piece.to, axis.time(Math.min(piece.b, window.b)));
    const room = place(piece.b) - place(piece.a);
    const fits = Math.max(1, room / ROOM);
    const step = STEPS.find((one) => (piece.to - piece.from) / one <= fits) ?? 365 * DAY;
    for (let after = Math.ceil((from - begin) / step) * step; after <= to - begin && found.length < MOST; after += step) {
      const x = place(axis.at(begin + after));
      const isFree = x > 14 && x < width - 14 && x - place(piece.a) > MARGIN && place(piece.b) - x > MARGIN;
      if (isFree) found.push({ after, x });
    }
  }
  return found;
}

/** The window after a wheel: `zoom` above 1 shows more, around the share `around`; `shift` moves it. */
export function moved(window: Window, change: { zoom?: number; around?: number; shift?: number }): Window {
  const { zoom = 1, around = 0.5, shift = 0 } = change;
  const a = around - (around - window.a) * zoom + shift;
  const b = around + (window.b - around) * zoom + shift;
  const size = Math.min(1, Math.max(LEAST, b - a));
  const begin = Math.min(1 - size, Math.max(0, a + (b - a - size) / 2));
  return { a: begin, b: begin + size };
}
export const LEAST = 0.002;
