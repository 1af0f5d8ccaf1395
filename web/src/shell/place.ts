/** What a view shows is in its URL: reads and changes the values behind the question mark. */
import { useCallback, useMemo } from "react";
import { useLocation, useSearch } from "wouter";

export type Values = Record<string, string | null>;

export interface Place {
  /** The value of a name; empty if there is none. */
  get: (name: string) => string;
  /** Change some values; null takes one away. A new entry in the history unless `replace` is said. */
  set: (values: Values, options?: { replace?: boolean }) => void;
  /** The address with some values changed, for a link. */
  with: (values: Values) => string;
}

export function usePlace(): Place {
  const [where, go] = useLocation();
  const search = useSearch();
  const changed = useCallback((values: Values) => where + changedSearch(search, values), [where, search]);
  return useMemo(() => {
    const now = new URLSearchParams(search);
    return {
      get: (name) => now.get(name) ?? "",
      set: (values, options = {}) => go(changed(values), { replace: options.replace ?? false }),
      with: changed,
    };
  }, [search, changed, go]);
}

/** A search with some values changed: `?a=1&b=2`, or nothing. */
export function changedSearch(search: string, values: Values): string {
  const next = new URLSearchParams(search);
  for (const [name, value] of Object.entries(values)) {
    if (value === null || value === "") next.delete(name);
    else next.set(name, value);
  }
  const text = next.toString();
  return text ? `?${text}` : "";
}
