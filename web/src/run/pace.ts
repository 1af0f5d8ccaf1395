/** When a run that is watched is asked for again: entries do not say everything (times of queues, counts of items, why it
 * waits). All times are in milliseconds. */

/** It is asked for when entries pause for this long, */
const QUIET = 250;
/** or this long after the first one, if they do not; */
const LATEST = 1000;
/** and never more often than this, and a little less for each step: a large answer costs more. */
const OFTEN = 1500;
const PER_STEP = 3;

export interface Pace {
  /** When it was asked for last. */
  asked: number;
  /** Since when there is something to ask for; null if there is nothing. */
  wished: number | null;
}

/** How long to wait before it is asked for, if an entry came now. */
export function pauseOf(pace: Pace, now: number, steps: number): number {
  const quiet = Math.min(QUIET, (pace.wished ?? now) + LATEST - now);
  return Math.max(0, quiet, pace.asked + OFTEN + steps * PER_STEP - now);
}
