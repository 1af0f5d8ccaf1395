/** Workflow templates: the gallery, and the draft that one becomes. */
import { infiniteQueryOptions, keepPreviousData, queryOptions } from "@tanstack/react-query";
import type { components } from "detent-client";
import { path, read, write } from "./client";
import type { One, Page } from "./documents";

type Schemas = components["schemas"];
export type Template = Schemas["WorkflowTemplateDocument"];
export type Instantiated = Schemas["InstantiatedDocument"];

export function templatesQuery(search: string) {
  return infiniteQueryOptions({
    queryKey: ["templates", search],
    queryFn: ({ pageParam, signal }) =>
      read<Page<Template>>("/api/v1/templates/workflows", { search: search || undefined, limit: 100, cursor: pageParam }, signal),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next_cursor ?? undefined,
    placeholderData: keepPreviousData,
    staleTime: 60_000,
  });
}

export function templateQuery(template: string) {
  return queryOptions({
    queryKey: ["templates", "one", template],
    queryFn: async ({ signal }) => (await read<One<Template>>(path`/api/v1/templates/workflows/${template}`, {}, signal)).data,
    staleTime: 60_000,
  });
}

export async function instantiate(template: string, name: string, config: Record<string, unknown>): Promise<Instantiated> {
  return (await write<One<Instantiated>>("post", path`/api/v1/templates/workflows/${template}/instantiate`, { name, config })).data;
}
