/** The lines that the steps of a run have logged, and how far its steps are: all that is stored, then what comes. */
import type { components } from "detent-client";
import { useEffect, useState } from "react";
import { path, read } from "../api/client";

export type LogLine = components["schemas"]["LogLine"];
export type StepProgress = components["schemas"]["StepProgress"];
type Answer = components["schemas"]["LogAnswer"];

export interface LogFilter {
  step: string | null;
  level: string | null;
}

export interface Log {
  lines: LogLine[];
  /** Lines that are not on the page any more, because there are too many. */
  dropped: number;
  progress: StepProgress[];
  /** Everything that was stored is here. */
  isLoaded: boolean;
  error: unknown;
}

/** A browser becomes slow with more. */
const MOST = 5000;
const PAGE = 500;
/** Milliseconds between two looks at a run that goes on. */
const LOOK = 1500;
const NOTHING: Log = { lines: [], dropped: 0, progress: [], isLoaded: false, error: null };

/** Read the log of a run, and go on until the run has ended. `again` begins anew after an error. */
export function useLog(run: string, { step, level }: LogFilter, again: number): Log {
  const [log, setLog] = useState(NOTHING);
  useEffect(() => {
    const stop = new AbortController();
    setLog(NOTHING);
    void follow(run, { step, level }, setLog, stop.signal);
    return () => stop.abort();
  }, [run, step, level, again]);
  return log;
}

type Change = (change: (log: Log) => Log) => void;

async function follow(run: string, filter: LogFilter, change: Change, signal: AbortSignal): Promise<void> {
  let after: string | undefined;
  let failures = 0;
  while (!signal.aborted) {
    try {
      const query = { after, limit: PAGE, step: filter.step ?? undefined, level: filter.level ?? undefined };
      const page = await read<Answer>(path`/api/v1/runs/${run}/logs`, query, signal);
      failures = 0;
      const isLoaded = page.data.length < PAGE;
      change((log) => added(log, page, isLoaded));
      if (page.next_cursor === null) return;
      after = page.next_cursor;
      if (!isLoaded) continue;
    } catch (error) {
      if (signal.aborted) return;
      failures += 1;
      // A run that goes on is asked again; what was never read is told at once.
      if (after === undefined || failures > 5) {
        change((log) => ({ ...log, error }));
        return;
      }
    }
    await pause(LOOK * (failures + 1), signal);
  }
}

function added(log: Log, page: Answer, isLoaded: boolean): Log {
  const all = page.data.length > 0 ? [...log.lines, ...page.data] : log.lines;
  const over = Math.max(0, all.length - MOST);
  return { lines: over > 0 ? all.slice(over) : all, dropped: log.dropped + over, progress: page.progress ?? [], isLoaded: isLoaded || page.next_cursor === null, error: null };
}

function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((done) => {
    const timer = setTimeout(done, milliseconds);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      done();
    }, { once: true });
  });
}
