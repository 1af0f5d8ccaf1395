/** Whether the page is as narrow as a phone: for what style sheets cannot do alone, as the height of virtual rows. */
import { useSyncExternalStore } from "react";

const query = matchMedia("(max-width: 760px)");

function watch(changed: () => void): () => void {
  query.addEventListener("change", changed);
  return () => query.removeEventListener("change", changed);
}

export function useNarrow(): boolean {
  return useSyncExternalStore(watch, () => query.matches);
}
