/** One run in the list. */
import { type CSSProperties, memo, type MouseEvent } from "react";
import { Link } from "wouter";
import type { RunSummary } from "../api/documents";
import { useNow } from "../api/session";
import { lookOf, stateOf, triggerOf } from "../look/status";
import { HOUR, instant, roughSpan, span } from "../look/time";
import { CopyButton } from "../parts/copy";
import { Status } from "../parts/status";
import { Time } from "../parts/time";
import styles from "./table.module.css";
import { whyOf } from "./why";

/** A bar is full at so long. Bars of all lists have one scale. */
const FULL = 3 * HOUR;

interface Props {
  run: RunSummary;
  index: number;
  chosen: boolean;
  fresh: boolean;
  onChoose: (id: string, range: boolean) => void;
  onFilter: (name: "label" | "hero" | "workflow", value: string) => void;
  onOpen: (id: string, event: MouseEvent) => void;
}

export const Row = memo(function Row({ run, index, chosen, fresh, onChoose, onFilter, onOpen }: Props) {
  const state = stateOf(run);
  const { tone } = lookOf(state);
  const trigger = triggerOf(run.trigger);
  const Icon = trigger.icon;
  const labels = Object.entries(run.labels ?? {});
  const names = [styles["row"], chosen && styles["chosen"], fresh && styles["fresh"]].filter(Boolean).join(" ");
  return (
    <div className={names} role="row" aria-rowindex={index + 2} aria-selected={chosen} id={`row-${run.id}`} onClick={(event) => onOpen(run.id, event)}>
      <span role="gridcell" className={styles["tick"]}>
        <input
          type="checkbox"
          aria-label={`Select ${run.workflow} ${run.id}`}
          checked={chosen}
          onChange={() => undefined}
          onClick={(event) => onChoose(run.id, event.shiftKey)}
        />
      </span>
      <span role="gridcell" className={styles["status"]}>
        <Status of={state} quiet />
      </span>
      <span role="gridcell" className={styles["workflow"]}>
        <Link href={`/runs/${run.id}`} data-open>
          {run.workflow}
        </Link>
        <i>v{run.version}</i>
      </span>
      <span role="gridcell" className={styles["about"]}>
        {run.hero && (
          <button type="button" title={`Only runs about ${run.hero.type} ${run.hero.id}`} onClick={() => onFilter("hero", `${run.hero?.type}:${run.hero?.id}`)}>
            <em>{run.hero.type}</em> {run.hero.id}
          </button>
        )}
      </span>
      <span role="gridcell" className={`${styles["why"]} t-${tone}`}>
        <WhyText run={run} />
        {labels.length > 0 && (
          <span className={styles["labels"]}>
            {labels.slice(0, 2).map(([key, value]) => (
              <button key={key} type="button" title={`Only runs with label ${key}:${value}`} onClick={() => onFilter("label", `${key}:${value}`)}>
                {key}:{value}
              </button>
            ))}
            {labels.length > 2 && <small title={labels.map((one) => one.join(":")).join("\n")}>+{labels.length - 2}</small>}
          </span>
        )}
      </span>
      <span role="gridcell" className={styles["trigger"]}>
        <Icon className="icon small" aria-hidden />
        {trigger.word}
      </span>
      <span role="gridcell" className={styles["started"]}>
        <Time at={run.started_at ?? run.start_at} />
      </span>
      <span role="gridcell" className={styles["duration"]}>
        {run.stage ? <Running run={run} /> : <Duration ms={run.duration_ms ?? took(run)} tone={tone} />}
      </span>
      <span role="gridcell" className={styles["id"]}>
        <code title={run.id}>
          {run.id.slice(0, 4)}…{run.id.slice(-6)}
        </code>
        <CopyButton text={run.id} what={`id ${run.id}`} />
      </span>
    </div>
  );
});

function WhyText({ run }: { run: RunSummary }) {
  return run.stage?.until || run.stage?.since ? <Counting run={run} /> : <Words run={run} now={0} />;
}

/** Counts down with the clock. */
function Counting({ run }: { run: RunSummary }) {
  return <Words run={run} now={useNow()} />;
}

function Words({ run, now }: { run: RunSummary; now: number }) {
  const { text, loud, tone } = whyOf(run, now);
  return (
    <span className={loud ? `${styles["loud"]}${tone ? ` t-${tone}` : ""}` : run.stage ? styles["words"] : styles["faint"]} title={text}>
      {text}
    </span>
  );
}

/** The time of an open run goes on. */
function Running({ run }: { run: RunSummary }) {
  const now = useNow();
  const began = instant(run.started_at);
  return Number.isNaN(began) || now < began ? null : <Duration ms={now - began} tone={lookOf(stateOf(run)).tone} isOpen />;
}

function Duration({ ms, tone, isOpen }: { ms: number | null; tone: string; isOpen?: boolean }) {
  if (ms === null || Number.isNaN(ms)) return null;
  const share = 0.04 + 0.96 * Math.sqrt(Math.min(1, ms / FULL));
  const text = isOpen ? roughSpan(ms) : span(ms);
  return (
    <>
      {text}
      <span className={`${styles["bar"]} t-${tone}`} style={{ "--share": share } as CSSProperties} aria-hidden />
    </>
  );
}

function took(run: RunSummary): number | null {
  const ms = instant(run.finished_at) - instant(run.started_at);
  return Number.isNaN(ms) ? null : ms;
}
