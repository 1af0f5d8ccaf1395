/** A rule as JSON: check it, and save everything of it at once. If it was changed meanwhile, nothing is overwritten. */
import { useQueryClient } from "@tanstack/react-query";
import { DetentError, type FieldProblem, PreconditionFailed } from "detent-client";
import { useMemo, useState } from "react";
import { useLocation } from "wouter";
import { saying } from "../api/client";
import { ruleQuery, saveRule, type TaggedRule, validateRule } from "../api/rules";
import { several } from "../look/numbers";
import { Button } from "../parts/button";
import { Dialog } from "../parts/dialog";
import { CodeField } from "../parts/field";
import { Notice } from "../parts/notice";
import { parsed } from "../parts/parse";
import { Time } from "../parts/time";
import { toast } from "../parts/toast";
import { usePlace } from "../shell/place";
import { DiffView } from "../workflows/diff";
import { asDiff, editable, newRule, rulePlace } from "./words";
import styles from "./edit.module.css";

/** What became of the last attempt. */
type Outcome =
  | { kind: "fine"; warnings: readonly string[] }
  | { kind: "refused"; message: string; problems: readonly FieldProblem[] }
  | { kind: "changed"; error: PreconditionFailed };

export default function EditDialog({ tagged, onClose }: { tagged: TaggedRule | null; onClose: () => void }) {
  // What a person writes is not replaced when the rule is read again: it is saved over the state that was opened.
  const [opened] = useState(tagged);
  const entity = usePlace().get("entity") || "order";
  const first = useMemo(() => JSON.stringify(opened ? editable(opened.rule) : newRule(entity), null, 2), [opened, entity]);
  const [text, setText] = useState(first);
  const [busy, setBusy] = useState(false);
  const [outcome, setOutcome] = useState<Outcome | null>(null);
  const queries = useQueryClient();
  const [, go] = useLocation();
  const key = opened?.rule.key ?? null;
  const read = parsed(text);
  const attempt = async (job: (document: unknown) => Promise<void>) => {
    if (read.problem !== null || busy) return;
    setBusy(true);
    try {
      await job(read.value);
    } catch (error) {
      if (error instanceof PreconditionFailed) setOutcome({ kind: "changed", error });
      else setOutcome({ kind: "refused", ...(error instanceof DetentError ? { message: error.message, problems: error.problems } : { message: saying(error), problems: [] }) });
    } finally {
      setBusy(false);
    }
  };
  const check = () =>
    attempt(async (document) => {
      const { warnings } = await validateRule(key, document);
      setOutcome({ kind: "fine", warnings });
    });
  const save = () =>
    attempt(async (document) => {
      const saved = await saveRule(key, document, opened?.etag ?? "");
      for (const name of ["rules", "workflows", "entities"]) void queries.invalidateQueries({ queryKey: [name] });
      toast(saved.version === opened?.rule.version ? "Saved" : `Saved: version ${saved.version}`);
      if (key === null) go(rulePlace(saved.key));
      else onClose();
    });
  const startAgain = () => {
    onClose();
    if (key !== null) void queries.invalidateQueries({ queryKey: ruleQuery(key).queryKey });
  };
  return (
    <Dialog
      open
      wide
      onClose={onClose}
      title={opened ? `Edit ${opened.rule.name}` : "New rule"}
      actions={
        <>
          <Button onClick={onClose}>Do nothing</Button>
          <Button disabled={busy || read.problem !== null} onClick={() => void check()}>
            Validate
          </Button>
          <Button kind="primary" needs="save_rule" disabled={busy || read.problem !== null || (opened !== null && text === first)} onClick={() => void save()}>
            {opened ? "Save a new version" : "Save it"}
          </Button>
        </>
      }
    >
      <div className={styles["body"]}>
        <CodeField
          label="Rule as JSON"
          value={text}
          rows={18}
          problem={read.problem}
          hint="Edges name actions by their ids, or as temp:N, their place in the list. Ctrl Enter saves."
          onText={(next) => {
            setText(next);
            setOutcome(null);
          }}
          onSend={() => void save()}
        />
        {outcome?.kind === "fine" && <Fine warnings={outcome.warnings} />}
        {outcome?.kind === "refused" && <Refused message={outcome.message} problems={outcome.problems} />}
        {outcome?.kind === "changed" && <Changed error={outcome.error} mine={opened} onAgain={startAgain} />}
      </div>
    </Dialog>
  );
}

function Fine({ warnings }: { warnings: readonly string[] }) {
  if (warnings.length === 0) return <Notice>It can be saved.</Notice>;
  return (
    <Notice tone="hold">
      It can be saved, with {several(warnings.length, "remark")}:
      <ul className={styles["problems"]}>
        {warnings.map((one) => (
          <li key={one}>{one}</li>
        ))}
      </ul>
    </Notice>
  );
}

function Refused({ message, problems }: { message: string; problems: readonly FieldProblem[] }) {
  return (
    <Notice tone="fail">
      {problems.length > 1 ? `Nothing was saved: ${several(problems.length, "problem")}.` : `Nothing was saved: ${message}`}
      {problems.length > 0 && (
        <ul className={styles["problems"]} aria-label="Problems">
          {problems.map((one, i) => (
            <li key={i}>
              {one.field && <code>{one.field}</code>} {one.message}
            </li>
          ))}
        </ul>
      )}
    </Notice>
  );
}

/** The rule is not as it was opened: who changed it, when, and what. */
function Changed({ error, mine, onAgain }: { error: PreconditionFailed; mine: TaggedRule | null; onAgain: () => void }) {
  const { current } = error;
  const names = new Map((mine?.rule.actions ?? []).map((one) => [one.id, one.name]));
  return (
    <Notice tone="hold" actions={<Button onClick={onAgain}>Close and read it again</Button>}>
      {current ? (
        <>
          Nothing was saved: {current.updated_by ?? "another caller"} has changed it <Time at={current.updated_date} />. It is at version {current.version}.
          {current.difference && (
            <div className={styles["theirs"]}>
              <DiffView diff={asDiff(current.difference, names, mine?.rule.version ?? 0, current.version)} step="action" />
            </div>
          )}
        </>
      ) : (
        `Nothing was saved: ${error.message}`
      )}
    </Notice>
  );
}
