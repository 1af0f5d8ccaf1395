/** The graph of any version. The version and the chosen step are in the URL. */
import { useQuery } from "@tanstack/react-query";
import { Code, X } from "lucide-react";
import { useMemo } from "react";
import { Link } from "wouter";
import { definitionQuery } from "../api/waits";
import { draftQuery, type Plan, planQuery, type PlanStep, versionsQuery } from "../api/workflows";
import { Graph } from "../graph/view";
import { kindOf } from "../look/kinds";
import { Button } from "../parts/button";
import { JsonTree } from "../parts/json/tree";
import { Empty, Failure, isLost, Snippet, Waiting } from "../parts/states";
import { usePlace } from "../shell/place";
import type { TabProps } from "./page";
import { planEdges, planNodes, tipOf } from "./plan";
import { placeOf } from "./state";
import { stepIn } from "./written";
import styles from "./graph_tab.module.css";

export default function GraphTab({ workflow }: TabProps) {
  const place = usePlace();
  const { name } = workflow;
  const usual = workflow.current_version > 0 ? "current" : "draft";
  const version = place.get("version") || usual;
  const { data, error, refetch } = useQuery(planQuery(name, version));
  const versions = useQuery(versionsQuery(name));
  const steps = useMemo(() => (data ? planNodes(data.steps, data.edges) : []), [data]);
  const edges = useMemo(() => (data ? planEdges(data.edges) : []), [data]);
  const chosen = data?.steps.find((one) => one.name === place.get("step"));
  if (isLost(error, data)) return <Failure error={error} what="The graph could not be shown" onRetry={() => void refetch()} />;
  if (!data) return <Waiting what="The graph is loading" />;
  return (
    <div className={styles["tab"]}>
      <div className={styles["canvas"]}>
        {data.steps.length === 0 ? (
          <Empty title="No steps are known yet">
            <p>The steps of a durable function are what it does: they are known when it runs.</p>
            <Snippet label="Start a run">{`detent trigger ${name}`}</Snippet>
          </Empty>
        ) : (
          <Graph
            key={`${name} ${data.version}`}
            steps={steps}
            edges={edges}
            selected={chosen?.name ?? null}
            onSelect={(step) => place.set({ step }, { replace: true })}
          />
        )}
        <label className={styles["version"]}>
          <span>Version</span>
          <select value={version} onChange={(event) => place.set({ version: event.currentTarget.value === usual ? null : event.currentTarget.value, step: null })}>
            {workflow.current_version > 0 && <option value="current">{workflow.current_version}, current</option>}
            {workflow.draft && <option value="draft">draft {workflow.draft.revision}</option>}
            {versions.data
              ?.filter((one) => one.version !== workflow.current_version)
              .map((one) => (
                <option key={one.version} value={String(one.version)}>
                  {one.version}
                </option>
              ))}
          </select>
        </label>
      </div>
      {chosen && <StepSheet plan={data} step={chosen} workflow={name} current={workflow.current_version} hasDraft={workflow.draft != null} onClose={() => place.set({ step: null }, { replace: true })} />}
    </div>
  );
}

interface SheetProps {
  plan: Plan;
  step: PlanStep;
  workflow: string;
  current: number;
  hasDraft: boolean;
  onClose: () => void;
}

/** What a step is, as it was written. */
function StepSheet({ plan, step, workflow, current, hasDraft, onClose }: SheetProps) {
  const isDraft = plan.version === "draft";
  const number = typeof plan.version === "number" ? plan.version : current;
  const stored = useQuery({ ...definitionQuery(workflow, number), enabled: !isDraft });
  const draft = useQuery(draftQuery(workflow, isDraft && hasDraft));
  const definition = isDraft ? draft.data?.definition : stored.data;
  const written = definition === undefined ? undefined : stepIn(definition, step.name);
  const kind = kindOf(step.for_each === null ? step.kind : "map");
  const Kind = kind.icon;
  const into = plan.edges.filter((edge) => edge.target === step.name);
  return (
    <aside className={styles["sheet"]} aria-label={`Step ${step.name}`}>
      <header>
        <Kind className="icon" aria-hidden />
        <h2>{step.title ?? step.name}</h2>
        <Button kind="ghost" square aria-label="Close the step" onClick={onClose}>
          <X className="icon" aria-hidden />
        </Button>
      </header>
      <dl>
        <dt>Does</dt>
        <dd>
          {kind.word}
          {step.label && `: ${step.label}`}
        </dd>
        {step.for_each !== null && (
          <>
            <dt>For each</dt>
            <dd>
              <code>{step.for_each}</code>
            </dd>
          </>
        )}
        {step.if !== null && (
          <>
            <dt>Only if</dt>
            <dd>
              <code>{step.if}</code>
            </dd>
          </>
        )}
        {into.length > 0 && (
          <>
            <dt>After</dt>
            <dd>
              <ul>
                {into.map((edge) => (
                  <li key={edge.source} title={tipOf(edge)}>
                    {edge.source}
                    {edge.when !== "success" && edge.when !== "then" && <small> {edge.when}</small>}
                    {edge.condition !== null && <code>{edge.condition}</code>}
                  </li>
                ))}
              </ul>
            </dd>
          </>
        )}
      </dl>
      <p className={styles["links"]}>
        <Link href={`/runs?workflow=${encodeURIComponent(workflow)}&text=${encodeURIComponent(step.name)}`}>Runs at this step</Link>
        <Link href={placeOf(workflow, "grid", `?step=${encodeURIComponent(step.name)}`)}>How it did lately</Link>
      </p>
      {written !== undefined && (
        <div className={styles["written"]}>
          <h3>
            <Code className="icon small" aria-hidden />
            As written
          </h3>
          <JsonTree value={written} label="Step as written" />
        </div>
      )}
    </aside>
  );
}
