/** Asks again for what the stream says has changed, and not more often than a person can read. */
import { type QueryKey, useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef } from "react";
import { useLive } from "./live";

const LEAST = 2000;

/** While mounted: whenever the topic tells of something, the queries below these keys are asked for again. */
export function useRefresh(topic: string, keys: QueryKey[], least = LEAST): void {
  const queries = useQueryClient();
  const wanted = useRef(keys);
  wanted.current = keys;
  const waiting = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const last = useRef(0);
  useEffect(() => () => clearTimeout(waiting.current), []);
  useLive(topic, () => {
    if (waiting.current !== undefined) return;
    const pause = Math.max(0, last.current + least - performance.now());
    waiting.current = setTimeout(() => {
      waiting.current = undefined;
      last.current = performance.now();
      for (const queryKey of wanted.current) void queries.invalidateQueries({ queryKey });
    }, pause);
  });
}
