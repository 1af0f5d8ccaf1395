/** The graph of a rule: what starts it, and its actions where a person has put them. The chosen one is in the URL. */
import { useQuery } from "@tanstack/react-query";
import { Code, X } from "lucide-react";
import { useMemo } from "react";
import { Link } from "wouter";
import type { Rule } from "../api/rules";
import { planQuery } from "../api/workflows";
import type { GraphEdge, GraphStep } from "../graph/model";
import { Graph } from "../graph/view";
import { kindOf } from "../look/kinds";
import { Button } from "../parts/button";
import { JsonTree } from "../parts/json/tree";
import { Failure, isLost, Waiting } from "../parts/states";
import { usePlace } from "../shell/place";
import sheet from "../workflows/graph_tab.module.css";
import { planEdges, planNodes } from "../workflows/plan";
import type { TabProps } from "./page";
import { entityPlace, sentenceOf, storedPlaces, whenOf } from "./words";

/** No step has a name with a colon at its beginning. */
const TRIGGER = ":trigger";

export default function GraphTab({ tagged: { rule } }: TabProps) {
  const place = usePlace();
  const { data, error, refetch } = useQuery(planQuery(rule.key, String(rule.version)));
  const stored = useMemo(() => storedPlaces(rule, TRIGGER), [rule]);
  const drawn = useMemo(() => {
    if (!data) return null;
    const steps: GraphStep[] = [
      { name: TRIGGER, title: whenOf(rule), kind: "event", state: null, note: rule.conditions || "without conditions", guard: null, progress: null },
      ...planNodes(data.steps, data.edges).map((one) => drawnAction(rule, one)),
    ];
    const roots = startsOf(rule);
    const starts: GraphEdge[] = roots.map((target) => ({ source: TRIGGER, target, state: "open", tip: "" }));
    return { steps, edges: [...starts, ...planEdges(data.edges)] };
  }, [data, rule]);
  if (isLost(error, data)) return <Failure error={error} what="The graph could not be shown" onRetry={() => void refetch()} />;
  if (!drawn) return <Waiting what="The graph is loading" />;
  const chosen = place.get("step");
  const close = () => place.set({ step: null }, { replace: true });
  return (
    <div className={sheet["tab"]}>
      <div className={sheet["canvas"]}>
        <Graph
          key={`${rule.key} ${rule.version}`}
          steps={drawn.steps}
          edges={drawn.edges}
          selected={chosen || null}
          onSelect={(step) => place.set({ step }, { replace: true })}
          {...(stored ? { stored } : {})}
        />
      </div>
      {chosen === TRIGGER && <TriggerSheet rule={rule} onClose={close} />}
      {rule.actions
        .filter((one) => one.step === chosen)
        .map((one) => (
          <ActionSheet key={one.id} rule={rule} action={one} onClose={close} />
        ))}
    </div>
  );
}

/** A step with the icon of its action's type, and the branch that leads to it in place of an expression. */
function drawnAction(rule: Rule, step: GraphStep): GraphStep {
  const action = rule.actions.find((one) => one.step === step.name);
  if (!action) return step;
  const into = rule.edges.filter((edge) => edge.target_action_id === action.id);
  const branches = [...new Set(into.map((edge) => EDGES[edge.edge_type] ?? ""))];
  const text = branches.includes("") ? "" : branches.join(" or ");
  const kind = action.action_type in TYPES ? action.action_type : step.kind;
  return { ...step, kind, note: action.action_type === "create_alert" ? severityOf(action) : step.note, guard: text ? { text, held: null, tip: step.guard?.tip ?? "" } : null };
}

/** Types of actions that have an icon of their own. */
const TYPES: Readonly<Record<string, true>> = { create_alert: true, send_email: true };

function severityOf(action: Action): string {
  const severity = action.action_config["severity"];
  return typeof severity === "string" ? `alert, ${severity}` : "alert";
}

/** The steps that the trigger starts. */
function startsOf(rule: Rule): string[] {
  const steps = new Map(rule.actions.map((one) => [one.id, one.step]));
  return rule.edges.flatMap((edge) => (edge.source_action_id === null ? (steps.get(edge.target_action_id) ?? []) : []));
}

function TriggerSheet({ rule, onClose }: { rule: Rule; onClose: () => void }) {
  return (
    <Sheet label="What starts it" title="What starts it" kind="event" onClose={onClose}>
      <dl>
        <dt>When</dt>
        <dd>{sentenceOf({ ...rule, conditions: "" })}</dd>
        {rule.conditions && (
          <>
            <dt>And if</dt>
            <dd>{rule.conditions}</dd>
          </>
        )}
      </dl>
      {rule.entity && (
        <p className={sheet["links"]}>
          <Link href={entityPlace(rule.entity)}>Fields of {rule.entity}</Link>
          <Link href={entityPlace(rule.entity, "events")}>Its last events</Link>
        </p>
      )}
      <Written value={rule.trigger_conditions} label="Conditions as written" />
    </Sheet>
  );
}

type Action = Rule["actions"][number];

const EDGES: Readonly<Record<string, string>> = { true_branch: "if true", false_branch: "if false", always: "in any case" };

function ActionSheet({ rule, action, onClose }: { rule: Rule; action: Action; onClose: () => void }) {
  const names = new Map(rule.actions.map((one) => [one.id, one.name]));
  const into = rule.edges.filter((edge) => edge.target_action_id === action.id);
  return (
    <Sheet label={`Action ${action.name}`} title={action.name} kind={action.action_type} onClose={onClose}>
      <dl>
        <dt>Does</dt>
        <dd>
          <code>{action.action_type}</code>
        </dd>
        <dt>After</dt>
        <dd>
          <ul>
            {into.map((edge) => (
              <li key={edge.id}>
                {edge.source_action_id === null ? "the start" : (names.get(edge.source_action_id) ?? edge.source_action_id)}
                {EDGES[edge.edge_type] && <small>{EDGES[edge.edge_type]}</small>}
              </li>
            ))}
          </ul>
        </dd>
        <dt>In runs</dt>
        <dd>
          <code>{action.step}</code>
        </dd>
        {typeof action.description === "string" && (
          <>
            <dt>Why</dt>
            <dd>{action.description}</dd>
          </>
        )}
      </dl>
      <Written value={action.action_config} label="Config as written" />
    </Sheet>
  );
}

function Sheet({ label, title, kind, onClose, children }: { label: string; title: string; kind: string; onClose: () => void; children: React.ReactNode }) {
  const Kind = kindOf(kind).icon;
  return (
    <aside className={sheet["sheet"]} aria-label={label}>
      <header>
        <Kind className="icon" aria-hidden />
        <h2>{title}</h2>
        <Button kind="ghost" square aria-label="Close" onClick={onClose}>
          <X className="icon" aria-hidden />
        </Button>
      </header>
      {children}
    </aside>
  );
}

function Written({ value, label }: { value: unknown; label: string }) {
  return (
    <div className={sheet["written"]}>
      <h3>
        <Code className="icon small" aria-hidden />
        As written
      </h3>
      <JsonTree value={value} label={label} />
    </div>
  );
}
