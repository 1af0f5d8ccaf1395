/** The workflows: how each did lately, and when it runs next. */
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { Search } from "lucide-react";
import { memo, useRef, useState } from "react";
import { Link, useLocation } from "wouter";
import { base } from "../api/client";
import type { Workflow } from "../api/documents";
import { useRefresh } from "../api/refresh";
import { now } from "../api/session";
import { allStatsQuery, workflowPagesQuery, type WorkflowStats } from "../api/workflows";
import { count, percent } from "../look/numbers";
import { instant, moment, span } from "../look/time";
import { List, type ListHandle } from "../parts/list/list";
import { PageFrame } from "../parts/page";
import { Empty, Failure, isLost, Snippet, Waiting } from "../parts/states";
import { Status } from "../parts/status";
import { Time } from "../parts/time";
import { useKeys } from "../shell/keys";
import { useNarrow } from "../shell/narrow";
import { usePlace } from "../shell/place";
import { RunBars } from "./bars";
import { inFlight, placeOf, stateOfWorkflow } from "./state";
import { saidStreak, streakOf } from "./streak";
import styles from "./list.module.css";

const STATUSES: [string, string][] = [
  ["", "All"],
  ["failing", "Failing"],
  ["active", "Active"],
  ["draft", "Draft"],
  ["archived", "Archived"],
];
/** Below this share of completed runs the figure is loud. */
const GOOD = 0.9;

export default function Workflows() {
  const place = usePlace();
  const search = place.get("search");
  const status = place.get("status");
  const pages = useInfiniteQuery(workflowPagesQuery({ ...(search && { search }), ...(status && status !== "failing" && { status }) }));
  const stats = useQuery(allStatsQuery());
  useRefresh("counts", [["workflows", "stats"]]);
  const box = useRef<HTMLInputElement>(null);
  useKeys("Workflows", [{ key: "/", says: "Find a workflow by its name", run: () => box.current?.focus() }]);
  const { data, error, refetch } = pages;
  const isBad = (name: string) => streakOf(stats.data?.get(name)?.recent ?? []) !== null;
  const rows = (data?.pages.flatMap((page) => page.data) ?? []).filter((one) => status !== "failing" || isBad(one.name));
  const failing = [...(stats.data?.keys() ?? [])].filter(isBad).length;
  return (
    <PageFrame
      title="Workflows"
      actions={
        <>
          <label className={styles["find"]}>
            <Search className="icon" aria-hidden />
            <input
              ref={box}
              type="search"
              placeholder="Find by name"
              aria-label="Find a workflow by its name"
              defaultValue={search}
              onChange={(event) => place.set({ search: event.currentTarget.value.trim() }, { replace: true })}
            />
            <kbd>/</kbd>
          </label>
          <nav className={styles["views"]} aria-label="Status">
            {STATUSES.map(([name, word]) => (
              <Link key={name} href={place.with({ status: name })} aria-current={name === status ? "true" : undefined}>
                {word}
                {name === "failing" && failing > 0 && <b className={styles["bad"]}>{count(failing)}</b>}
              </Link>
            ))}
          </nav>
        </>
      }
    >
      {isLost(error, data) ? (
        <Failure error={error} what="The workflows could not be listed" onRetry={() => void refetch()} />
      ) : !data ? (
        <Waiting what="The workflows are loading" />
      ) : rows.length === 0 && status === "failing" && search === "" ? (
        <Empty title="No workflow fails">
          <p>The last run of each that has ended completed.</p>
        </Empty>
      ) : rows.length === 0 ? (
        <Nothing isFiltered={search !== "" || status !== ""} clear={place.with({ search: null, status: null })} />
      ) : (
        <Rows rows={rows} stats={stats.data} onEnd={() => pages.hasNextPage && !pages.isFetching && void pages.fetchNextPage()} />
      )}
    </PageFrame>
  );
}

function Nothing({ isFiltered, clear }: { isFiltered: boolean; clear: string }) {
  if (isFiltered) {
    return (
      <Empty title="No workflow matches">
        <p>
          <Link href={clear} className={styles["link"] ?? ""}>
            Show all workflows
          </Link>
        </p>
      </Empty>
    );
  }
  return (
    <Empty title="No workflow yet">
      <Snippet label="Save the first one from a file">detent init && detent apply hello.yaml</Snippet>
      <Snippet label="Or by a request">{`curl -X POST ${base}api/v1/workflows -H 'Content-Type: application/json' \\
  -d '{"name": "hello", "tasks": {"hello": {"action": "core.echo", "with": {"text": "Hello, {{trigger.body.name}}"}}}}'`}</Snippet>
    </Empty>
  );
}

