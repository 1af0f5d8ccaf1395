import { SquareTerminal } from "lucide-react";
import type { CutValue, RunStep, StepDetail } from "../../api/run";
import { bytes } from "../../look/numbers";
import { BlobLinks } from "../../parts/blob_links";
import { Button } from "../../parts/button";
import { copyText } from "../../parts/copy";
import { JsonTree } from "../../parts/json/tree";
import { toast } from "../../parts/toast";
import { isOver } from "../travel";
import styles from "./panel.module.css";

/** A wait asks no person by name: this says who can let the run go on. */
const ANSWERING = "Its output will be the answer. Give it here or in the inbox; a program that has its address can give it too.";
const isAsking = (step: RunStep) => step.kind === "wait" && step.status === "waiting" && step.reason !== "uncertain";

/** The result of a step: status and headers too, where it has them. */
export function Output({ detail, step, label }: { detail: StepDetail; step: RunStep; label: string }) {
  const { output, status_code, headers, curl } = detail;
  if (output === undefined && status_code == null) {
    return <p className={styles["empty"]}>{isOver(step.status) ? "It has no output." : isAsking(step) ? ANSWERING : "It has no output yet."}</p>;
  }
  const isWhole = status_code == null && headers == null;
  const value = isWhole ? output : { ...(status_code == null ? {} : { status_code }), ...(headers == null ? {} : { headers }), body: output };
  return (
    <>
      {detail.is_truncated && <p className={styles["note"]}>The response was larger than the limit: only its beginning was stored.</p>}
      <BlobLinks value={output} />
      {isCut(output) ? (
        <Cut value={output} label={label} />
      ) : (
        <div className={styles["tree"]}>
          <JsonTree value={value} label={label} tools={curl ? <CurlButton curl={curl} /> : null} />
        </div>
      )}
    </>
  );
}

export function CurlButton({ curl }: { curl: string }) {
  return (
    <Button kind="ghost" title={curl} onClick={() => void copyText(curl).then(() => toast("Copied as curl"))}>
      <SquareTerminal className="icon small" aria-hidden />
      curl
    </Button>
  );
}

export function isCut(value: unknown): value is CutValue {
  return typeof value === "object" && value !== null && "truncated" in value && "bytes" in value && "part" in value;
}

/** The beginning of a value that is too large to be shown. */
export function Cut({ value, label }: { value: CutValue; label: string }) {
  return (
    <div className={styles["cut"]}>
      <p className={styles["note"]}>
        {label} has {bytes(value.bytes)}. This is its beginning; the export of the run has all of it.
      </p>
      <pre tabIndex={0}>{value.part}</pre>
    </div>
  );
}
