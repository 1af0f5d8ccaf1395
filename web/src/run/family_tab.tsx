/** The family of a run: the run that was started first, and all that came of it. */
import { useQuery } from "@tanstack/react-query";
import { Link } from "wouter";
import { familyQuery, type MapTree, type Tree } from "../api/run";
import { count, several } from "../look/numbers";
import { stateOf } from "../look/status";
import { span } from "../look/time";
import { List } from "../parts/list/list";
import { Failure, isLost, Waiting } from "../parts/states";
import { Status } from "../parts/status";
import { urlOf } from "./place";
import styles from "./tabs.module.css";

type Row = { key: string; depth: number; run: Tree } | { key: string; depth: number; map: MapTree } | { key: string; depth: number; more: string };

export function FamilyTab({ id }: { id: string }) {
  const { data, error, refetch } = useQuery(familyQuery(id));
  if (isLost(error, data)) return <Failure error={error} what="The family could not be shown" onRetry={() => void refetch()} />;
  if (!data) return <Waiting what="The family is loading" />;
  const rows = flat(data.root);
  return (
    <div className={styles["tab"]}>
      <div className={styles["bar"]}>
        <span className={styles["soft"]}>
          {several(rows.filter((row) => "run" in row).length, "run")}, from the one that was started first.
          {!data.complete && " Some are not shown."}
        </span>
      </div>
      <List
        count={rows.length}
        row={36}
        label="Family"
        render={(i) => {
          const row = rows[i];
          return row && <Member key={row.key} row={row} here={id} />;
        }}
      />
    </div>
  );
}

function Member({ row, here }: { row: Row; here: string }) {
  const pad = { paddingLeft: 16 + row.depth * 24 };
  if ("map" in row) {
    const { items, step } = row.map;
    return (
      <div role="listitem" className={styles["member"]} style={pad}>
        <b>{step}</b>
        <span className={styles["soft"]}>
          for each of {count(items.count)}: {count(items.succeeded)} succeeded, {count(items.failed)} failed
        </span>
      </div>
    );
  }
  if ("more" in row) {
    return (
      <div role="listitem" className={styles["member"]} style={pad}>
        <Link href={`/runs?parent=${encodeURIComponent(row.more)}`} className={styles["link"] ?? ""}>
          Show the other runs that it started
        </Link>
      </div>
    );
  }
  const { run } = row;
  const from = Date.parse(run.started_at ?? "");
  const to = Date.parse(run.finished_at ?? "");
  return (
    <div role="listitem" className={styles["member"]} style={pad} data-selected={run.id === here || undefined}>
      <Status of={stateOf(run)} quiet />
      <Link href={urlOf(run.id, {})} className={styles["name"] ?? ""} aria-current={run.id === here ? "page" : undefined}>
        {run.workflow}
      </Link>
      {run.parent?.step && run.item == null && <span className={styles["soft"]}>by {run.parent.step}</span>}
      {run.item != null && <span className={styles["soft"]}>item {run.item}</span>}
      <code className={styles["soft"]}>…{run.id.slice(-6)}</code>
      <span className={styles["took"]}>{Number.isNaN(from) || Number.isNaN(to) ? "" : span(to - from)}</span>
    </div>
  );
}

function flat(root: Tree): Row[] {
  const rows: Row[] = [];
  const walk = (run: Tree, depth: number) => {
    rows.push({ key: run.id, depth, run });
    for (const child of run.children) walk(child, depth + 1);
    for (const map of run.maps ?? []) {
      rows.push({ key: `${run.id} ${map.step}`, depth: depth + 1, map });
      for (const child of map.children) walk(child, depth + 2);
      if (map.more) rows.push({ key: `${run.id} ${map.step} more`, depth: depth + 2, more: run.id });
    }
    if (run.more) rows.push({ key: `${run.id} more`, depth: depth + 1, more: run.id });
  };
  walk(root, 0);
  return rows;
}
