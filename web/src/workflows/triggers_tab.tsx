/** What starts a workflow, beside its schedules. */
import { useQuery } from "@tanstack/react-query";
import { base } from "../api/client";
import { useRefresh } from "../api/refresh";
import { triggersQuery } from "../api/workflows";
import { CopyButton } from "../parts/copy";
import { Failure, isLost, Waiting } from "../parts/states";
import type { TabProps } from "./page";
import { TriggerCard } from "./trigger_card";
import { TriggerDialog } from "./trigger_verbs";
import styles from "./triggers.module.css";

export default function TriggersTab({ workflow }: TabProps) {
  const { data, error, refetch } = useQuery(triggersQuery({ workflow: workflow.name }));
  useRefresh("firings:", [["firings"], ["triggers"]]);
  if (isLost(error, data)) return <Failure error={error} what="The triggers could not be listed" onRetry={() => void refetch()} />;
  if (!data) return <Waiting what="The triggers are loading" />;
  const line = `curl -X POST ${base}api/v1/workflows/${workflow.name}/trigger -d '{}'`;
  return (
    <div className={styles["tab"]}>
      {data
        .filter((one) => one.type !== "cron")
        .map((one) => (
          <TriggerCard key={one.id} trigger={one} />
        ))}
      <article className={styles["trigger"]} aria-label="API">
        <header>
          <h2>API</h2>
        </header>
        <p className={styles["soft"]}>Every workflow can be started by a request. Add an Idempotency-Key, and the same request sent twice starts one run.</p>
        <dl className={styles["facts"]}>
          <dt>Request</dt>
          <dd>
            <code>{line}</code>
            <CopyButton text={line} what="the request" />
          </dd>
          <dt>Shell</dt>
          <dd>
            <code>detent trigger {workflow.name}</code>
            <CopyButton text={`detent trigger ${workflow.name}`} what="the command" />
          </dd>
        </dl>
      </article>
      <TriggerDialog triggers={data} />
    </div>
  );
}
