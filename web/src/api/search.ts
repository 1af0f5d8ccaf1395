/** What the palette finds. */
import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { read } from "./client";
import type { Found, One } from "./documents";

export function searchQuery(text: string) {
  return queryOptions({
    queryKey: ["search", text],
    queryFn: async ({ signal }) => (await read<One<Found>>("/api/v1/search", { q: text, limit: 8 }, signal)).data,
    enabled: text.length > 0,
    placeholderData: keepPreviousData,
  });
}
