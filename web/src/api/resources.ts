/** Resources of other systems, and the run that each belongs to. */
import { infiniteQueryOptions, keepPreviousData } from "@tanstack/react-query";
import type { components } from "detent-client";
import { read } from "./client";
import type { Page } from "./documents";

export type Resource = components["schemas"]["ResourceDocument"];

/** By run; or by system, by system and type, or by all three. */
export type ResourceFilter = Partial<Record<"run" | "system" | "type" | "id", string>>;

export function resourcesQuery(filter: ResourceFilter, limit = 100) {
  return infiniteQueryOptions({
    queryKey: ["resources", filter, limit],
    queryFn: ({ pageParam, signal }) => read<Page<Resource>>("/api/v1/resources", { ...filter, limit, cursor: pageParam }, signal),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next_cursor ?? undefined,
    placeholderData: keepPreviousData,
  });
}
