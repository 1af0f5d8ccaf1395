/** Start a run by hand: which workflow, with which input; and its result if a person waits for it. */
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { ArrowRight, History } from "lucide-react";
import { useRef, useState } from "react";
import { Link, useLocation } from "wouter";
import { saying } from "../api/client";
import { useMe } from "../api/session";
import { lastInput, type Started, startRun, workflowsQuery } from "../api/workflows";
import { ActDialog, useActing } from "../parts/act";
import { Allowed } from "../parts/allowed";
import { Button } from "../parts/button";
import { CodeField, SelectField, TextField, Tick } from "../parts/field";
import { JsonBox } from "../parts/json/box";
import { Notice } from "../parts/notice";
import { parsed } from "../parts/parse";
import { Status } from "../parts/status";
import { newKey } from "./key";
import styles from "./dialogs.module.css";

interface Props {
  /** The workflow that is started; with `choose` only the one that is proposed. */
  workflow?: string | undefined;
  /** Whether a person chooses the workflow, and goes to the run at once unless they want to wait here. */
  choose?: boolean;
  /** The version that is started; the current one if it is empty. */
  version?: string;
  onClose: () => void;
}

export function StartDialog(props: Props) {
  return (
    <Allowed needs="trigger_workflow" {...(props.choose || props.workflow === undefined ? {} : { workflow: props.workflow })} onClose={props.onClose}>
      <Start {...props} />
    </Allowed>
  );
}

function Start({ workflow, choose = false, version = "", onClose }: Props) {
  const acting = useActing();
  const queries = useQueryClient();
  const [, go] = useLocation();
  const only = useMe()?.workflows ?? null;
  const { data, error } = useQuery({ ...workflowsQuery({ limit: 200 }), enabled: choose });
  const workflows = data?.filter((one) => only === null || only.includes(one.name));
  const [chosen, setChosen] = useState(workflow);
  const name = chosen ?? workflows?.[0]?.name ?? "";
  const [text, setText] = useState("{}");
  const [wait, setWait] = useState(!choose);
  const [hero, setHero] = useState("");
  const [started, setStarted] = useState<Started | null>(null);
  const [noLast, setNoLast] = useState(false);
  const key = useRef({ wish: "", value: "" });
  const { value, problem } = parsed(text);
  const start = async () => {
    if (problem || !name) return;
    const wish = JSON.stringify([name, text, hero, version]);
    if (key.current.wish !== wish || started) key.current = { wish, value: newKey() };
    setStarted(null);
    await acting.run(async () => {
      const run = await startRun(name, { body: value, wait, version, hero, key: key.current.value });
      if (wait) return setStarted(run);
      onClose();
      go(`/runs/${run.run_id}`);
    });
    void queries.invalidateQueries({ queryKey: ["workflows", "one", name] });
    void queries.invalidateQueries({ queryKey: ["runs"] });
  };
  const useLast = async () => {
    const found = await lastInput(name).catch(() => undefined);
    if (found === undefined) setNoLast(true);
    else setText(JSON.stringify(found, null, 2));
  };
  return (
    <ActDialog
      title={choose ? "Start a run" : `Start ${name}`}
      word={started ? "Start another" : acting.busy ? (wait ? "Runs…" : "Starts…") : version ? `Start version ${version}` : "Start a run"}
      leave={started ? "Close" : "Do nothing"}
      acting={acting}
      wide
      disabled={problem !== null || name === ""}
      onClose={onClose}
      onDo={() => void start()}
    >
      {choose && (
        <SelectField label="Workflow" problem={error && saying(error)} value={name} onChange={(event) => setChosen(event.currentTarget.value)}>
          {/* The one that is proposed is an option while the list is read, and if the list does not have it. */}
          {name !== "" && !workflows?.some((one) => one.name === name) && <option value={name}>{name}</option>}
          {workflows?.map((one) => (
            <option key={one.id} value={one.name}>
              {one.name}
            </option>
          ))}
        </SelectField>
      )}
      <CodeField
        label="Input, as JSON"
        hint={
          <>
            The whole of it is <code>trigger.body</code>. Ctrl Enter starts the run.
          </>
        }
        value={text}
        problem={problem}
        onText={setText}
        onSend={() => void start()}
      />
      <div className={styles["row"]}>
        <Button kind="ghost" onClick={() => void useLast()}>
          <History className="icon" aria-hidden />
          Take the input of the last run
        </Button>
        {noLast && <span className={styles["soft"]}>There is no run yet.</span>}
      </div>
      <TextField label="About (type:id)" placeholder="order:8841" value={hero} onChange={(event) => setHero(event.currentTarget.value.trim())} />
      <Tick label="Wait for its result, 25 seconds at most" checked={wait} onTick={setWait} />
      {started && (
        <section className={styles["result"]} aria-live="polite">
          <p>
            <Status of={started.status === "pending" ? "queued" : started.status} />
            <Link href={`/runs/${started.run_id}`} className={styles["go"] ?? ""}>
              Open the run
              <ArrowRight className="icon small" aria-hidden />
            </Link>
          </p>
          {started.error && <Notice tone="fail">{started.error}</Notice>}
          {started.output !== undefined && started.output !== null && (
            <JsonBox value={started.output} label="Output" />
          )}
        </section>
      )}
    </ActDialog>
  );
}
