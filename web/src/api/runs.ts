/** Questions about runs: lists, histogram, counts, facets; and bulk actions. */
import { infiniteQueryOptions, keepPreviousData, queryOptions } from "@tanstack/react-query";
import { type Query, read, write } from "./client";
import { BANDS, type Bulk, type Facets, type Histogram, type One, type Page, type RunSummary, type ViewCounts } from "./documents";

/** A filter as the API names it: every value is a text or several. */
export type Filter = Record<string, string | readonly string[]>;

export const PAGE = 100;
/** A bulk action takes so many runs at once. */
const MOST = 10_000;

/** A list of runs, page by page. */
export function runsQuery(filter: Filter) {
  return infiniteQueryOptions({
    queryKey: ["runs", "list", filter],
    queryFn: ({ pageParam, signal }) =>
      read<Page<RunSummary>>("/api/v1/runs", { ...filter, limit: PAGE, include: "progress", cursor: pageParam }, signal),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next_cursor ?? undefined,
    placeholderData: keepPreviousData,
  });
}

/** How many runs there were, by time and state. */
export function histogramQuery(filter: Filter, from: number, to: number, buckets: number) {
  const query: Query = { ...filter, from: iso(from), to: iso(to), buckets };
  return queryOptions({
    queryKey: ["runs", "histogram", filter, from, to, buckets],
    queryFn: async ({ signal }) => (await read<One<Histogram>>("/api/v1/runs/histogram", query, signal)).data,
    placeholderData: keepPreviousData,
  });
}

const DAY = 86_400_000;
const QUARTERS = 96;

/** Since when there are runs, at most a day back: a young server has no use for a day of empty bars. */
export function reachQuery(now: number) {
  const query: Query = { from: iso(now - DAY), to: iso(now), buckets: QUARTERS };
  return queryOptions({
    queryKey: ["runs", "reach"],
    queryFn: async ({ signal }) => {
      const { buckets } = (await read<One<Histogram>>("/api/v1/runs/histogram", query, signal)).data;
      const first = buckets.find((one) => BANDS.some((band) => one[band] > 0));
      return first ? Date.parse(first.at) : now;
    },
    staleTime: DAY / QUARTERS,
  });
}

/** How many runs each saved view has. */
export function countsQuery() {
  return queryOptions({
    queryKey: ["runs", "counts"],
    queryFn: async ({ signal }) => (await read<One<ViewCounts>>("/api/v1/runs/counts", {}, signal)).data,
  });
}

/** What there is to filter by. */
export function facetsQuery(filter: Filter) {
  return queryOptions({
    queryKey: ["runs", "facets", filter],
    queryFn: async ({ signal }) => (await read<One<Facets>>("/api/v1/runs/facets", { ...filter }, signal)).data,
    staleTime: 60_000,
  });
}

/** Do something to every run that matches; with `dry` only count them. */
export async function bulk(action: string, filter: Filter, dry: boolean, version?: "current"): Promise<Bulk> {
  const everything = Object.keys(filter).length === 0 ? { all: true } : {};
  const body = { action, filter, dry_run: dry, limit: MOST, ...everything, ...(version ? { version } : {}) };
  return (await write<One<Bulk>>("post", "/api/v1/runs/bulk", body)).data;
}

function iso(ms: number): string {
  return new Date(ms).toISOString();
}
