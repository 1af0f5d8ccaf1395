/** What the page of a run shows, as its URL says it: tab, step, moment, and what is about to be done. */
import { useCallback, useMemo } from "react";
import { useLocation, useSearch } from "wouter";

export const TABS = ["graph", "steps", "data", "journal", "log", "family", "resources", "event"] as const;
export type TabName = (typeof TABS)[number];

export interface Place {
  tab: TabName;
  step: string | null;
  /** The part of the step panel. */
  part: string | null;
  /** The entry after which the run is shown; null for the newest. */
  at: number | null;
  /** The verb whose dialog is open. */
  verb: string | null;
  failedOnly: boolean;
  folded: boolean | null;
  /** What the data tab shows. */
  of: string | null;
  /** The entry that the journal shows. */
  entry: number | null;
}

/** The URL of a place of a run, without the base path. */
export function urlOf(run: string, place: Partial<Place>): string {
  const query = new URLSearchParams();
  if (place.step != null) query.set("step", place.step);
  if (place.part != null) query.set("part", place.part);
  if (place.at != null) query.set("at", String(place.at));
  if (place.verb != null) query.set("do", place.verb);
  if (place.failedOnly) query.set("only", "failed");
  if (place.folded != null) query.set("fold", place.folded ? "1" : "0");
  if (place.of != null) query.set("of", place.of);
  if (place.entry != null) query.set("entry", String(place.entry));
  const tab = place.tab && place.tab !== "graph" ? `/${place.tab}` : "";
  const text = query.toString();
  return `/runs/${encodeURIComponent(run)}${tab}${text ? `?${text}` : ""}`;
}

export function placeOf(tab: string | undefined, search: string): Place {
  const query = new URLSearchParams(search);
  const number = (name: string) => {
    const text = query.get(name);
    return text !== null && /^\d{1,9}$/.test(text) ? Number(text) : null;
  };
  const fold = query.get("fold");
  return {
    tab: TABS.find((one) => one === tab) ?? "graph",
    step: query.get("step"),
    part: query.get("part"),
    at: number("at"),
    verb: query.get("do"),
    failedOnly: query.get("only") === "failed",
    folded: fold === null ? null : fold === "1",
    of: query.get("of"),
    entry: number("entry"),
  };
}

export interface Places {
  place: Place;
  /** Change parts of it. What a person chooses can be gone back from; `quiet` changes cannot. */
  go: (change: Partial<Place>, quiet?: boolean) => void;
}

export function usePlace(run: string, tab: string | undefined): Places {
  const search = useSearch();
  const [, navigate] = useLocation();
  const place = useMemo(() => placeOf(tab, search), [tab, search]);
  const go = useCallback(
    (change: Partial<Place>, quiet = false) => navigate(urlOf(run, { ...place, ...change }), { replace: quiet }),
    [run, place, navigate],
  );
  return { place, go };
}
