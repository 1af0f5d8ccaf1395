/** What the stream tells, put into the pages of a list. Pages and rows that did not change stay the same objects. */
import type { Page } from "./documents";

interface Row {
  id: string;
}
/** A row that was read again, with what only the old one knew. */
type Merge<T> = (next: T, old: T) => T;

/** The pages with changed rows replaced and gone ones left out. */
export function patchedPages<T extends Row>(
  pages: readonly Page<T>[],
  changed: readonly T[],
  gone: ReadonlySet<string>,
  merge: Merge<T> = (next) => next,
): Page<T>[] {
  const fresh = new Map(changed.map((one) => [one.id, one]));
  return pages.map((page) => {
    if (!page.data.some((one) => fresh.has(one.id) || gone.has(one.id))) return page;
    const data = page.data
      .filter((one) => !gone.has(one.id))
      .map((one) => {
        const next = fresh.get(one.id);
        return next ? merge(next, one) : one;
      });
    return { ...page, data };
  });
}

/** The pages with the newest rows above. `added` are their ids; undefined if so many are new that some between are
 * unknown, and the list has to be read from its top. */
export function arrivedPages<T extends Row>(
  pages: readonly Page<T>[],
  newest: Page<T>,
  merge?: Merge<T>,
): { pages: Page<T>[]; added: string[] | undefined } {
  const known = new Set(pages.flatMap((page) => page.data.map((one) => one.id)));
  const added = newest.data.filter((one) => !known.has(one.id));
  const isGap = added.length === newest.data.length && newest.data.length > 0 && known.size > 0 && Boolean(newest.next_cursor);
  if (isGap) return { pages: [...pages], added: undefined };
  const renewed = patchedPages(pages, newest.data, new Set(), merge);
  const [first, ...rest] = renewed;
  if (!first) return { pages: [newest], added: added.map((one) => one.id) };
  return { pages: [added.length > 0 ? { ...first, data: [...added, ...first.data] } : first, ...rest], added: added.map((one) => one.id) };
}
