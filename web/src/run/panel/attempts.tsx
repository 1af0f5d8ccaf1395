import type { Attempt, RunStep, StepDetail } from "../../api/run";
import { exact, span } from "../../look/time";
import { Status } from "../../parts/status";
import styles from "./panel.module.css";

/** The attempts of a step, the last one first. */
export function Attempts({ detail, step }: { detail: StepDetail; step: RunStep }) {
  const attempts = detail.attempts ?? [];
  if (!attempts.length) return <p className={styles["empty"]}>{step.status === "running" ? "Its first attempt runs." : "It was not tried."}</p>;
  return (
    <ol className={styles["attempts"]} tabIndex={0} aria-label="Attempts">
      {attempts.toReversed().map((one) => (
        <OneAttempt key={`${one.attempt} ${one.finished_at}`} one={one} />
      ))}
    </ol>
  );
}

function OneAttempt({ one }: { one: Attempt }) {
  const from = Date.parse(one.started_at);
  return (
    <li>
      <span className={styles["number"]}>{one.attempt}</span>
      <Status of={one.status ?? "failed"} />
      <time title={exact(from, "utc")}>{exact(from, "local").slice(11)}</time>
      <b>{one.duration_ms === null ? "" : span(one.duration_ms)}</b>
      {one.error && (
        <p>
          <code>{one.error.code}</code> {one.error.message}
        </p>
      )}
      {one.retry_at && <small>Next try {span(Date.parse(one.retry_at) - Date.parse(one.finished_at))} later</small>}
    </li>
  );
}
