/** The data of a run: what it was given, what came out, and the result of each step. */
import { useQuery } from "@tanstack/react-query";
import { stepQuery, wholeQuery } from "../api/run";
import { BlobLinks } from "../parts/blob_links";
import { JsonTree } from "../parts/json/tree";
import { List } from "../parts/list/list";
import { Empty, Failure, isLost, Waiting } from "../parts/states";
import { Status } from "../parts/status";
import { lookOf } from "../look/status";
import type { Look } from "./moment";
import { stateOfStep } from "./nodes";
import { Output } from "./panel/output";
import type { Places } from "./place";
import styles from "./tabs.module.css";

const ROW = 32;
const INPUT = ":input";
const RESULT = ":output";

export function DataTab({ id, look, places }: { id: string; look: Look; places: Places }) {
  const wanted = places.place.of ?? INPUT;
  const rows = [
    { key: INPUT, word: "Input", state: null },
    { key: RESULT, word: "Output", state: null },
    ...look.outline.steps.map((one) => ({ key: one.name, word: one.name, state: stateOfStep(one) })),
  ];
  const show = (of: string) => places.go({ of }, true);
  return (
    <div className={styles["data"]}>
      <List
        className={styles["side"] ?? ""}
        count={rows.length}
        row={ROW}
        label="What has data"
        render={(i) => {
          const row = rows[i];
          if (!row) return null;
          return (
            <div key={row.key} role="listitem" className={styles["source"]}>
              <button type="button" aria-pressed={row.key === wanted} onClick={() => show(row.key)} title={row.word}>
                {row.state === null ? <b>{row.word}</b> : <StepWord word={row.word} state={row.state} />}
              </button>
            </div>
          );
        }}
      />
      <div className={styles["value"]}>
        {wanted === INPUT || wanted === RESULT ? <Whole id={id} of={wanted} /> : <StepData id={id} step={wanted} look={look} />}
      </div>
    </div>
  );
}

function StepWord({ word, state }: { word: string; state: string }) {
  return (
    <>
      <Status of={state} bare quiet />
      <span className={lookOf(state).tone === "idle" ? styles["soft"] : undefined}>{word}</span>
    </>
  );
}

function Whole({ id, of }: { id: string; of: string }) {
  const { data, error, refetch } = useQuery(wholeQuery(id));
  if (isLost(error, data)) return <Failure error={error} what="The data could not be shown" onRetry={() => void refetch()} />;
  if (!data) return <Waiting what="The data are loading" />;
  const value: unknown = of === INPUT ? data.input : data.output;
  if (value === null || value === undefined) return <Empty title={of === INPUT ? "It was started without input" : "It has no output yet"} />;
  return (
    <>
      <BlobLinks value={value} />
      <JsonTree key={of} value={value} label={of === INPUT ? "Input of the run" : "Output of the run"} />
    </>
  );
}

function StepData({ id, step, look }: { id: string; step: string; look: Look }) {
  const state = look.outline.steps.find((one) => one.name === step);
  const { data, error, refetch } = useQuery(stepQuery(id, step, look.seq, look.seq === null ? `${state?.status}` : ""));
  if (isLost(error, data)) return <Failure error={error} what={`The output of ${step} could not be shown`} onRetry={() => void refetch()} />;
  if (!data || !state) return <Waiting what="The data are loading" />;
  return <Output key={step} detail={data} step={state} label={`Output of ${step}`} />;
}
