/** What events did to a rule: the runs that they started, and those that could not start it. */
import { useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "wouter";
import { firingsQuery, type RuleFiring } from "../api/rules";
import { List } from "../parts/list/list";
import { Empty, Failure, isLost, Waiting } from "../parts/states";
import { Status } from "../parts/status";
import { Time } from "../parts/time";
import { useNarrow } from "../shell/narrow";
import type { TabProps } from "./page";
import { happenedOf, rulePlace } from "./words";
import styles from "./page.module.css";

export default function FiringsTab({ tagged: { rule } }: TabProps) {
  const pages = useInfiniteQuery(firingsQuery(rule.key));
  const { data, error, refetch } = pages;
  const row = useNarrow() ? 58 : 40;
  if (isLost(error, data)) return <Failure error={error} what="The firings could not be listed" onRetry={() => void refetch()} />;
  if (!data) return <Waiting what="The firings are loading" />;
  const rows = data.pages.flatMap((page) => page.data);
  if (rows.length === 0) {
    return (
      <Empty title="No event has fired it yet">
        <p>
          Each event that it matches while it is active starts one run.{" "}
          <Link href={rulePlace(rule.key, "events")} className={styles["link"] ?? ""}>
            Show which of the last events match
          </Link>
        </p>
      </Empty>
    );
  }
  return (
    <div className={styles["left"]}>
      <List
        label="Firings"
        count={rows.length}
        row={row}
        onEnd={() => pages.hasNextPage && !pages.isFetching && void pages.fetchNextPage()}
        render={(i) => {
          const one = rows[i];
          return one && <Row key={one.id} firing={one} entity={rule.entity} />;
        }}
      />
    </div>
  );
}

function Row({ firing, entity }: { firing: RuleFiring; entity: string | null }) {
  const happened = happenedOf({ ...firing, entity });
  return (
    <div role="listitem" className={styles["row"]}>
      <Status of={firing.status} quiet />
      <b>{firing.run_id ? <Link href={`/runs/${firing.run_id}`}>{happened}</Link> : happened}</b>
      <small className={firing.message ? styles["wrong"] : undefined} title={firing.message ?? ""}>
        {firing.message ?? <code>{firing.event_id}</code>}
      </small>
      <Time at={firing.at} />
    </div>
  );
}
