/** The steps as a plain list. */
import { List } from "../parts/list/list";
import { Empty } from "../parts/states";
import { Status } from "../parts/status";
import { saidError } from "../look/errors";
import { kindOf } from "../look/kinds";
import { roughSpan, span } from "../look/time";
import { elapsed, segments } from "../timeline/segments";
import type { Look } from "./moment";
import { firstLine, shownName, stateOfStep } from "./nodes";
import type { Places } from "./place";
import { isFailure, isOver } from "./travel";
import styles from "./tabs.module.css";

interface Props {
  look: Look;
  now: number;
  selected: string | null;
  onSelect: (name: string) => void;
  places: Places;
}

const ROW = 36;

export function StepsTab({ look, now, selected, onSelect, places }: Props) {
  const { failedOnly } = places.place;
  const labels = new Map(look.graph.steps.map((one) => [one.name, one.label]));
  const all = look.outline.steps;
  const failed = all.filter((one) => isFailure(one.status) || one.error !== null);
  const steps = failedOnly ? failed : all;
  const begin = Date.parse(look.outline.begun_at ?? look.outline.run.started_at ?? "");
  return (
    <div className={styles["tab"]}>
      <div className={styles["bar"]}>
        <label className={styles["only"]}>
          <input type="checkbox" checked={failedOnly} onChange={(event) => places.go({ failedOnly: event.currentTarget.checked }, true)} />
          Failed only
          <span>{failed.length}</span>
        </label>
        {(look.outline.left_out ?? 0) > 0 && <span className={styles["soft"]}>{look.outline.left_out} older operations are not shown.</span>}
      </div>
      {steps.length === 0 ? (
        <Empty title={failedOnly ? "No step has failed" : "This run has no steps yet"} />
      ) : (
        <div className={styles["table"]} role="table" aria-label="Steps" aria-rowcount={steps.length}>
          <div className={`${styles["steps"]} ${styles["heads"]}`} role="row">
            <span role="columnheader">Status</span>
            <span role="columnheader">Step</span>
            <span role="columnheader">Does</span>
            <span role="columnheader">Began after</span>
            <span role="columnheader">Took</span>
            <span role="columnheader">Tries</span>
            <span role="columnheader">Error</span>
          </div>
          <List
            count={steps.length}
            row={ROW}
            label="Steps"
            role="rowgroup"
            render={(i) => {
              const step = steps[i];
              if (!step) return null;
              const from = Date.parse(step.started_at ?? "");
              const long = elapsed(segments(step, now), look.time ?? now);
              const tries = step.tries.length + step.more_tries || (step.finished_at && step.duration_ms !== null ? 1 : 0);
              return (
                <div
                  key={step.name}
                  className={styles["steps"]}
                  role="row"
                  data-selected={step.name === selected || undefined}
                  onClick={() => onSelect(step.name)}
                >
                  <span role="cell">
                    <Status of={stateOfStep(step)} quiet />
                  </span>
                  <span role="cell">
                    <button type="button" className={styles["name"]} aria-pressed={step.name === selected} title={step.name}>
                      {shownName(step.name)}
                    </button>
                  </span>
                  <span role="cell" className={styles["soft"]}>
                    {labels.get(step.name) || kindOf(step.kind).word}
                  </span>
                  <span role="cell" className={styles["soft"]}>
                    {Number.isNaN(from) || Number.isNaN(begin) ? "" : span(Math.max(0, from - begin))}
                  </span>
                  <span role="cell">{long === null ? "" : isOver(step.status) ? span(long) : roughSpan(long)}</span>
                  <span role="cell" className={styles["soft"]}>
                    {tries || ""}
                  </span>
                  <span role="cell" className={styles["wrong"]} title={step.error ?? undefined}>
                    {step.error === null ? "" : saidError(firstLine(step.error))}
                  </span>
                </div>
              );
            }}
          />
        </div>
      )}
    </div>
  );
}
