/** What of a bar is drawn. Each piece is an element that moves with the axis, so tries that are too narrow to be told
 * apart are one piece; a closer look parts them. */
import type { Segment } from "./segments";

export interface Piece {
  /** The place of its first segment in the bar. */
  key: number;
  one: Segment;
  /** The number of its last try, where it stands for several; else null. */
  last: number | null;
}

/** A shorter bar is drawn as it is. */
const MANY = 12;
/** Pixels below which tries are not told apart. */
const NARROW = 6;

/** The pieces of a bar, in order. `x` says the pixel of an instant. None reaches over the moment `at`: what is behind it
 * is drawn otherwise. */
export function pieces(bar: readonly Segment[], x: (time: number) => number, at = Infinity): Piece[] {
  if (bar.length < MANY) return bar.map((one, key) => ({ key, one, last: null }));
  const found: Piece[] = [];
  let group: Piece[] = [];
  const close = () => {
    const tries = group.filter(({ one }) => one.kind === "try");
    const [first] = tries;
    const end = tries.at(-1);
    if (!first || !end) found.push(...group.filter(({ one }) => x(one.to) - x(one.from) >= 1));
    else if (first === end) found.push(first);
    else found.push({ key: first.key, one: { ...first.one, to: end.one.to }, last: end.one.attempt });
    group = [];
  };
  bar.forEach((one, key) => {
    const isPart = one.kind === "try" || one.kind === "backoff" || one.kind === "queued";
    const piece = { key, one, last: null };
    const before = group.at(-1);
    if (before && before.one.from <= at && one.from > at) close();
    if (isPart && !one.open && x(one.to) - x(one.from) < NARROW) group.push(piece);
    else {
      close();
      found.push(piece);
    }
  });
  close();
  return found;
}
