/** The inbox: waits that are to be answered. */
import { type InfiniteData, infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import type { Version } from "detent-client";
import { path, read } from "./client";
import type { One, Page, Wait } from "./documents";

/** The waits, the nearest deadline first, page by page. */
export function waitsQuery() {
  return infiniteQueryOptions({
    queryKey: ["waits"],
    queryFn: ({ pageParam, signal }) => read<Page<Wait>>("/api/v1/waits", { limit: 100, cursor: pageParam }, signal),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next_cursor ?? undefined,
    staleTime: 5000,
  });
}

/** The pages without a wait that was answered. */
export function withoutWait(pages: Pages | undefined, run: string, step: string): Pages | undefined {
  const isOther = (one: Wait) => one.run.id !== run || one.step !== step;
  return pages && { ...pages, pages: pages.pages.map((page) => ({ ...page, data: page.data.filter(isOther) })) };
}

type Pages = InfiniteData<Page<Wait>>;

/** The definition of a version: what it reads of an answer says what the answer should have. */
export function definitionQuery(workflow: string, version: number) {
  return queryOptions({
    queryKey: ["workflows", "one", workflow, "versions", version],
    queryFn: async ({ signal }) =>
      (await read<One<Version>>(path`/api/v1/workflows/${workflow}/versions/${version}`, {}, signal)).data.definition,
    staleTime: Number.POSITIVE_INFINITY,
  });
}
