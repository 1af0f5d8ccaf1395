/** Who fills the disk. */
import { useQuery } from "@tanstack/react-query";
import { Link } from "wouter";
import { storageQuery } from "../api/system";
import { bytes, count, percent } from "../look/numbers";
import { Empty, Failure, isLost, Snippet, Waiting } from "../parts/states";
import table from "../parts/table.module.css";
import { Time } from "../parts/time";
import styles from "./system.module.css";

/** More rows than this help nobody: the rest is one line. */
const SHOWN = 100;

export function StorageView() {
  const { data, error, refetch } = useQuery(storageQuery());
  if (isLost(error, data)) return <Failure error={error} what="The storage could not be measured" onRetry={() => void refetch()} />;
  if (!data) return <Waiting what="The storage is measured" />;
  const rows = [...data.workflows].sort((a, b) => b.bytes - a.bytes);
  const all = rows.reduce((sum, one) => sum + one.bytes, 0);
  if (rows.length === 0) {
    return (
      <Empty title="Nothing is stored yet">
        <Snippet label="The first run fills it">detent trigger hello</Snippet>
      </Empty>
    );
  }
  return (
    <section className={styles["part"]} aria-label="Storage by workflow">
      <h2>
        {data.database_bytes != null && `${bytes(data.database_bytes)} in the database`}{" "}
        <small>
          {bytes(all)} of it in runs and journals
          {data.measured_at && (
            <>
              , measured <Time at={data.measured_at} />
            </>
          )}
        </small>
      </h2>
      <div className={styles["scroll"]} tabIndex={0} role="group" aria-label="Storage by workflow, as a table">
        <table className={table["table"]}>
          <thead>
            <tr>
              <th>Workflow</th>
              <th className={styles["share"]}>Share</th>
              <th className={styles["right"]}>Bytes</th>
              <th className={styles["right"]}>Runs</th>
              <th className={styles["right"]}>Bytes per run</th>
              <th className={styles["right"]}>Entries</th>
            </tr>
          </thead>
          <tbody>
            {rows.slice(0, SHOWN).map((one) => (
              <tr key={one.workflow_id}>
                <td>
                  <Link href={`/workflows/${encodeURIComponent(one.workflow)}`}>{one.workflow}</Link>
                </td>
                <td className={styles["share"]}>
                  <svg viewBox="0 0 100 6" preserveAspectRatio="none" role="img" aria-label={percent(all ? one.bytes / all : 0)}>
                    <rect width={all ? (100 * one.bytes) / all : 0} height="6" rx="1" />
                  </svg>
                </td>
                <td className={styles["right"]}>{bytes(one.bytes)}</td>
                <td className={styles["right"]}>{count(one.runs)}</td>
                <td className={styles["right"]}>{one.runs > 0 && bytes(Math.round(one.bytes / one.runs))}</td>
                <td className={styles["right"]}>{count(one.journal_rows)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {rows.length > SHOWN && <p className={styles["none"]}>{count(rows.length - SHOWN)} smaller ones are not shown.</p>}
    </section>
  );
}
