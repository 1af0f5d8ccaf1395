/** The runs of a filter, kept fresh by the stream. */
import { type InfiniteData, useInfiniteQuery, useQueryClient } from "@tanstack/react-query";
import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import { read } from "../api/client";
import type { Page, RunSummary } from "../api/documents";
import { useLive } from "../api/live";
import { type Filter, PAGE, runsQuery } from "../api/runs";
import { arrived, patched } from "./patches";

/** The ids on screen are told to the server at most so often. */
const TELL = 2500;
/** The histogram is asked for again at most so often. */
const REDRAW = 5000;
const FRESH_FOR = 1600;
/** So many parts of a stopped search follow each other by themselves. */
const PATIENCE = 8;

export function useRuns(filter: Filter, isLive: boolean) {
  const queries = useQueryClient();
  const options = useMemo(() => runsQuery(filter), [filter]);
  const query = useInfiniteQuery(options);
  const runs = useMemo(() => unique(query.data?.pages.flatMap((page) => page.data) ?? []), [query.data]);
  const [waiting, setWaiting] = useState(0);
  const [fresh, setFresh] = useState<ReadonlySet<string>>(new Set());
  const atTop = useRef(true);
  const [ids, setIds] = useState("");
  useEffect(() => setWaiting(0), [filter]);

  /** Fetch the newest page and put what is unknown above. */
  const isFetching = useRef(false);
  const showNew = useCallback(async () => {
    if (isFetching.current) return;
    isFetching.current = true;
    setWaiting(0);
    try {
      const page = await read<Page<RunSummary>>("/api/v1/runs", { ...filter, limit: PAGE, include: "progress" });
      const before = queries.getQueryData<InfiniteData<Page<RunSummary>, string | undefined>>(options.queryKey);
      const next = arrived(before?.pages ?? [], page);
      if (next.added === undefined || !before) {
        await queries.resetQueries({ queryKey: options.queryKey });
      } else if (before && next.added.length > 0) {
        queries.setQueryData(options.queryKey, { ...before, pages: next.pages });
        setFresh(new Set(next.added));
        setTimeout(() => setFresh(new Set()), FRESH_FOR);
      }
    } finally {
      isFetching.current = false;
    }
  }, [filter, options, queries]);

  const redraw = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  useEffect(() => () => clearTimeout(redraw.current), []);
  const topic = isLive ? topicOf(filter, ids) : "";
  useLive(topic, ({ event, data }) => {
    if (event === "open") {
      void queries.invalidateQueries({ queryKey: options.queryKey });
      return;
    }
    if (event !== "runs") return;
    const changed = (data["changed"] ?? []) as RunSummary[];
    const gone = (data["gone"] ?? []) as string[];
    const count = Number(data["new"] ?? 0);
    if (changed.length > 0 || gone.length > 0) {
      queries.setQueryData<InfiniteData<Page<RunSummary>, string | undefined>>(
        options.queryKey,
        (before) => before && { ...before, pages: patched(before.pages, changed, new Set(gone)) },
      );
    }
    if (count > 0) {
      if (atTop.current) void showNew();
      else setWaiting((before) => before + count);
    }
    redraw.current ??= setTimeout(() => {
      redraw.current = undefined;
      void queries.invalidateQueries({ queryKey: ["runs", "histogram"] });
    }, REDRAW);
  });

  // Only open runs change, so only these are told.
  const telling = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const latest = useRef(runs);
  latest.current = runs;
  useEffect(() => () => clearTimeout(telling.current), []);
  const onSeen = useCallback((seen: readonly string[]) => {
    clearTimeout(telling.current);
    telling.current = setTimeout(() => {
      const wanted = new Set(seen);
      const open = latest.current.filter((one) => wanted.has(one.id) && (one.stage || !one.finished_at));
      setIds(open.map((one) => one.id).join(","));
    }, TELL);
  }, []);

  const onTop = useCallback((is: boolean) => {
    atTop.current = is;
  }, []);
  const last = query.data?.pages.at(-1);
  // A search that is stopped by the server goes on by itself for a while, then when a person wants it.
  const stopped = trailing(query.data?.pages ?? []);
  return {
    query,
    runs,
    fresh,
    waiting,
    showNew: useCallback(() => void showNew(), [showNew]),
    onSeen,
    onTop,
    searchedUntil: last?.searched_until ?? undefined,
    isPatient: stopped > 0 && stopped % PATIENCE === 0,
  };
}

/** The topic of a list: its filter as a query, and the open runs on screen. */
export function topicOf(filter: Filter, ids: string): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(filter)) {
    for (const one of typeof value === "string" ? [value] : value) search.append(name, one);
  }
  return `runs:${search.toString()}${ids ? `;ids=${ids}` : ""}`;
}

/** How many pages at the end were stopped before they were full. */
function trailing(pages: readonly Page<RunSummary>[]): number {
  return pages.length - 1 - pages.findLastIndex((page) => !page.searched_until);
}

/** A run that two pages have is shown once. */
function unique(runs: RunSummary[]): RunSummary[] {
  const seen = new Set<string>();
  return runs.filter((one) => !seen.has(one.id) && seen.add(one.id));
}
