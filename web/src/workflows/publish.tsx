/** Publish a draft, after its rehearsal over recorded runs: what would happen is shown before it does. */
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { Link } from "wouter";
import { saying } from "../api/client";
import type { Workflow } from "../api/documents";
import { diffQuery, draftQuery, type Progressed, publish, type Rehearsal, rehearse } from "../api/workflows";
import { count } from "../look/numbers";
import { ActDialog, useActing } from "../parts/act";
import { Button } from "../parts/button";
import { SelectField, Tick } from "../parts/field";
import { Notice } from "../parts/notice";
import { toast } from "../parts/toast";
import { saidDiff } from "./diff_words";
import { RehearsalView } from "./rehearsal";
import { placeOf } from "./state";
import styles from "./dialogs.module.css";

const STAGES: Readonly<Record<string, string>> = {
  moves: "Looks which runs in flight could be moved",
  in_flight: "Rehearses runs in flight",
  finished: "Rehearses finished runs",
};
const DAYS = [1, 7, 30];

type Outcome = { state: "works"; progress: Progressed | null } | { state: "failed"; error: unknown } | { state: "done"; found: Rehearsal; revision: number };

export function PublishDialog({ workflow, onClose }: { workflow: Workflow; onClose: () => void }) {
  const draft = useQuery(draftQuery(workflow.name, workflow.draft != null));
  if (!workflow.draft) {
    return (
      <Plain title={`Publish ${workflow.name}`} onClose={onClose}>
        <p>There is no draft: version {workflow.current_version} is what was saved last.</p>
      </Plain>
    );
  }
  if (draft.error) {
    return (
      <Plain title={`Publish ${workflow.name}`} onClose={onClose}>
        <Notice tone="fail">{saying(draft.error)}</Notice>
      </Plain>
    );
  }
  const problems = draft.data?.problems ?? [];
  if (problems.length > 0) {
    return (
      <Plain title={`Publish ${workflow.name}`} onClose={onClose}>
        <Notice tone="fail">The draft cannot be published yet. Mend these and save it again:</Notice>
        <ul className={styles["groups"]}>
          {problems.map((one) => (
            <li key={`${one.field} ${one.message}`}>
              {one.field && <code>{one.field}</code>} {one.message}
            </li>
          ))}
        </ul>
      </Plain>
    );
  }
  if (!draft.data) return null;
  return <Rehearsed key={draft.data.revision} workflow={workflow} revision={draft.data.revision} onClose={onClose} />;
}

function Plain({ title, onClose, children }: { title: string; onClose: () => void; children: React.ReactNode }) {
  const acting = useActing();
  return (
    <ActDialog title={title} acting={acting} onClose={onClose} leave="Close" wide>
      {children}
    </ActDialog>
  );
}

function Rehearsed({ workflow, revision, onClose }: { workflow: Workflow; revision: number; onClose: () => void }) {
  const queries = useQueryClient();
  const acting = useActing();
  const [days, setDays] = useState(7);
  const [anyway, setAnyway] = useState(false);
  const { outcome, again } = useRehearsal(workflow.name, days, revision);
  const hasVersion = workflow.current_version > 0;
  const diff = useQuery({ ...diffQuery(workflow.name, String(workflow.current_version), "draft"), enabled: hasVersion });
  const found = outcome.state === "done" ? outcome.found : null;
  const version = found?.version ?? workflow.current_version + 1;
  const isSafe = found !== null && found.failing === 0;
  const go = async () => {
    // After a refusal nothing is read again by itself: its reason stays, and a person asks for the next rehearsal.
    if (!(await acting.run(() => publish(workflow.name, revision)))) return;
    void queries.invalidateQueries({ queryKey: ["workflows"] });
    void queries.invalidateQueries({ queryKey: ["triggers"] });
    toast(`Version ${version} of ${workflow.name} is current`);
    onClose();
  };
  return (
    <ActDialog
      title={`Publish ${workflow.name}`}
      word={`Publish as version ${version}`}
      wide
      acting={acting}
      danger={!isSafe && anyway}
      disabled={!isSafe && !anyway}
      onClose={onClose}
      onDo={() => void go()}
      more={
        outcome.state !== "works" && (
          <Button kind="ghost" onClick={() => void queries.invalidateQueries({ queryKey: ["workflows", "one", workflow.name] }).then(again)}>
            Rehearse again
          </Button>
        )
      }
    >
      <p className={styles["soft"]}>
        Revision {revision} of the draft.{" "}
        {hasVersion && diff.data && (
          <>
            Against version {workflow.current_version}: {saidDiff(diff.data)}{" "}
            <Link href={placeOf(workflow.name, "versions", "/draft")}>
              <u>Look at what differs</u>
            </Link>
          </>
        )}
        {!hasVersion && "It becomes the first version."}
      </p>
      {outcome.state === "works" && <Meter progress={outcome.progress} />}
      {outcome.state === "failed" && <Notice tone="fail">The rehearsal did not come to its end. {saying(outcome.error)}</Notice>}
      {found && <RehearsalView found={found} />}
      <div className={styles["short"]}>
        <SelectField label="Rehearse finished runs of" value={String(days)} onChange={(event) => setDays(Number(event.currentTarget.value))}>
          {DAYS.map((one) => (
            <option key={one} value={String(one)}>
              the last {one === 1 ? "day" : `${one} days`}
            </option>
          ))}
        </SelectField>
      </div>
      {outcome.state !== "works" && !isSafe && (
        <Tick
          label={found ? `Publish although ${count(found.failing)} of the rehearsed runs would fail` : "Publish without a rehearsal"}
          checked={anyway}
          onTick={setAnyway}
        />
      )}
    </ActDialog>
  );
}

/** A rehearsal that begins with the dialog, and again when its days change. Leaving stops it. */
function useRehearsal(workflow: string, days: number, revision: number): { outcome: Outcome; again: () => void } {
  const [outcome, setOutcome] = useState<Outcome>({ state: "works", progress: null });
  const [turn, setTurn] = useState(0);
  useEffect(() => {
    const stop = new AbortController();
    setOutcome({ state: "works", progress: null });
    rehearse(workflow, days, (progress) => setOutcome({ state: "works", progress }), stop.signal).then(
      (found) => setOutcome({ state: "done", found, revision }),
      (error: unknown) => !stop.signal.aborted && setOutcome({ state: "failed", error }),
    );
    return () => stop.abort();
  }, [workflow, days, revision, turn]);
  return { outcome, again: () => setTurn((n) => n + 1) };
}

function Meter({ progress }: { progress: Progressed | null }) {
  const word = STAGES[progress?.stage ?? ""] ?? "Begins";
  return (
    <div className={styles["meter"]} role="status">
      <span>
        {word}
        {progress && progress.total > 0 && `: ${count(progress.done)} of ${count(progress.total)}`}…
      </span>
      <progress aria-label={word} value={progress?.done ?? 0} max={Math.max(1, progress?.total ?? 1)} />
    </div>
  );
}