interface RowsProps {
  rows: Workflow[];
  stats: Map<string, WorkflowStats> | undefined;
  onEnd: () => void;
}

function Rows({ rows, stats, onEnd }: RowsProps) {
  const [, go] = useLocation();
  const [at, setAt] = useState(-1);
  const list = useRef<ListHandle>(null);
  const isNarrow = useNarrow();
  const move = (step: number) => {
    const next = Math.max(0, Math.min(rows.length - 1, at + step));
    setAt(next);
    list.current?.reveal(next);
  };
  useKeys("Workflows", [
    { key: "j", says: "Next workflow", run: () => move(1) },
    { key: "k", says: "Previous workflow", run: () => move(-1) },
    { key: "Enter", says: "Open the workflow", run: () => (rows[at] ? go(placeOf(rows[at].name)) : false) },
  ]);
  return (
    <div className={styles["table"]} role="table" aria-label="Workflows">
      <div role="rowgroup" className={styles["heads"]}>
        <div role="row" className={styles["row"]}>
          <span role="columnheader">Workflow</span>
          <span role="columnheader">Status</span>
          <span role="columnheader">Last 30 runs</span>
          <span role="columnheader" className={styles["right"]}>
            Success
          </span>
          <span role="columnheader" className={styles["right"]}>
            p50
          </span>
          <span role="columnheader" className={styles["right"]}>
            p95
          </span>
          <span role="columnheader" className={styles["right"]}>
            In flight
          </span>
          <span role="columnheader">Last run</span>
          <span role="columnheader">Next run</span>
        </div>
      </div>
      <List
        handle={list}
        role="rowgroup"
        label="Workflows"
        count={rows.length}
        row={isNarrow ? 74 : 52}
        onEnd={onEnd}
        render={(i) => {
          const one = rows[i];
          return one && <Row key={one.id} one={one} stats={stats?.get(one.name)} isAt={i === at} />;
        }}
      />
    </div>
  );
}

const Row = memo(function Row({ one, stats, isAt }: { one: Workflow; stats: WorkflowStats | undefined; isAt: boolean }) {
  const open = stats ? inFlight(stats.in_flight) : 0;
  const rate = stats?.success_rate ?? null;
  const streak = streakOf(stats?.recent ?? []);
  return (
    <div role="row" className={`${styles["row"]} ${styles["body"]} ${isAt ? styles["at"] : ""}`}>
      <span role="cell" className={styles["name"]}>
        <Link href={placeOf(one.name)}>{one.name}</Link>
        {one.current_version > 0 && <i>v{one.current_version}</i>}
        {one.draft && one.current_version > 0 && <em>has a draft</em>}
        {streak ? (
          <small className={styles["bad"]}>{saidStreak(streak, moment(instant(streak.since), "local", now()))}</small>
        ) : (
          <small>{one.title ?? one.description ?? ""}</small>
        )}
      </span>
      <span role="cell" className={styles["status"]}>
        <Status of={stateOfWorkflow(one)} quiet />
      </span>
      <span role="cell" className={styles["bars"]}>
        <RunBars runs={stats?.recent ?? []} />
      </span>
      <span role="cell" className={`${styles["right"]} ${rate !== null && rate < GOOD ? styles["bad"] : ""}`}>
        {rate !== null && <Link href={`/runs?workflow=${encodeURIComponent(one.name)}&status=failed`}>{percent(rate)}</Link>}
      </span>
      <span role="cell" className={`${styles["right"]} ${styles["soft"]}`}>
        {stats?.p50_ms == null ? "" : span(stats.p50_ms)}
      </span>
      <span role="cell" className={`${styles["right"]} ${styles["soft"]}`}>
        {stats?.p95_ms == null ? "" : span(stats.p95_ms)}
      </span>
      <span role="cell" className={styles["right"]}>
        {open > 0 && <Link href={`/runs?workflow=${encodeURIComponent(one.name)}&status=active`}>{count(open)}</Link>}
      </span>
      <span role="cell" className={styles["soft"]}>
        <Time at={stats?.last_at} />
      </span>
      <span role="cell" className={styles["soft"]}>
        <Time at={stats?.next_at} />
      </span>
    </div>
  );
});
