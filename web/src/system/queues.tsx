/** What waits for a node. */
import { useQuery } from "@tanstack/react-query";
import { Link } from "wouter";
import { queuesQuery } from "../api/system";
import { useNow } from "../api/session";
import { capped } from "../look/numbers";
import { instant, roughSpan } from "../look/time";
import { Failure, isLost, Waiting } from "../parts/states";
import table from "../parts/table.module.css";
import styles from "./system.module.css";

/** Older than this: something is wrong, or too much is asked. */
const LATE = 60_000;

export function Queues() {
  const { data, error, refetch } = useQuery(queuesQuery());
  if (isLost(error, data)) return <Failure error={error} what="The queues could not be listed" onRetry={() => void refetch()} />;
  if (!data) return <Waiting what="The queues are loading" />;
  return (
    <section className={styles["part"]} aria-label="Queues">
      <h2>Queues</h2>
      {data.length === 0 ? (
        <p className={styles["none"]}>Nothing is queued, and nothing runs.</p>
      ) : (
        <div className={styles["scroll"]} tabIndex={0} role="group" aria-label="Queues, as a table">
          <table className={table["table"]}>
            <thead>
              <tr>
                <th>Queue</th>
                <th className={styles["right"]}>Ready</th>
                <th className={styles["right"]}>The oldest waits</th>
                <th className={styles["right"]}>Owned by nodes</th>
                <th className={styles["right"]}>Sleeping or waiting</th>
              </tr>
            </thead>
            <tbody>
              {data.map((one) => (
                <tr key={one.queue}>
                  <td>
                    {one.queue}
                    {one.served === false && <em className={styles["late"]}> no node takes runs from it</em>}
                  </td>
                  <td className={styles["right"]}>
                    {one.ready > 0 ? <Link href="/runs?stage=queued">{capped(one.ready, one.capped_at ?? Infinity)}</Link> : 0}
                  </td>
                  <td className={styles["right"]}>
                    <Age at={one.oldest_at} />
                  </td>
                  <td className={styles["right"]}>{capped(one.owned, one.capped_at ?? Infinity)}</td>
                  <td className={styles["right"]}>{capped(one.sleeping, one.capped_at ?? Infinity)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  );
}

function Age({ at }: { at: string | null }) {
  const age = useNow() - instant(at);
  if (Number.isNaN(age)) return null;
  return <span className={age > LATE ? styles["late"] : undefined}>{roughSpan(age)}</span>;
}
