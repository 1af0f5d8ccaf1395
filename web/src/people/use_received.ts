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
  useEffect(() => setWaiting(0), [filter]);

  /** Reads the newest page: rows that are known change, and unknown ones come above, or are counted. */
  const renew = useCallback(
    async (withNew: boolean) => {
      const newest = await readFirings(filter).catch(() => undefined);
      const before = queries.getQueryData<Pages>(options.queryKey);
      if (!newest || !before) return;
      const { pages, added } = arrivedPages(before.pages, newest);
      setWaiting(withNew ? 0 : (added?.length ?? newest.data.length));
      if (!withNew) queries.setQueryData<Pages>(options.queryKey, { ...before, pages: patchedPages(before.pages, newest.data, new Set()) });
      else if (added === undefined) await queries.resetQueries({ queryKey: options.queryKey });
      else queries.setQueryData<Pages>(options.queryKey, { ...before, pages });
    },
    [filter, options, queries],
  );
  useLive(firingsTopic(filter), ({ event, data }) => {
    const isWelcome = !isReading && atTop.current;
    const count = Number(data["new"] ?? 0);
    const changed = (data["changed"] ?? []) as string[];
    // What came while there was no stream is not told.
    if (event === "open" || changed.length > 0 || isWelcome) void renew(isWelcome);
    else setWaiting((before) => before + count);
  });
  const onTop = useCallback((is: boolean) => {
    atTop.current = is;
  }, []);
  return { query, waiting, showNew: useCallback(() => void renew(true), [renew]), onTop };
}
