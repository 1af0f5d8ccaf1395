/** A short list of runs, as of one workflow or about one thing. */
import { memo, useRef, useState } from "react";
import { Link, useLocation } from "wouter";
import type { RunSummary } from "../api/documents";
import { useNow } from "../api/session";
import { lookOf, stateOf, triggerOf } from "../look/status";
import { instant, span } from "../look/time";
import { List, type ListHandle } from "../parts/list/list";
import { Status } from "../parts/status";
import { Time } from "../parts/time";
import { useKeys } from "../shell/keys";
import { useNarrow } from "../shell/narrow";
import { whyOf } from "../runs/why";
import styles from "./run_rows.module.css";

interface Props {
  runs: readonly RunSummary[];
  label: string;
  /** What the page is about already is not said again. */
  about: "workflow" | "hero";
  onEnd?: () => void;
}

export function RunRows({ runs, label, about, onEnd }: Props) {
  const [, go] = useLocation();
  const [at, setAt] = useState(-1);
  const list = useRef<ListHandle>(null);
  const row = useNarrow() ? 54 : 36;
  const move = (step: number) => {
    const next = Math.max(0, Math.min(runs.length - 1, at + step));
    setAt(next);
    list.current?.reveal(next);
  };
  useKeys("Runs", [
    { key: "j", says: "Next run", run: () => move(1) },
    { key: "k", says: "Previous run", run: () => move(-1) },
    { key: "Enter", says: "Open the run", run: () => (runs[at] ? go(`/runs/${runs[at].id}`) : false) },
  ]);
  return (
    <div className={styles["table"]} role="table" aria-label={label}>
      <List
        handle={list}
        role="rowgroup"
        label={label}
        count={runs.length}
        row={row}
        {...(onEnd ? { onEnd } : {})}
        render={(i) => {
          const run = runs[i];
          return run && <Row key={run.id} run={run} about={about} isAt={i === at} />;
        }}
      />
    </div>
  );
}

const Row = memo(function Row({ run, about, isAt }: { run: RunSummary; about: Props["about"]; isAt: boolean }) {
  const trigger = triggerOf(run.trigger);
  const Icon = trigger.icon;
  const state = stateOf(run);
  const now = useNow();
  const why = whyOf(run, now);
  return (
    <div role="row" className={`${styles["row"]} ${isAt ? styles["at"] : ""}`}>
      <span role="cell">
        <Status of={state} quiet />
      </span>
      <span role="cell" className={styles["name"]}>
        <Link href={`/runs/${run.id}`}>{about === "hero" ? run.workflow : <code>…{run.id.slice(-6)}</code>}</Link>
        <i>v{run.version}</i>
      </span>
      <span role="cell" className={styles["soft"]}>
        {about === "hero" ? <code>…{run.id.slice(-6)}</code> : run.hero ? <Link href={heroPlace(run.hero)}>{`${run.hero.type} ${run.hero.id}`}</Link> : ""}
      </span>
      <span role="cell" className={why.loud ? `t-${why.tone ?? lookOf(state).tone} ${styles["loud"]}` : styles["soft"]}>
        {why.text}
      </span>
      <span role="cell" className={styles["soft"]}>
        <Icon className="icon small" aria-hidden /> {trigger.word}
      </span>
      <span role="cell" className={styles["soft"]}>
        <Time at={run.started_at ?? run.start_at} />
      </span>
      <span role="cell" className={styles["right"]}>
        {run.started_at ? span(run.duration_ms ?? Math.max(0, now - instant(run.started_at))) : ""}
      </span>
    </div>
  );
});

export function heroPlace({ type, id }: { type: string; id: string }): string {
  return `/heroes/${encodeURIComponent(type)}/${encodeURIComponent(id)}`;
}
