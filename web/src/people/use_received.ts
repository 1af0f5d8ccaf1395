/** What triggers received, kept fresh by the stream. New ones come by themselves only while nothing is read below them. */
import { type InfiniteData, useInfiniteQuery, useQueryClient } from "@tanstack/react-query";
import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import type { Page } from "../api/documents";
import { useLive } from "../api/live";
import { arrivedPages, patchedPages } from "../api/pages";
import { type FiringFilter, firingsQuery, firingsTopic, readFirings, type Received } from "../api/triggers";

type Pages = InfiniteData<Page<Received>, string | undefined>;

/** `isReading`: a person reads one of them, so none is put above it. */
export function useReceived({ trigger = "", type = "", status = "" }: FiringFilter, isReading: boolean) {
  const queries = useQueryClient();
  const filter = useMemo<FiringFilter>(() => ({ ...(trigger && { trigger }), ...(type && { type }), ...(status && { status }) }), [trigger, type, status]);
  const options = useMemo(() => firingsQuery(filter), [filter]);
  const query = useInfiniteQuery(options);
  const [waiting, setWaiting] = useState(0);
  const atTop = useRef(true);
  const now = useRef({ filter, isReading });
  now.current = { filter, isReading };
  useEffect(() => setWaiting(0), [filter]);

  /** Reads the newest page: rows that are known change. Unknown ones come above if they are wanted, or are counted. */
  const renew = useCallback(
    async (isWanted: boolean) => {
      const newest = await readFirings(filter).catch(() => undefined);
      const before = queries.getQueryData<Pages>(options.queryKey);
      if (!newest || !before || now.current.filter !== filter) return;
      const { pages, added } = arrivedPages(before.pages, newest);
      const withNew = isWanted || (!now.current.isReading && atTop.current);
      setWaiting(withNew ? 0 : (added?.length ?? newest.data.length));
      if (!withNew) queries.setQueryData<Pages>(options.queryKey, { ...before, pages: patchedPages(before.pages, newest.data, new Set()) });
      else if (added === undefined) await queries.resetQueries({ queryKey: options.queryKey });
      else queries.setQueryData<Pages>(options.queryKey, { ...before, pages });
    },
    [filter, options, queries],
  );
  // One read after the other: of two at once the older answer could come last.
  const turn = useRef(Promise.resolve());
  const isAsked = useRef(false);
  const showNew = useCallback(() => {
    turn.current = turn.current.then(() => renew(true));
  }, [renew]);
  // The numbers of the stream are not added up: a read may have seen what is told after it.
  useLive(firingsTopic(filter), () => {
    if (isAsked.current) return;
    isAsked.current = true;
    turn.current = turn.current.then(() => {
      isAsked.current = false;
      return renew(false);
    });
  });
  const onTop = useCallback((is: boolean) => {
    atTop.current = is;
  }, []);
  return { query, waiting, showNew, onTop };
}
