/** The last runs of a workflow as bars: how long each took, and how it ended. The newest is at the right. */
import { useLocation } from "wouter";
import type { RecentRun } from "../api/workflows";
import { several } from "../look/numbers";
import { lookOf } from "../look/status";
import { span } from "../look/time";
import styles from "./bars.module.css";

const WIDTH = 4;
const GAP = 2;
const HEIGHT = 24;
const LEAST = 4;
const ROOM = 30;

/** The height of each bar. The root keeps a short run beside a long one visible. */
export function heightsOf(runs: readonly { duration_ms: number | null }[]): number[] {
  const most = Math.max(1, ...runs.map((one) => one.duration_ms ?? 0));
  return runs.map((one) => LEAST + (HEIGHT - LEAST) * Math.sqrt((one.duration_ms ?? 0) / most));
}

/** What the bars say, for people who cannot see them. */
export function saidBars(runs: readonly { status: string }[]): string {
  if (runs.length === 0) return "No runs yet";
  const counts = new Map<string, number>();
  for (const one of runs) counts.set(one.status, (counts.get(one.status) ?? 0) + 1);
  const parts = [...counts].map(([status, n]) => `${n} ${lookOf(status).word.toLowerCase()}`);
  return `Last ${several(runs.length, "run")}: ${parts.join(", ")}`;
}

export function RunBars({ runs }: { runs: readonly RecentRun[] }) {
  const [, go] = useLocation();
  const heights = heightsOf(runs);
  const skipped = Math.max(0, ROOM - runs.length);
  const x = (i: number) => (i + skipped) * (WIDTH + GAP);
  return (
    <svg className={styles["bars"]} width={ROOM * (WIDTH + GAP) - GAP} height={HEIGHT} role="img" aria-label={saidBars(runs)}>
      {Array.from({ length: skipped }, (_, i) => (
        <rect key={i} className={styles["none"]} x={i * (WIDTH + GAP)} y={HEIGHT - 2} width={WIDTH} height={2} />
      ))}
      {runs.slice(-ROOM).map((run, i) => {
        const look = lookOf(run.status);
        const height = heights[i] ?? LEAST;
        const isBad = look.tone === "fail";
        return (
          // The list of runs is the way for keys: these are thirty more stops for the same.
          <g key={run.id} className={`t-${look.tone}`} onClick={(event) => (event.preventDefault(), event.stopPropagation(), go(`/runs/${run.id}`))}>
            <title>{`${look.word}${run.duration_ms === null ? "" : ` after ${span(run.duration_ms)}`}`}</title>
            <rect className={styles["reach"]} x={x(i) - GAP / 2} y={0} width={WIDTH + GAP} height={HEIGHT} />
            <rect className={isBad ? styles["bad"] : styles["bar"]} x={x(i)} y={HEIGHT - height} width={WIDTH} height={height} rx={1} />
          </g>
        );
      })}
    </svg>
  );
}
