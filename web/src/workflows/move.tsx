/** Move runs in flight to another version: first which could be moved, then those. */
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { saying } from "../api/client";
import type { Workflow } from "../api/documents";
import { moveRuns, versionsQuery } from "../api/workflows";
import { count, several } from "../look/numbers";
import { ActDialog, useActing } from "../parts/act";
import { SelectField } from "../parts/field";
import { Notice } from "../parts/notice";
import { toast } from "../parts/toast";
import { MoveGroups } from "./rehearsal";
import styles from "./dialogs.module.css";

export function MoveDialog({ workflow, version, onClose }: { workflow: Workflow; version: string; onClose: () => void }) {
  const acting = useActing();
  const queries = useQueryClient();
  const [target, setTarget] = useState(Number(version) || workflow.current_version);
  const versions = useQuery(versionsQuery(workflow.name));
  const survey = useQuery({
    queryKey: ["workflows", "one", workflow.name, "moves", target],
    queryFn: () => moveRuns(workflow.name, target, true),
    staleTime: 0,
    gcTime: 0,
  });
  const found = survey.data;
  const move = async () => {
    let sent = 0;
    const went = await acting.run(async () => {
      sent = (await moveRuns(workflow.name, target, false)).sent;
    });
    if (!went) return;
    void queries.invalidateQueries({ queryKey: ["workflows", "one", workflow.name] });
    toast(`${several(sent, "run")} ${sent === 1 ? "is" : "are"} being moved to version ${target}`);
    onClose();
  };
  const movable = found?.movable ?? 0;
  return (
    <ActDialog
      title="Move runs in flight"
      word={movable > 0 ? `Move ${several(movable, "run")} to version ${target}` : "Move nothing"}
      wide
      acting={acting}
      disabled={movable === 0}
      onClose={onClose}
      onDo={() => void move()}
    >
      <div className={styles["form"]}>
        <SelectField label="To" value={String(target)} onChange={(event) => setTarget(Number(event.currentTarget.value))}>
          {(versions.data ?? []).map((one) => (
            <option key={one.version} value={String(one.version)}>
              version {one.version}
              {one.current ? ", current" : ""}
            </option>
          ))}
        </SelectField>
      </div>
      {survey.error ? (
        <Notice tone="fail">{saying(survey.error)}</Notice>
      ) : !found ? (
        <p role="status">Looks at the runs in flight…</p>
      ) : found.matched === 0 ? (
        <p>No run of another version is in flight.</p>
      ) : (
        <>
          <p>
            {count(found.movable)} of {several(found.matched, "run")} in flight can be moved. What has ended in them stays as it is; active steps
            keep their attempts and times.
            {found.more && " These are the oldest 1,000; do it again for the rest."}
          </p>
          <MoveGroups groups={found.groups} version={target} />
        </>
      )}
    </ActDialog>
  );
}
