import { ChevronRight } from "lucide-react";
import type { Frame, StepDetail } from "../../api/run";
import { CopyButton } from "../../parts/copy";
import { JsonTree } from "../../parts/json/tree";
import styles from "./panel.module.css";

/** What went wrong: the words first, then the lines of the user's own code; the whole stack is folded. */
export function ErrorPart({ detail }: { detail: StepDetail }) {
  const { error } = detail;
  if (!error) return <p className={styles["empty"]}>It has no error at this moment.</p>;
  const frames = error.frames ?? [];
  const own = frames.filter((one) => one.user);
  const stack = frames.map(lineOf).join("\n");
  return (
    <div className={styles["error"]} tabIndex={0} role="region" aria-label="Error">
      <p className={styles["message"]}>
        <span>{error.message}</span>
        <CopyButton text={`${error.code}: ${error.message}${stack ? `\n${stack}` : ""}`} what="the error" />
      </p>
      <p className={styles["code"]}>
        <code>{error.code}</code>
      </p>
      {own.length > 0 && (
        <section>
          <h3>Your code</h3>
          <ol className={styles["frames"]}>
            {own.toReversed().map((one) => (
              <FrameLine key={`${one.file}:${one.line}:${one.name}`} frame={one} />
            ))}
          </ol>
        </section>
      )}
      {frames.length > own.length && (
        <details className={styles["stack"]}>
          <summary>
            <ChevronRight className="icon small" aria-hidden />
            Whole stack, {frames.length} lines
          </summary>
          <ol className={styles["frames"]}>
            {frames.toReversed().map((one, i) => (
              <FrameLine key={i} frame={one} />
            ))}
          </ol>
        </details>
      )}
      {detail.status_code != null && detail.output != null && (
        <section className={styles["answered"]}>
          <h3>It answered {detail.status_code}</h3>
          <div className={styles["detail"]}>
            <JsonTree value={detail.output} label="Answer" />
          </div>
        </section>
      )}
      {error.detail !== null && error.detail !== undefined && typeof error.detail === "object" && (
        <details className={styles["stack"]}>
          <summary>
            <ChevronRight className="icon small" aria-hidden />
            Details
          </summary>
          <div className={styles["detail"]}>
            <JsonTree value={error.detail} label="Details of the error" />
          </div>
        </details>
      )}
    </div>
  );
}

function FrameLine({ frame }: { frame: Frame }) {
  return (
    <li data-user={frame.user || undefined}>
      <span>
        {frame.file}:{frame.line} in <b>{frame.name}</b>
      </span>
      {frame.source && <code>{frame.source}</code>}
    </li>
  );
}

function lineOf(frame: Frame): string {
  return `  ${frame.file}:${frame.line} in ${frame.name}${frame.source ? `\n    ${frame.source}` : ""}`;
}
