/** What this browser keeps for its person: theme, clock, density, places of edges. Kept by name, as text. */
import { useCallback, useSyncExternalStore } from "react";
import type { Clock } from "../look/time";

const PREFIX = "detent.";
const watchers = new Set<() => void>();
/** Where the browser keeps nothing, it is kept while the page is open. */
const memory = new Map<string, string>();

addEventListener("storage", () => {
  for (const changed of watchers) changed();
});

export function preference(name: string, initial: string): string {
  try {
    return localStorage.getItem(PREFIX + name) ?? memory.get(name) ?? initial;
  } catch {
    return memory.get(name) ?? initial;
  }
}

export function setPreference(name: string, value: string): void {
  memory.set(name, value);
  try {
    localStorage.setItem(PREFIX + name, value);
  } catch {
    // It is full or forbidden: memory has it.
  }
  for (const changed of watchers) changed();
}

export function watchPreferences(changed: () => void): () => void {
  watchers.add(changed);
  return () => watchers.delete(changed);
}

export function usePreference(name: string, initial: string): [string, (value: string) => void] {
  const value = useSyncExternalStore(watchPreferences, () => preference(name, initial));
  const keep = useCallback((next: string) => setPreference(name, next), [name]);
  return [value, keep];
}

/** How instants are shown. */
export function useClock(): [Clock, (clock: Clock) => void] {
  const [value, keep] = usePreference("clock", "relative");
  return [value === "local" || value === "utc" ? value : "relative", keep];
}
