/** The moment of a run that is looked at: the newest, or one that its journal remembers. */
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import { type GraphDocument, journalQuery, type LightEntry, type Outline } from "../api/run";
import type { Places } from "./place";
import { nextSeq, seqAt, stateAt } from "./travel";

export interface Look {
  /** The run and its graph as they were then. */
  outline: Outline;
  graph: GraphDocument;
  /** The entry after which they were so; null for the newest. */
  seq: number | null;
  /** The time of the playhead; null for the newest. */
  time: number | null;
  seek: (time: number | null) => void;
  step: (way: -1 | 1) => void;
  /** Get the journal ready, since somebody is about to travel. */
  prepare: () => void;
}

/** A drag moves the state at once, and the URL when it rests. */
const REST = 160;

export function useMoment(id: string, outline: Outline, graph: GraphDocument, { place, go }: Places): Look {
  const queries = useQueryClient();
  const [dragged, setDragged] = useState<number | null>(null);
  const { data: entries } = useQuery({ ...journalQuery(id), enabled: place.at !== null || dragged !== null });
  const last = outline.seq;
  const wanted = dragged !== null ? (entries ? seqAt(entries, dragged) : null) : place.at;
  const seq = wanted === null || wanted >= last ? null : wanted;
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  const write = (to: number | null, later: boolean) => {
    clearTimeout(timer.current);
    if (later) timer.current = setTimeout(() => go({ at: to }, true), REST);
    else go({ at: to }, true);
  };
  const seek = (time: number | null) => {
    setDragged(time);
    if (time === null) write(null, false);
    else if (entries) write(seqAt(entries, time), true);
  };
  const step = (way: -1 | 1) => {
    const known: readonly LightEntry[] = entries ?? [];
    const from = seq ?? last;
    const to = known.length ? nextSeq(known as never, from, way) : Math.max(0, from + way);
    if (to === null) return;
    setDragged(null);
    write(to >= last ? null : to, false);
  };
  const past = useMemo(() => {
    if (seq === null || !entries) return null;
    const now = { steps: outline.steps, edges: graph.edges, status: outline.run.status };
    return stateAt(now, entries as never, seq, outline.begun_at);
  }, [seq, entries, outline, graph]);
  const then = useMemo(
    () => ({
      outline: past ? { ...outline, steps: past.steps as Outline["steps"] } : outline,
      graph: past ? { ...graph, edges: past.edges as GraphDocument["edges"] } : graph,
    }),
    [past, outline, graph],
  );
  const at = seq === null || !entries ? null : Date.parse(entries[seq - 1]?.at ?? outline.begun_at ?? "");
  const prepare = useCallback(() => void queries.prefetchQuery(journalQuery(id)), [queries, id]);
  return { ...then, seq, time: seq === null ? null : (dragged ?? at), seek, step, prepare };
}
