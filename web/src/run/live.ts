/** Keeps a run that is looked at up to date: entries of the stream are applied to the cache as they arrive. */
import { notifyManager, type QueryClient, useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef } from "react";
import { useLive } from "../api/live";
import {
  entriesQuery, type GraphDocument, graphQuery, journalQuery, type LightEntry, type Outline, outlineQuery, readGraph, readOutline,
} from "../api/run";
import type { Entry } from "../api/documents";
import { type Pace, pauseOf } from "./pace";
import { advance } from "./travel";

const ENDED: ReadonlySet<string> = new Set(["completed", "failed", "cancelled", "timeout"]);
export function hasEnded(status: string): boolean {
  return ENDED.has(status);
}

/** Entries are shown at once, but not more often than this: a person sees no more, and the page stays quick. */
const BEAT = 250;

/** So many entries are kept beside the run: an answer can be older than what was heard while it was on its way. */
const RECENT = 400;

/** Follow a run until it has ended. */
export function useRunLive(id: string, outline: Outline | undefined): void {
  const queries = useQueryClient();
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const pace = useRef<Pace>({ asked: 0, wished: null });
  useEffect(() => () => clearTimeout(timer.current), []);
  const ask = () => {
    clearTimeout(timer.current);
    pace.current.wished ??= Date.now();
    timer.current = setTimeout(() => {
      pace.current = { asked: Date.now(), wished: null };
      void renew(queries, id, recent.current);
    }, pauseOf(pace.current, Date.now(), outline?.steps.length ?? 0));
  };
  const recent = useRef<Entry[]>([]);
  const waiting = useRef<Entry[]>([]);
  const beat = useRef<{ timer: ReturnType<typeof setTimeout> | undefined; last: number }>({ timer: undefined, last: 0 });
  useEffect(() => () => clearTimeout(beat.current.timer), []);
  const show = () => {
    clearTimeout(beat.current.timer);
    beat.current = { timer: undefined, last: performance.now() };
    const entries = waiting.current;
    waiting.current = [];
    recent.current.push(...entries);
    recent.current.splice(0, recent.current.length - RECENT);
    hear(queries, id, entries);
    ask();
  };
  const topic = outline && !hasEnded(outline.run.status) ? `run:${id}@${outline.seq}` : "";
  useLive(topic, ({ event, data }) => {
    if (event === "open") ask();
    if (event !== "entries") return;
    const entries = (data["entries"] ?? []) as Entry[];
    waiting.current.push(...entries);
    const left = beat.current.last + BEAT - performance.now();
    if (left <= 0 || entries.some((entry) => entry.run_status !== null)) show();
    else beat.current.timer ??= setTimeout(show, left);
  });
}

/** Asks for the run again, and puts what was heard since on top of the answer: what is shown never goes back. */
async function renew(queries: QueryClient, id: string, recent: readonly Entry[]): Promise<void> {
  try {
    const [outline, graph] = await Promise.all([readOutline(id), readGraph(id)]);
    notifyManager.batch(() => {
      queries.setQueryData(outlineQuery(id).queryKey, outline);
      queries.setQueryData(graphQuery(id).queryKey, graph);
      put(queries, id, recent);
    });
  } catch {
    // The query tells a person what went wrong, and tries again.
    void queries.invalidateQueries({ queryKey: outlineQuery(id).queryKey });
  }
}

/** Puts entries into everything that the cache has of the run. Those that it knows already change nothing. */
export function hear(queries: QueryClient, id: string, heard: readonly Entry[]): void {
  // Those who look are told once, not once for each part.
  notifyManager.batch(() => put(queries, id, heard));
}

function put(queries: QueryClient, id: string, heard: readonly Entry[]): void {
  const outline = queries.getQueryData<Outline>(outlineQuery(id).queryKey);
  const graph = queries.getQueryData<GraphDocument>(graphQuery(id).queryKey);
  if (!outline) return;
  const entries = heard.filter((entry) => entry.seq > outline.seq);
  const last = entries.at(-1);
  if (!last) return;
  const before = { steps: outline.steps, edges: graph?.edges ?? [], status: outline.run.status };
  const after = advance(before, entries as never);
  const status = after.status ?? outline.run.status;
  const end = hasEnded(status) ? { finished_at: last.at } : {};
  queries.setQueryData<Outline>(outlineQuery(id).queryKey, {
    ...outline,
    seq: last.seq,
    steps: after.steps as Outline["steps"],
    run: status === outline.run.status ? outline.run : { ...outline.run, ...end, status, stage: null },
  });
  if (graph) queries.setQueryData<GraphDocument>(graphQuery(id).queryKey, { ...graph, edges: after.edges as GraphDocument["edges"] });
  queries.setQueryData<LightEntry[]>(journalQuery(id).queryKey, (known) =>
    known ? [...known, ...entries.filter((one) => one.seq > (known.at(-1)?.seq ?? 0)).map(({ result: _, ...entry }) => entry)] : known,
  );
  queries.setQueryData(entriesQuery(id).queryKey, (known) => {
    const page = known?.pages.at(-1);
    if (!known || !page || page.length >= 200) return known;
    const fresh = entries.filter((one) => one.seq > (page.at(-1)?.seq ?? 0));
    return { ...known, pages: [...known.pages.slice(0, -1), [...page, ...fresh]] };
  });
}
