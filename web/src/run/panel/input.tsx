import { useState } from "react";
import type { StepDetail } from "../../api/run";
import { JsonTree } from "../../parts/json/tree";
import { CurlButton, isCut } from "./output";
import styles from "./panel.module.css";

/** What the step was given: each expression with its value, then all of it as it was sent or as it was written. */
export function Input({ detail }: { detail: StepDetail }) {
  const [shown, setShown] = useState<"sent" | "written">("sent");
  const expressions = detail.expressions ?? [];
  const hasRendered = detail.rendered !== undefined;
  const value = shown === "sent" && hasRendered ? detail.rendered : detail.template;
  return (
    <div className={styles["input"]}>
      {expressions.length > 0 && (
        <dl className={styles["pairs"]} tabIndex={0} aria-label="Expressions">
          {expressions.map((one) => (
            <div key={`${one.at} ${one.source}`}>
              <dt>{one.at}</dt>
              <dd className={styles["source"]}>{one.source}</dd>
              {one.error == null ? <dd className={styles["value"]}>{shortly(one.value)}</dd> : <dd className={styles["wrong"]}>{one.error}</dd>}
            </div>
          ))}
        </dl>
      )}
      <div className={styles["switch"]} role="group" aria-label="As sent or as written">
        <button type="button" aria-pressed={shown === "sent"} onClick={() => setShown("sent")} disabled={!hasRendered}>
          As sent
        </button>
        <button type="button" aria-pressed={shown === "written" || !hasRendered} onClick={() => setShown("written")}>
          As written
        </button>
      </div>
      {value === undefined || value === null ? (
        <p className={styles["empty"]}>It takes no input.</p>
      ) : (
        <div className={styles["tree"]}>
          <JsonTree value={value} label={shown === "sent" && hasRendered ? "Input as sent" : "Input as written"} tools={detail.curl ? <CurlButton curl={detail.curl} /> : null} />
        </div>
      )}
    </div>
  );
}

/** A value on one line, cut where it is long. */
function shortly(value: unknown): string {
  if (isCut(value)) return `${value.part.slice(0, 200)}…`;
  const text = JSON.stringify(value) ?? "nothing";
  return text.length > 300 ? `${text.slice(0, 300)}…` : text;
}
