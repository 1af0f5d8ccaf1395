/** Which workflows fail now: since when, how often in a row, and how their last runs went. */
import { useQuery } from "@tanstack/react-query";
import { Link } from "wouter";
import { useRefresh } from "../api/refresh";
import { now } from "../api/session";
import { allStatsQuery } from "../api/workflows";
import { several } from "../look/numbers";
import { instant, moment } from "../look/time";
import { useClock } from "../shell/preferences";
import { RunBars } from "../workflows/bars";
import { saidStreak, streakOf } from "../workflows/streak";
import { placeOf } from "../workflows/state";
import styles from "./failing.module.css";

/** More would hide the list. */
const MOST = 4;

export function Failing() {
  const { data } = useQuery(allStatsQuery());
  useRefresh("counts", [["workflows", "stats"]]);
  const [clock] = useClock();
  const found = [...(data?.values() ?? [])].flatMap((stats) => {
    const streak = streakOf(stats.recent);
    return streak ? [{ stats, streak }] : [];
  });
  if (found.length === 0) return null;
  found.sort((one, other) => other.streak.count - one.streak.count || one.stats.workflow.localeCompare(other.stats.workflow));
  const rest = found.length - MOST;
  return (
    <section className={styles["failing"]} aria-label="Workflows that fail now">
      <ul>
        {found.slice(0, MOST).map(({ stats, streak }) => (
          <li key={stats.workflow}>
            <Link href={`/runs?view=failing&workflow=${encodeURIComponent(stats.workflow)}`} className={styles["name"] ?? ""} title="Only its runs">
              {stats.workflow}
            </Link>
            <RunBars runs={stats.recent} />
            <span>{saidStreak(streak, moment(instant(streak.since), clock === "utc" ? "utc" : "local", now()))}</span>
            <Link href={placeOf(stats.workflow, "grid")} className={styles["grid"] ?? ""}>
              Which step
            </Link>
          </li>
        ))}
      </ul>
      {rest > 0 && (
        <Link href="/workflows?status=failing" className={styles["grid"] ?? ""}>
          {several(rest, "other workflow")}
        </Link>
      )}
    </section>
  );
}
