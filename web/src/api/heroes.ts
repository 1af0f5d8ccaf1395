/** Questions about what runs are about: orders, users, whatever a workflow calls its hero. */
import { infiniteQueryOptions, keepPreviousData } from "@tanstack/react-query";
import type { components } from "detent-client";
import { read } from "./client";
import type { Page, RunSummary } from "./documents";

export type TimelineEntry = components["schemas"]["TimelineEntry"];

export interface HeroSummary {
  type: string;
  id: string;
  runs: number;
  last_run: RunSummary;
}

export function heroesQuery(filter: { type?: string; prefix?: string }) {
  return infiniteQueryOptions({
    queryKey: ["heroes", filter],
    queryFn: ({ pageParam, signal }) => read<Page<HeroSummary>>("/api/v1/heroes", { ...filter, limit: 100, cursor: pageParam }, signal),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next_cursor ?? undefined,
    placeholderData: keepPreviousData,
  });
}

/** Everything that happened to a hero, in the order of time. */
export function heroTimelineQuery(hero: string) {
  return infiniteQueryOptions({
    queryKey: ["heroes", "timeline", hero],
    queryFn: ({ pageParam, signal }) => read<Page<TimelineEntry>>("/api/v1/timeline", { hero, limit: 200, cursor: pageParam }, signal),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next_cursor ?? undefined,
    staleTime: 5000,
  });
}
