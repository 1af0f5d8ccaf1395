/** What starts workflows by itself, over all workflows: triggers, schedules, and what was received. */
import { useQuery } from "@tanstack/react-query";
import { lazy, Suspense, useState } from "react";
import type { Trigger } from "../api/documents";
import { useRefresh } from "../api/refresh";
import { useTitle } from "../api/session";
import { triggersQuery } from "../api/workflows";
import { Button } from "../parts/button";
import { TextField } from "../parts/field";
import { Empty, Failure, isLost, Snippet, Waiting } from "../parts/states";
import { TabLinks } from "../parts/tabs";
import { usePlace } from "../shell/place";
import { Schedule } from "./schedule";
import { NoSchedule } from "./schedules_tab";
import { TriggerCard } from "./trigger_card";
import { TriggerDialog } from "./trigger_verbs";
import frame from "./section.module.css";
import styles from "./triggers.module.css";

const Received = lazy(() => import("../people/webhooks"));

export default function Triggers({ params }: { params: Record<string, string | undefined> }) {
  const tab = params["tab"] ?? "all";
  useTitle("Triggers");
  const { data, error, refetch } = useQuery(triggersQuery());
  useRefresh(tab === "received" ? "" : "firings:", [["firings"], ["triggers"]]);
  const schedules = data?.filter((one) => one.type === "cron");
  const others = data?.filter((one) => one.type !== "cron");
  const tabOf = (name: string, word: string, to: string, n?: number) => ({ name, word, to, ...(n ? { count: n } : {}) });
  return (
    <div className={frame["page"]}>
      <div className={frame["head"]}>
        <h1>Triggers</h1>
        <TabLinks
          label="Views of triggers"
          current={tab}
          tabs={[
            tabOf("all", "Webhooks and events", "/triggers", others?.length),
            tabOf("schedules", "Schedules", "/triggers/schedules", schedules?.length),
            tabOf("received", "Received", "/triggers/received"),
          ]}
        />
      </div>
      {tab === "received" ? (
        <Suspense fallback={<Waiting what="The view is loading" />}>
          <Received />
        </Suspense>
      ) : isLost(error, data) ? (
        <Failure error={error} what="The triggers could not be listed" onRetry={() => void refetch()} />
      ) : !data ? (
        <Waiting what="The triggers are loading" />
      ) : (
        <All triggers={tab === "schedules" ? (schedules ?? []) : (others ?? [])} isSchedules={tab === "schedules"} />
      )}
    </div>
  );
}

/** Each asks for what it did lately, so only so many are shown at a time. */
const FEW = 20;

function All({ triggers, isSchedules }: { triggers: Trigger[]; isSchedules: boolean }) {
  const place = usePlace();
  const [most, setMost] = useState(FEW);
  const wanted = place.get("search").toLowerCase();
  const found = triggers.filter((one) => `${one.name ?? ""} ${one.workflow} ${one.url ?? ""} ${one.id}`.toLowerCase().includes(wanted));
  if (triggers.length === 0) return isSchedules ? <NoSchedule /> : <NoTrigger />;
  return (
    <div className={styles["tab"]}>
      {triggers.length > FEW / 2 && (
        <div className={styles["find"]}>
          <TextField bare label="Find by name, workflow or URL" placeholder="Find by name, workflow or URL" type="search" defaultValue={place.get("search")} onChange={(event) => place.set({ search: event.currentTarget.value.trim() }, { replace: true })} />
        </div>
      )}
      {found.length === 0 && <Empty title="No trigger matches" />}
      {found.slice(0, most).map((one) => (isSchedules ? <Schedule key={one.id} trigger={one} withWorkflow /> : <TriggerCard key={one.id} trigger={one} withWorkflow />))}
      {found.length > most && (
        <p className={styles["find"]}>
          <Button onClick={() => setMost(most + FEW)}>Show {Math.min(FEW, found.length - most)} more</Button>
        </p>
      )}
      <TriggerDialog triggers={triggers} />
    </div>
  );
}

function NoTrigger() {
  return (
    <Empty title="No webhook and no event yet">
      <Snippet label="In a definition">{`trigger:
  type: webhook`}</Snippet>
      <p>Its URL is here as soon as the workflow is saved. Every workflow can be started by the API without one.</p>
    </Empty>
  );
}
