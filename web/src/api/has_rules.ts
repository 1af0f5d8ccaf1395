/** Whether there are rules or entities: the bar has a section for them only then. */
import { useQuery } from "@tanstack/react-query";
import { usePreference } from "../shell/preferences";
import { read } from "./client";
import type { Page } from "./documents";
import { useMe } from "./session";

/** What was known last shows at once; the server corrects it. */
export function useHasRules(): boolean {
  const [known, keep] = usePreference("rules", "");
  const isAble = useMe()?.features.includes("rules") ?? false;
  const { data } = useQuery({
    queryKey: ["entities", "any"],
    queryFn: async ({ signal }) => {
      const isAny = async (place: string) => (await read<Page<unknown>>(place, { limit: 1 }, signal)).data.length > 0;
      const found = (await isAny("/api/v1/entities")) || (await isAny("/api/v1/rules"));
      keep(found ? "yes" : "");
      return found;
    },
    enabled: isAble,
    staleTime: 5 * 60_000,
    retry: false,
  });
  return data ?? known === "yes";
}
