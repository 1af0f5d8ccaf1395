/** Which rows of a long list are seen. All rows have one height, so this is arithmetic. */

/** Beside those that are seen: so many rows above and below are there when a wheel turns. */
const MARGIN = 6;

export interface Span {
  first: number;
  /** Behind the last. */
  end: number;
}

/** The rows to mount. */
export function visible(top: number, height: number, row: number, count: number): Span {
  const first = Math.max(0, Math.min(count, Math.floor(top / row) - MARGIN));
  const end = Math.min(count, Math.ceil((top + height) / row) + MARGIN);
  return { first, end: Math.max(first, end) };
}

/** Where to scroll so that a row is seen whole, moving as little as possible. */
export function revealing(index: number, top: number, height: number, row: number): number {
  const begin = index * row;
  if (begin < top) return begin;
  if (begin + row > top + height) return begin + row - height;
  return top;
}
