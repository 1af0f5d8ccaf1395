/** One workflow: head, tabs with URLs, and the dialogs of its verbs. */
import { useQuery } from "@tanstack/react-query";
import { lazy, Suspense } from "react";
import { Link } from "wouter";
import type { Workflow } from "../api/documents";
import { useRefresh } from "../api/refresh";
import { useTitle } from "../api/session";
import { statsQuery, triggersQuery, workflowQuery, type WorkflowStats } from "../api/workflows";
import { count, percent } from "../look/numbers";
import { span } from "../look/time";
import { Crumbs } from "../parts/crumbs";
import { Fact, Facts } from "../parts/facts";
import { Failure, isLost, Waiting } from "../parts/states";
import { Status } from "../parts/status";
import { TabLinks } from "../parts/tabs";
import { Time } from "../parts/time";
import { usePlace } from "../shell/place";
import { RunBars } from "./bars";
import { inFlight, placeOf, stateOfWorkflow } from "./state";
import { Verbs } from "./verbs";
import styles from "./page.module.css";

const GraphTab = lazy(() => import("./graph_tab"));
const GridTab = lazy(() => import("./grid_tab"));
const VersionsTab = lazy(() => import("./versions_tab"));
const TriggersTab = lazy(() => import("./triggers_tab"));
const SchedulesTab = lazy(() => import("./schedules_tab"));
const RunsTab = lazy(() => import("./runs_tab"));
const VerbDialog = lazy(() => import("./dialogs").then((all) => ({ default: all.VerbDialog })));

export default function WorkflowPage({ params }: { params: Record<string, string | undefined> }) {
  const name = params["workflow"] ?? "";
  const tab = params["tab"] ?? "graph";
  useTitle(name);
  const { data, error, refetch } = useQuery(workflowQuery(name));
  if (isLost(error, data)) return <Failure error={error} what={`The workflow ${name} could not be shown`} onRetry={() => void refetch()} />;
  if (!data) return <Waiting what="The workflow is loading" />;
  return <Found key={data.id} workflow={data} tab={tab} what={params["what"] ?? ""} />;
}

function Found({ workflow, tab, what }: { workflow: Workflow; tab: string; what: string }) {
  const { name } = workflow;
  const stats = useQuery(statsQuery(name));
  const triggers = useQuery(triggersQuery({ workflow: name }));
  const isAsking = usePlace().get("do") !== "";
  useRefresh(`runs:workflow=${encodeURIComponent(name)}`, [
    ["workflows", "one", name, "stats"],
    ["workflows", "one", name, "grid"],
    ["runs", "list", { workflow: name }],
  ]);
  const schedules = triggers.data?.filter((one) => one.type === "cron").length;
  const others = triggers.data && schedules !== undefined ? triggers.data.length - schedules : undefined;
  const tabOf = (id: string, word: string, n?: number) => ({ name: id, word, to: placeOf(name, id === "graph" ? "" : id), ...(n ? { count: n } : {}) });
  const tabs = [
    tabOf("graph", "Graph"),
    tabOf("grid", "Grid"),
    tabOf("versions", "Versions"),
    tabOf("triggers", "Triggers", others),
    tabOf("schedules", "Schedules", schedules),
    tabOf("runs", "Runs"),
  ];
  return (
    <div className={styles["page"]}>
      <header className={styles["header"]}>
        <Crumbs way={[["Workflows", "/workflows"]]}>
          <span>{name}</span>
        </Crumbs>
        <div className={styles["line"]}>
          <h1>{name}</h1>
          <Status of={stateOfWorkflow(workflow)} pill />
          <p>{workflow.title ?? workflow.description ?? ""}</p>
          <Verbs workflow={workflow} />
        </div>
        <div className={styles["below"]}>
          <WorkflowFacts workflow={workflow} stats={stats.data} />
          <TabLinks tabs={tabs} current={tab} label="Views of this workflow" />
        </div>
      </header>
      <Suspense fallback={<Waiting what="The view is loading" />}>
        <Tab workflow={workflow} stats={stats.data} tab={tab} what={what} />
      </Suspense>
      <Suspense fallback={null}>{isAsking && <VerbDialog workflow={workflow} stats={stats.data} />}</Suspense>
    </div>
  );
}

export interface TabProps {
  workflow: Workflow;
  stats: WorkflowStats | undefined;
  /** What follows the tab in the path: a version. */
  what: string;
}

function Tab({ tab, ...props }: TabProps & { tab: string }) {
  if (tab === "grid") return <GridTab {...props} />;
  if (tab === "versions") return <VersionsTab {...props} />;
  if (tab === "triggers") return <TriggersTab {...props} />;
  if (tab === "schedules") return <SchedulesTab {...props} />;
  if (tab === "runs") return <RunsTab {...props} />;
  return <GraphTab {...props} />;
}

function WorkflowFacts({ workflow, stats }: { workflow: Workflow; stats: WorkflowStats | undefined }) {
  const open = stats ? inFlight(stats.in_flight) : null;
  const { name } = workflow;
  return (
    <div className={styles["facts"]}>
      {stats && <RunBars runs={stats.recent} />}
      <Facts>
        <Fact word="Version">
          {workflow.current_version > 0 ? <Link href={placeOf(name, "versions")}>{workflow.current_version}</Link> : "none yet"}
          {workflow.draft && (
            <Link href={placeOf(name, "versions", "/draft")} className={styles["hint"] ?? ""}>
              draft {workflow.draft.revision}
            </Link>
          )}
        </Fact>
        {stats?.success_rate != null && (
          <Fact word="Success" title={`Of the last ${Math.min(stats.runs, 200)} runs that ended`}>
            <Link href={`/runs?workflow=${encodeURIComponent(name)}&status=failed`}>{percent(stats.success_rate)}</Link>
          </Fact>
        )}
        {stats?.p50_ms != null && (
          <Fact word="p50" title="Half of the runs took less">
            {span(stats.p50_ms)}
          </Fact>
        )}
        {stats?.p95_ms != null && (
          <Fact word="p95" title="Nineteen of twenty runs took less">
            {span(stats.p95_ms)}
          </Fact>
        )}
        {open !== null && (
          <Fact word="In flight">
            <Link href={`/runs?workflow=${encodeURIComponent(name)}&status=active`}>{count(open)}</Link>
          </Fact>
        )}
        {stats?.last_at && (
          <Fact word="Last run">
            <Time at={stats.last_at} />
          </Fact>
        )}
        {stats?.next_at && (
          <Fact word="Next run">
            <Time at={stats.next_at} />
          </Fact>
        )}
      </Facts>
    </div>
  );
}
