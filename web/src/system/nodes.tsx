/** Who is alive. */
import { useQuery } from "@tanstack/react-query";
import { Link } from "wouter";
import { nodesQuery } from "../api/system";
import { now } from "../api/session";
import { count, several } from "../look/numbers";
import { DAY, instant } from "../look/time";
import { Empty, Failure, isLost, Snippet, Waiting } from "../parts/states";
import { Status } from "../parts/status";
import table from "../parts/table.module.css";
import { Time } from "../parts/time";
import styles from "./system.module.css";

export function Nodes() {
  const { data, error, refetch } = useQuery(nodesQuery());
  if (isLost(error, data)) return <Failure error={error} what="The nodes could not be listed" onRetry={() => void refetch()} />;
  if (!data) return <Waiting what="The nodes are loading" />;
  if (data.length === 0) {
    return (
      <Empty title="No node is known">
        <Snippet label="Start one">detent serve</Snippet>
      </Empty>
    );
  }
  const alive = data.filter((one) => one.alive).length;
  return (
    <section className={styles["part"]} aria-label="Nodes">
      <h2>
        Nodes <small>{alive === data.length ? several(alive, "node") : `${alive} of ${several(data.length, "node")} alive`}</small>
      </h2>
      <div className={styles["scroll"]} tabIndex={0} role="group" aria-label="Nodes, as a table">
        <table className={table["table"]}>
          <thead>
            <tr>
              <th>Node</th>
              <th>State</th>
              <th>Version</th>
              <th>Queues</th>
              <th className={styles["right"]}>Runs it owns</th>
              <th className={styles["right"]}>Busy</th>
              <th>Started</th>
              <th>Lease until</th>
            </tr>
          </thead>
          <tbody>
            {data.map((one) => (
              <tr key={one.id}>
                <td>
                  {one.id}
                  {one.address && <small className={styles["under"]}>{one.address}</small>}
                </td>
                <td>
                  <Status of={one.alive ? "alive" : "lost"} quiet />
                </td>
                <td className={table["soft"]}>{one.version}</td>
                <td className={table["soft"]}>{one.queues ? one.queues.join(", ") : "all"}</td>
                <td className={styles["right"]}>{one.owned > 0 ? <Link href="/runs?status=performing">{count(one.owned)}</Link> : 0}</td>
                <td className={styles["right"]}>{one.busy == null ? "" : one.slots == null ? count(one.busy) : `${count(one.busy)} of ${count(one.slots)}`}</td>
                <td className={table["soft"]}>
                  <Time at={one.started_at} />
                </td>
                <td className={table["soft"]}>
                  <Lease until={one.lease_until} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

/** A lease so long is that of the only node of a file: it does not end while the node lives. */
const ENDLESS = 365 * DAY;

function Lease({ until }: { until: string | null }) {
  if (until && instant(until) - now() > ENDLESS) return "while it lives";
  return <Time at={until} />;
}
