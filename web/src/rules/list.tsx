/** The rules: when each runs, on which conditions, and how it did lately. */
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { Plus, Search } from "lucide-react";
import { lazy, memo, Suspense, useMemo, useRef, useState } from "react";
import { Link, useLocation } from "wouter";
import { base } from "../api/client";
import { useRefresh } from "../api/refresh";
import { entitiesQuery, openAlertsQuery, type RuleFilter, ruleStatsQuery, rulesQuery, type RuleSummary } from "../api/rules";
import type { WorkflowStats } from "../api/workflows";
import { count, several } from "../look/numbers";
import { Allowed } from "../parts/allowed";
import { Button } from "../parts/button";
import { SelectField } from "../parts/field";
import { List, type ListHandle } from "../parts/list/list";
import { Empty, Failure, isLost, Snippet, Waiting } from "../parts/states";
import { Status } from "../parts/status";
import { Time } from "../parts/time";
import { useKeys } from "../shell/keys";
import { useNarrow } from "../shell/narrow";
import { usePlace } from "../shell/place";
import { RunBars } from "../workflows/bars";
import { Section } from "./section";
import { rulePlace, TRIGGERS, whenOf } from "./words";
import styles from "./rules.module.css";

const EditDialog = lazy(() => import("./edit"));

const STATES: [string, string][] = [
  ["", "All"],
  ["true", "Active"],
  ["false", "Inactive"],
];
const NAMES = ["search", "entity", "trigger_type", "is_active"] as const;

export default function Rules() {
  const place = usePlace();
  const box = useRef<HTMLInputElement>(null);
  const close = () => place.set({ do: null }, { replace: true });
  useKeys("Rules", [
    { key: "/", says: "Find a rule", run: () => box.current?.focus() },
    { key: "n", says: "Write a rule", run: () => place.set({ do: "new" }) },
  ]);
  const active = place.get("is_active");
  return (
    <Section
      tab="rules"
      actions={
        <Button needs="create_rule" onClick={() => place.set({ do: "new" })}>
          <Plus className="icon" aria-hidden />
          New rule…
        </Button>
      }
    >
      <div className={styles["tab"]}>
        <div className={styles["filters"]} role="search">
          <label className={styles["find"]}>
            <Search className="icon" aria-hidden />
            <input
              ref={box}
              type="search"
              placeholder="Find by name or text"
              aria-label="Find a rule by its name or text"
              defaultValue={place.get("search")}
              onChange={(event) => place.set({ search: event.currentTarget.value.trim() }, { replace: true })}
            />
            <kbd>/</kbd>
          </label>
          <EntityField />
          <div className={styles["less"]}>
            <SelectField bare label="When" value={place.get("trigger_type")} onChange={(event) => place.set({ trigger_type: event.currentTarget.value })}>
              <option value="">Any time</option>
              {TRIGGERS.map(([id, word]) => (
                <option key={id} value={id}>
                  {word}
                </option>
              ))}
            </SelectField>
          </div>
          <nav className={styles["views"]} aria-label="State">
            {STATES.map(([value, word]) => (
              <Link key={value} href={place.with({ is_active: value })} aria-current={value === active ? "true" : undefined}>
                {word}
              </Link>
            ))}
          </nav>
        </div>
        <RuleTable filter={Object.fromEntries(NAMES.flatMap((name) => (place.get(name) ? [[name, place.get(name)]] : [])))} clear={place.with(Object.fromEntries(NAMES.map((name) => [name, null])))} />
      </div>
      {place.get("do") === "new" && (
        <Allowed needs="create_rule" onClose={close}>
          <Suspense fallback={null}>
            <EditDialog tagged={null} onClose={close} />
          </Suspense>
        </Allowed>
      )}
    </Section>
  );
}

function EntityField() {
  const place = usePlace();
  const chosen = place.get("entity");
  const names = useInfiniteQuery(entitiesQuery()).data?.pages.flatMap((page) => page.data.map((one) => one.name)) ?? [];
  return (
    <SelectField bare label="Entity" value={chosen} onChange={(event) => place.set({ entity: event.currentTarget.value })}>
      <option value="">All entities</option>
      {[...(chosen && !names.includes(chosen) ? [chosen] : []), ...names].map((name) => (
        <option key={name} value={name}>
          {name}
        </option>
      ))}
    </SelectField>
  );
}

/** The rules that a filter leaves, with their last runs. Those of one entity need no link to show all. */
export function RuleTable({ filter, clear }: { filter: RuleFilter; clear: string | null }) {
  const pages = useInfiniteQuery(rulesQuery(filter));
  const { data, error, refetch } = pages;
  const rows = useMemo(() => data?.pages.flatMap((page) => page.data) ?? [], [data]);
  const stats = useQuery(ruleStatsQuery(useMemo(() => rows.map((one) => one.key), [rows])));
  useRefresh("counts", [["rules", "stats"]]);
  if (isLost(error, data)) return <Failure error={error} what="The rules could not be listed" onRetry={() => void refetch()} />;
  if (!data) return <Waiting what="The rules are loading" />;
  if (rows.length === 0) return <Nothing isFiltered={Object.keys(filter).length > 0} clear={clear} entity={filter.entity ?? "order"} />;
  return <Rows rows={rows} stats={stats.data} onEnd={() => pages.hasNextPage && !pages.isFetching && void pages.fetchNextPage()} />;
}

