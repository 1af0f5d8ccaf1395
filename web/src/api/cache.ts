/** The query cache: the only copy of what the server said. */
import { QueryClient } from "@tanstack/react-query";
import { ConnectionFailed, Unavailable } from "detent-client";

export const cache = new QueryClient({
  defaultOptions: {
    queries: {
      // The client sends again what was lost; the stream tells what changed.
      retry: (failures, error) => failures < 2 && (error instanceof ConnectionFailed || error instanceof Unavailable),
      staleTime: 10_000,
      gcTime: 5 * 60_000,
      refetchOnWindowFocus: true,
    },
  },
});
