/** Dead letters: what Detent gave up, and what can be done about it. */
import { infiniteQueryOptions, keepPreviousData, queryOptions } from "@tanstack/react-query";
import type { components } from "detent-client";
import { path, read, write } from "./client";
import type { One, Page } from "./documents";

type Schemas = components["schemas"];
export type Letter = Schemas["LetterDocument"];
export type BulkLetters = Schemas["BulkLettersDocument"];
export type LetterVerb = "requeue" | "purge";

/** Which letters, by the fields of the list. */
export type LetterFilter = Partial<Record<"kind" | "state" | "workflow" | "reason" | "run", string>>;

export function lettersQuery(filter: LetterFilter) {
  return infiniteQueryOptions({
    queryKey: ["letters", "list", filter],
    queryFn: ({ pageParam, signal }) => read<Page<Letter>>("/api/v1/dead-letters", { ...filter, limit: 100, cursor: pageParam }, signal),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next_cursor ?? undefined,
    placeholderData: keepPreviousData,
  });
}

/** A letter with its payload. */
export function letterQuery(letter: string) {
  return queryOptions({
    queryKey: ["letters", "one", letter],
    queryFn: async ({ signal }) => (await read<One<Letter>>(path`/api/v1/dead-letters/${letter}`, {}, signal)).data,
  });
}

/** How many letters match; the server counts a thousand and then says that there are more. */
export function matchedQuery(verb: LetterVerb, filter: LetterFilter) {
  return queryOptions({
    queryKey: ["letters", "matched", verb, filter],
    queryFn: () => changeMany(verb, filter, true),
    staleTime: 5000,
  });
}

export async function requeueLetter(letter: string): Promise<Letter> {
  return (await write<One<Letter>>("post", path`/api/v1/dead-letters/${letter}/requeue`)).data;
}

export async function purgeLetter(letter: string): Promise<void> {
  await write("delete", path`/api/v1/dead-letters/${letter}`);
}

/** Requeue or purge the oldest thousand that match; with `dry` only count them. */
export async function changeMany(action: LetterVerb, filter: LetterFilter, dry: boolean): Promise<BulkLetters> {
  const all = Object.keys(filter).length === 0 ? { all: true } : {};
  return (await write<One<BulkLetters>>("post", "/api/v1/dead-letters/bulk", { action, filter, ...all, dry_run: dry })).data;
}
