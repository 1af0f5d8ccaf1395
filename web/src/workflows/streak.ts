/** Whether a workflow fails now: its last runs that ended, if none of them completed. */
import type { RecentRun } from "../api/workflows";

const BAD: ReadonlySet<string> = new Set(["failed", "timeout"]);
const GOOD: ReadonlySet<string> = new Set(["completed"]);

export interface Streak {
  count: number;
  /** When the first run of the streak was accepted. */
  since: string;
  /** All runs that are known failed: it may be longer. */
  isOpen: boolean;
}

/** The server tells so many runs of a workflow. */
const KNOWN = 30;

/** Open and cancelled runs say nothing, either way. `recent` has the newest run last. */
export function streakOf(recent: readonly RecentRun[]): Streak | null {
  const last = recent.findLastIndex((run) => GOOD.has(run.status));
  const bad = recent.slice(last + 1).filter((run) => BAD.has(run.status));
  const [first] = bad;
  return first ? { count: bad.length, since: first.accepted_at, isOpen: last < 0 && recent.length >= KNOWN } : null;
}

/** `since` is the time as people read it. */
export function saidStreak({ count, isOpen }: Streak, since: string): string {
  if (count === 1) return `its last run failed, started ${since}`;
  return isOpen ? `all of the last ${count} failed, since ${since} or earlier` : `failed ${count} times in a row, since ${since}`;
}