function Nothing({ isFiltered, clear, entity }: { isFiltered: boolean; clear: string | null; entity: string }) {
  if (isFiltered && clear !== null) {
    return (
      <Empty title="No rule matches">
        <p>
          <Link href={clear} className={styles["link"] ?? ""}>
            Show all rules
          </Link>
        </p>
      </Empty>
    );
  }
  const action = { name: "Raise alert", action_type: "create_alert", action_config: { alert_type: "shipped", severity: "low", title: "Order {{id}} has shipped", message: "Tell the customer" } };
  const rule = {
    name: "Order shipped",
    entity,
    trigger_type: "on_update",
    trigger_conditions: { field_conditions: [{ field_name: "status", operator: "changed_to", value: "shipped" }] },
    actions: [action],
    edges: [{ source_action_id: null, target_action_id: "temp:0", edge_type: "start" }],
  };
  return (
    <Empty title="No rule yet">
      <p>A rule does something when a record of your own application is created, changed or deleted.</p>
      {clear !== null && <Snippet label="Register what it watches">{`curl -X POST ${base}api/v1/entities -d '{"name": "${entity}"}'`}</Snippet>}
      <Snippet label="Save the rule">{`curl -X POST ${base}api/v1/rules -d '${JSON.stringify(rule)}'`}</Snippet>
    </Empty>
  );
}

interface RowsProps {
  rows: RuleSummary[];
  stats: ReadonlyMap<string, WorkflowStats> | undefined;
  onEnd: () => void;
}

function Rows({ rows, stats, onEnd }: RowsProps) {
  const [, go] = useLocation();
  const [at, setAt] = useState(-1);
  const list = useRef<ListHandle>(null);
  const isNarrow = useNarrow();
  const alerts = useQuery(openAlertsQuery()).data;
  const loud = useMemo(() => {
    const found = new Map<string, number>();
    for (const one of alerts ?? []) found.set(one.rule_id, (found.get(one.rule_id) ?? 0) + 1);
    return found;
  }, [alerts]);
  const move = (step: number) => {
    const next = Math.max(0, Math.min(rows.length - 1, at + step));
    setAt(next);
    list.current?.reveal(next);
  };
  useKeys("Rules", [
    { key: "j", says: "Next rule", run: () => move(1) },
    { key: "k", says: "Previous rule", run: () => move(-1) },
    { key: "Enter", says: "Open the rule", run: () => (rows[at] ? go(rulePlace(rows[at].key)) : false) },
  ]);
  return (
    <div className={styles["table"]} role="table" aria-label="Rules">
      <div role="rowgroup" className={styles["heads"]}>
        <div role="row" className={styles["row"]}>
          <span role="columnheader">Rule</span>
          <span role="columnheader">State</span>
          <span role="columnheader">When</span>
          <span role="columnheader">And if</span>
          <span role="columnheader">Last 30 runs</span>
          <span role="columnheader" className={styles["right"]}>
            Alerts
          </span>
          <span role="columnheader" className={styles["right"]}>
            Last run
          </span>
        </div>
      </div>
      <List
        handle={list}
        role="rowgroup"
        label="Rules"
        count={rows.length}
        row={isNarrow ? 86 : 52}
        onEnd={onEnd}
        render={(i) => {
          const one = rows[i];
          return one && <Row key={one.id} one={one} stats={stats?.get(one.key)} alerts={loud.get(one.id) ?? 0} isAt={i === at} />;
        }}
      />
    </div>
  );
}

interface RowProps {
  one: RuleSummary;
  stats: WorkflowStats | undefined;
  alerts: number;
  isAt: boolean;
}

const Row = memo(function Row({ one, stats, alerts, isAt }: RowProps) {
  return (
    <div role="row" className={[styles["row"], styles["body"], isAt && styles["at"], !one.is_active && styles["off"]].filter(Boolean).join(" ")}>
      <span role="cell" className={styles["name"]}>
        <Link href={rulePlace(one.key)}>{one.name}</Link>
        <small title={one.description ?? ""}>{one.description || several(one.action_count, "action")}</small>
      </span>
      <span role="cell" className={styles["state"]}>
        <Status of={stateOfRule(one)} quiet />
      </span>
      <span role="cell" className={styles["when"]}>
        {whenOf(one)}
      </span>
      <span role="cell" className={styles["conditions"]} title={one.conditions}>
        {one.conditions}
      </span>
      <span role="cell" className={styles["bars"]}>
        <RunBars runs={stats?.recent ?? []} />
      </span>
      <span role="cell" className={styles["right"]}>
        {alerts > 0 && (
          <Link href={`/alerts?rule=${encodeURIComponent(one.key)}`} className={styles["loud"] ?? ""}>
            {count(alerts)}
            <span className="unseen"> open alerts</span>
          </Link>
        )}
      </span>
      <span role="cell" className={`${styles["right"]} ${styles["soft"]}`}>
        <Time at={stats?.last_at} />
      </span>
    </div>
  );
});

/** The state of a rule, as `look/status` knows it. */
export function stateOfRule(one: { status: string; is_active: boolean }): string {
  return one.status === "active" && !one.is_active ? "inactive" : one.status;
}
