/** The schedules of a workflow. */
import { useQuery } from "@tanstack/react-query";
import { useRefresh } from "../api/refresh";
import { triggersQuery } from "../api/workflows";
import { Empty, Failure, isLost, Snippet, Waiting } from "../parts/states";
import type { TabProps } from "./page";
import { Schedule } from "./schedule";
import { TriggerDialog } from "./trigger_verbs";
import styles from "./triggers.module.css";

export default function SchedulesTab({ workflow }: TabProps) {
  const { data, error, refetch } = useQuery(triggersQuery({ workflow: workflow.name }));
  useRefresh("firings:", [["firings"], ["triggers"]]);
  if (isLost(error, data)) return <Failure error={error} what="The schedules could not be listed" onRetry={() => void refetch()} />;
  if (!data) return <Waiting what="The schedules are loading" />;
  const schedules = data.filter((one) => one.type === "cron");
  if (schedules.length === 0) return <NoSchedule />;
  return (
    <div className={styles["tab"]}>
      {schedules.map((one) => (
        <Schedule key={one.id} trigger={one} />
      ))}
      <TriggerDialog triggers={schedules} />
    </div>
  );
}

export function NoSchedule() {
  return (
    <Empty title="No schedule yet">
      <Snippet label="In a definition">{`trigger:
  type: cron
  cron_expression: "0 9 * * 1-5"
  timezone: Europe/Zurich`}</Snippet>
    </Empty>
  );
}
