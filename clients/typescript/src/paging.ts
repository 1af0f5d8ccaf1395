/** One page of a list. */
export interface Page<T> {
  data: T[];
  next_cursor?: string | null;
}

/** Every document of a list. The next page is asked for when it is needed, and not if nobody goes there. */
export async function* pages<T>(ask: (cursor: string | undefined) => Promise<Page<T>>): AsyncGenerator<T, void, void> {
  let cursor: string | undefined;
  do {
    const page = await ask(cursor);
    yield* page.data;
    cursor = page.next_cursor ?? undefined;
  } while (cursor !== undefined);
}

/** The pairs of `cursor`, if there is one. */
export function from(cursor: string | undefined): { cursor?: string } {
  return cursor === undefined ? {} : { cursor };
}
