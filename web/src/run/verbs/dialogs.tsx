/** The dialogs of the verbs. Which one is open is in the URL, so that it can be linked to. */
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useId, useMemo, useRef, useState } from "react";
import { useLocation } from "wouter";
import { saying } from "../../api/client";
import {
  act, answer, currentQuery, type GraphDocument, graphQuery, moveQuery, type Outline, outlineQuery, resolve, retryQuery, stepQuery, wholeQuery,
} from "../../api/run";
import type { Operation } from "../../api/policy";
import { several } from "../../look/numbers";
import { distance, moment } from "../../look/time";
import { now as serverNow } from "../../api/session";
import { Allowed } from "../../parts/allowed";
import { Button } from "../../parts/button";
import { CodeField } from "../../parts/field";
import { parsed } from "../../parts/parse";
import { choicesOf, draftOf } from "../../people/choices";
import { Dialog } from "../../parts/dialog";
import { JsonTree } from "../../parts/json/tree";
import { toast } from "../../parts/toast";
import { afterSkip } from "../after_skip";
import { type Places, urlOf } from "../place";
import { isOver } from "../travel";
import { currentSteps, uncertainStep, waitingStep } from "./verbs";
import styles from "./verbs.module.css";

export interface DialogProps {
  id: string;
  outline: Outline;
  graph: GraphDocument;
  places: Places;
}

const DIALOGS: Readonly<Record<string, [Operation, (props: DialogProps) => ReactNode]>> = {
  answer: ["answer_run_step", Answer],
  cancel: ["cancel_run", Cancel],
  finish: ["finish_run", Finish],
  fork: ["fork_run", Fork],
  move: ["move_run", Move],
  reattempt: ["reattempt_run_step", Reattempt],
  rerun: ["rerun_run", Rerun],
  resolve: ["resolve_run_step", Resolve],
  retry: ["retry_run", Retry],
  skip: ["skip_run_step", Skip],
};

export function VerbDialog(props: DialogProps) {
  const [needs, Verb] = DIALOGS[props.places.place.verb ?? ""] ?? [];
  if (!Verb) return null;
  return (
    <Allowed needs={needs} onClose={() => props.places.go({ verb: null }, true)}>
      <Verb {...props} />
    </Allowed>
  );
}

/** Sends once, shows what went wrong in the dialog, and closes it when it went well. */
function useSend({ id, places }: DialogProps) {
  const queries = useQueryClient();
  const [state, setState] = useState<{ busy: boolean; error: string | null }>({ busy: false, error: null });
  const close = () => places.go({ verb: null }, true);
  const send = async (job: () => Promise<string>) => {
    setState({ busy: true, error: null });
    try {
      const said = await job();
      void queries.invalidateQueries({ queryKey: outlineQuery(id).queryKey });
      void queries.invalidateQueries({ queryKey: graphQuery(id).queryKey });
      void queries.invalidateQueries({ queryKey: ["waits"] });
      toast(said);
      return true;
    } catch (error) {
      setState({ busy: false, error: saying(error) });
      return false;
    }
  };
  return { ...state, send, close };
}

/** Sends what starts a new run, and goes there. The same wish sent twice starts one run. */
function useStart(props: DialogProps) {
  const sending = useSend(props);
  const [, navigate] = useLocation();
  const keys = useRef(new Map<string, string>());
  const start = async (verb: string, body: unknown, said: string) => {
    const wish = JSON.stringify(body);
    const key = keys.current.get(wish) ?? newKey();
    keys.current.set(wish, key);
    await sending.send(async () => {
      const run = await act<{ id: string }>(props.id, verb, body, key);
      navigate(urlOf(run.id, {}));
      return said;
    });
  };
  return { ...sending, start };
}

/** `crypto.randomUUID` is missing where the page comes over plain HTTP from another host. */
function newKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (one) => one.toString(16).padStart(2, "0")).join("");
}

interface FrameProps {
  title: string;
  word: string;
  busy: boolean;
  error: string | null;
  onClose: () => void;
  onDo: () => void;
  danger?: boolean;
  disabled?: boolean;
  wide?: boolean;
  more?: ReactNode;
  children: ReactNode;
}

function Frame({ title, word, busy, error, onClose, onDo, danger, disabled, wide, more, children }: FrameProps) {
  return (
    <Dialog
      open
      onClose={onClose}
      title={title}
      wide={wide ?? false}
      actions={
        <>
          <Button onClick={onClose}>Close</Button>
          {more}
          <Button kind={danger ? "danger" : "primary"} disabled={busy || (disabled ?? false)} onClick={onDo}>
            {word}
          </Button>
        </>
      }
    >
      <div className={styles["body"]}>
        {children}
        {error !== null && (
          <p className={styles["error"]} role="alert">
            {error}
          </p>
        )}
      </div>
    </Dialog>
  );
}

function Cancel(props: DialogProps) {
  const { busy, error, send, close } = useSend(props);
  const open = props.outline.steps.filter((one) => !isOver(one.status) && one.status !== "pending");
  const rest = props.outline.steps.filter((one) => one.status === "pending").length;
  const children = open.filter((one) => one.child_run_id || one.items).length;
  const cancel = async () => {
    if (await send(async () => ((await act(props.id, "cancel")), "Cancelled"))) close();
  };
  return (
    <Frame title="Cancel this run" word="Cancel the run" danger busy={busy} error={error} onClose={close} onDo={() => void cancel()}>
      <p>
        {open.length > 0 ? <Names words={["Ends cancelled", "End cancelled"]} names={open.map((one) => one.name)} /> : "It ends at once."}
        {rest > 0 && ` ${several(rest, "step")} will not begin.`}
      </p>
      {children > 0 && <p>The runs that it started are cancelled too.</p>}
      <p className={styles["soft"]}>Requests that were already sent cannot be taken back. A cancelled run can be retried as a new run.</p>
    </Frame>
  );
}

function Finish(props: DialogProps) {
  const { busy, error, send, close } = useSend(props);
  const open = props.outline.steps.filter((one) => !isOver(one.status));
  const finish = async () => {
    if (await send(async () => ((await act(props.id, "finish")), "Completed"))) close();
  };
  return (
    <Frame title="Complete this run now" word="Complete the run" busy={busy} error={error} onClose={close} onDo={() => void finish()}>
      <p>
        The run ends as completed, with the output of its last step. <Names words={["Is skipped", "Are skipped"]} names={open.map((one) => one.name)} />
      </p>
    </Frame>
  );
}

function Skip(props: DialogProps) {
  const { busy, error, send, close } = useSend(props);
  const [step, choose] = useChoice(props);
  const { next, skipped } = useMemo(() => afterSkip(props.graph, step), [props.graph, step]);
  const skip = async () => {
    if (await send(async () => ((await act(props.id, "skip", { step })), `Skipped ${step}`))) close();
  };
  return (
    <Frame title="Skip a step" word={`Skip ${step}`} busy={busy} error={error} disabled={!step} onClose={close} onDo={() => void skip()}>
      <StepChoice props={props} step={step} choose={choose} />
      <p>
        {next.length > 0 && <Names words={["Is decided next", "Are decided next"]} names={next} />}{" "}
        {skipped.length > 0 && <Names words={["Needs it, and is skipped too", "Need it, and are skipped too"]} names={skipped} />}
        {next.length + skipped.length === 0 && "Nothing follows it."} An attempt in flight is stopped, and its outcome does not count.
      </p>
    </Frame>
  );
}

function Reattempt(props: DialogProps) {
  const { busy, error, send, close } = useSend(props);
  const [step, choose] = useChoice(props);
  const again = async () => {
    if (await send(async () => ((await act(props.id, "reattempt", { step })), `${step} is tried again`))) close();
  };
  return (
    <Frame title="Try a step again" word={`Try ${step} again now`} busy={busy} error={error} disabled={!step} onClose={close} onDo={() => void again()}>
      <StepChoice props={props} step={step} choose={choose} />
      <p>An attempt in flight is stopped, and its outcome does not count. If its request was sent, it may happen twice.</p>
    </Frame>
  );
}

function useChoice({ outline, places }: DialogProps): [string, (step: string) => void] {
  const open = currentSteps(outline.steps).map((one) => one.name);
  const wanted = places.place.step;
  const [step, choose] = useState(wanted !== null && open.includes(wanted) ? wanted : (open[0] ?? ""));
  return [step, choose];
}

function StepChoice({ props, step, choose }: { props: DialogProps; step: string; choose: (step: string) => void }) {
  const open = currentSteps(props.outline.steps);
  const name = useId();
  return (
    <p className={styles["field"]}>
      <label htmlFor={name}>Step</label>
      <select id={name} value={step} onChange={(event) => choose(event.currentTarget.value)}>
        {open.map((one) => (
          <option key={one.name} value={one.name}>
            {one.name} ({one.status})
          </option>
        ))}
      </select>
    </p>
  );
}

function Retry(props: DialogProps) {
  const { run } = props.outline;
  const { busy, error, start, close } = useStart(props);
  const { data: workflow } = useQuery(currentQuery(run.workflow_id));
  const current = workflow?.current_version ?? run.version;
  const [version, setVersion] = useState<"same" | "current">("same");
  const preview = useQuery(retryQuery(props.id, version));
  const retry = () => void start("retry", { version }, "Retried as a new run");
  return (
    <Frame
      title="Retry this run"
      word={preview.data ? `Retry ${several(preview.data.again.length, "step")}` : "Retry"}
      busy={busy}
      error={error ?? (preview.error ? saying(preview.error) : null)}
      disabled={!preview.data}
      onClose={close}
      onDo={retry}
    >
      <p>A new run begins at the steps that did not succeed. This one stays as it is.</p>
      {current !== run.version && (
        <fieldset className={styles["choice"]}>
          <legend>Version</legend>
          <Radio checked={version === "same"} onChoose={() => setVersion("same")} word={`Version ${run.version}, as it ran`} />
          <Radio checked={version === "current"} onChoose={() => setVersion("current")} word={`Version ${current}, the current one`} />
        </fieldset>
      )}
      {preview.data && (
        <dl className={styles["preview"]}>
          <dt>Keeps {several(preview.data.kept.length, "result")}</dt>
          <dd>{listed(preview.data.kept) || "none"}</dd>
          <dt>Runs {several(preview.data.again.length, "step")} again</dt>
          <dd>{listed(preview.data.again) || "none"}</dd>
        </dl>
      )}
    </Frame>
  );
}

function Rerun(props: DialogProps) {
  const { run } = props.outline;
  const { data: whole } = useQuery(wholeQuery(props.id));
  const { data: workflow } = useQuery(currentQuery(run.workflow_id));
  if (!whole) return null;
  return <RerunForm {...props} input={whole.input} current={workflow?.current_version ?? run.version} />;
}

function RerunForm({ input, current, ...props }: DialogProps & { input: unknown; current: number }) {
  const { busy, error, start, close } = useStart(props);
  const body = input !== null && typeof input === "object" && "body" in input ? (input as { body: unknown }).body : input;
  const original = JSON.stringify(body ?? null, null, 2);
  const [text, setText] = useState(original);
  const { value, problem } = parsed(text);
  const changed = text !== original;
  const rerun = () => {
    void start("rerun", changed ? { input: value } : {}, "Started a new run");
  };
  return (
    <Frame wide title="Run again with edits" word={changed ? "Start with this input" : "Start with the same input"} busy={busy} error={error} disabled={problem !== null} onClose={close} onDo={rerun}>
      <p>
        A new run from the beginning, on version {current}
        {current !== props.outline.run.version && ` (this one used ${props.outline.run.version})`}. Nothing of this run is kept.
      </p>
      <CodeField label="Input" value={text} onText={setText} problem={problem} rows={14} />
    </Frame>
  );
}

function Fork(props: DialogProps) {
  const { busy, error, start, close } = useStart(props);
  const names = props.outline.steps.map((one) => one.name);
  const wanted = props.places.place.step;
  const [step, choose] = useState(wanted !== null && names.includes(wanted) ? wanted : (names[0] ?? ""));
  const [given, setGiven] = useState(props.places.place.part === "output-edit");
  const detail = useQuery({ ...stepQuery(props.id, step, null), enabled: given && step !== "" });
  const [edited, setEdited] = useState<string | null>(null);
  const text = edited ?? JSON.stringify(detail.data?.output ?? null, null, 2);
  const { value, problem } = parsed(text);
  const after = useMemo(() => reachedFrom(props.graph, step), [props.graph, step]);
  const fork = () => {
    if (given) void start("fork", { step, output: value }, `Forked: ${step} has the output you gave`);
    else void start("fork", { step }, `Forked from ${step}`);
  };
  const field = useId();
  return (
    <Frame wide={given} title="Fork from a step" word={given ? "Fork with this output" : `Run again from ${step}`} busy={busy} error={error} disabled={!step || (given && problem !== null)} onClose={close} onDo={fork}>
      <p className={styles["field"]}>
        <label htmlFor={field}>Step</label>
        <select
          id={field}
          value={step}
          onChange={(event) => {
            choose(event.currentTarget.value);
            setEdited(null);
          }}
        >
          {names.map((name) => (
            <option key={name}>{name}</option>
          ))}
        </select>
      </p>
      <fieldset className={styles["choice"]}>
        <legend>What becomes of it</legend>
        <Radio checked={!given} onChoose={() => setGiven(false)} word="It runs again" />
        <Radio checked={given} onChoose={() => setGiven(true)} word="It does not run: it has the output that I write" />
      </fieldset>
      {given && <CodeField label={`Output of ${step}`} value={text} onText={setEdited} problem={problem} rows={10} />}
      <p>
        A new run on the same version. {after.length > 0 ? <Names words={["Runs again after it", "Run again after it"]} names={after} /> : "Nothing runs after it."} Results
        of the other steps are kept.
      </p>
    </Frame>
  );
}

function reachedFrom(graph: GraphDocument, step: string): string[] {
  const found = new Set<string>();
  const left = [step];
  for (let one = left.pop(); one !== undefined; one = left.pop()) {
    for (const edge of graph.edges) {
      if (edge.source === one && !found.has(edge.target)) {
        found.add(edge.target);
        left.push(edge.target);
      }
    }
  }
  return graph.steps.map((one) => one.name).filter((name) => found.has(name));
}

function Move(props: DialogProps) {
  const { run } = props.outline;
  const { busy, error, send, close } = useSend(props);
  const { data: workflow } = useQuery(currentQuery(run.workflow_id));
  const current = workflow?.current_version ?? run.version;
  const dry = useQuery({ ...moveQuery(props.id, current), enabled: current !== run.version });
  const move = async () => {
    if (await send(async () => ((await act(props.id, "move", { version: current, dry_run: false })), `Moved to version ${current}`))) close();
  };
  return (
    <Frame
      title={`Move to version ${current}`}
      word={`Move to version ${current}`}
      busy={busy}
      error={error ?? (dry.error ? saying(dry.error) : null)}
      disabled={!dry.data?.movable}
      onClose={close}
      onDo={() => void move()}
    >
      {current === run.version && <p>It has the current version already.</p>}
      {dry.data?.movable && (
        <p>
          It can be moved. Results so far are kept, and it goes on with version {current}.{" "}
          {dry.data.begins.length > 0 ? <Names words={["Begins at once", "Begin at once"]} names={dry.data.begins} /> : "Nothing begins at once."}
        </p>
      )}
      {dry.data && !dry.data.movable && (
        <>
          <p>It cannot be moved:</p>
          <ul className={styles["reasons"]}>
            {dry.data.reasons.map((one) => (
              <li key={`${one.step}${one.message}`}>
                {one.step !== null && <b>{one.step}: </b>}
                {one.message}
              </li>
            ))}
          </ul>
        </>
      )}
    </Frame>
  );
}

/** What a person found out about a step that may have happened. */
type Found = "happened" | "not" | "again";
const FOUND: readonly { found: Found; word: string; button: string }[] = [
  { found: "happened", word: "It happened: the step succeeds with the output below", button: "It happened: go on" },
  { found: "not", word: "It did not happen: the step fails", button: "It did not happen: fail the step" },
  { found: "again", word: "It may happen once more: the step runs again", button: "Run the step again" },
];

/** Nothing is chosen beforehand: a wrong answer pays twice, or never. */
function Resolve(props: DialogProps) {
  const { busy, error, send, close } = useSend(props);
  const chosen = props.outline.steps.find((one) => one.name === props.places.place.step && one.reason === "uncertain");
  const step = (chosen ?? uncertainStep(props.outline.steps))?.name ?? "";
  const [found, setFound] = useState<Found | null>(null);
  const [text, setText] = useState("null");
  const { value, problem } = parsed(text);
  const tell = async () => {
    const done = await send(async () => {
      if (found === "again") return (await act(props.id, "resume")), `${step} runs again`;
      await resolve(props.id, step, found === "happened" ? { happened: true, output: value } : { happened: false });
      return found === "happened" ? `${step} counts as done` : `${step} counts as failed`;
    });
    if (done) close();
  };
  const word = FOUND.find((one) => one.found === found)?.button ?? "Choose what you found";
  return (
    <Frame title={`Did ${step} happen?`} word={word} busy={busy} error={error} disabled={found === null || (found === "happened" && problem !== null)} onClose={close} onDo={() => void tell()}>
      <p>Its node died while it ran, so Detent cannot know. Look at the other system, then say it here.</p>
      <fieldset className={styles["choice"]}>
        <legend>What you found</legend>
        {FOUND.map((one) => (
          <Radio key={one.found} checked={found === one.found} onChoose={() => setFound(one.found)} word={one.word} />
        ))}
      </fieldset>
      {found === "happened" && <CodeField label="Output" value={text} onText={setText} problem={problem} rows={6} />}
    </Frame>
  );
}

function Answer(props: DialogProps) {
  const waits = props.outline.steps.filter((one) => one.kind === "wait" && one.status === "waiting");
  const step = waits.find((one) => one.name === props.places.place.step) ?? waitingStep(props.outline.steps);
  const { close } = useSend(props);
  if (!step) {
    return (
      <Dialog open onClose={close} title="Answer" actions={<Button onClick={close}>Close</Button>}>
        <p>No step of this run waits for an answer any more.</p>
      </Dialog>
    );
  }
  return <AnswerForm key={step.name} {...props} step={step.name} until={step.until} since={step.started_at} />;
}

function AnswerForm({ step, until, since, ...props }: DialogProps & { step: string; until: string | null; since: string | null }) {
  const { busy, error, send, close } = useSend(props);
  const detail = useQuery(stepQuery(props.id, step, null));
  const choices = useMemo(() => choicesOf(step, props.graph), [step, props.graph]);
  const [text, setText] = useState(() => JSON.stringify(draftOf(step, props.graph), null, 2));
  const [written, setWritten] = useState(choices.length === 0);
  const { value, problem } = parsed(text);
  const reply = async (payload: unknown) => {
    if (await send(async () => ((await answer(props.id, step, payload)), `Answered ${step}; the run goes on`))) close();
  };
  const now = serverNow();
  const asked = useAsked(props, detail.data?.rendered);
  const [first, ...others] = written ? [] : choices;
  return (
    <Frame
      title={`Answer ${step}`}
      word={first ? `Answer ${first.word}` : "Answer with this body"}
      busy={busy}
      error={error}
      disabled={!first && problem !== null}
      onClose={close}
      onDo={() => void reply(first ? first.body : value)}
      more={others.map((one) => (
        <Button key={one.word} disabled={busy} onClick={() => void reply(one.body)}>
          Answer {one.word}
        </Button>
      ))}
    >
      <p>
        {since && `Asked ${distance(Date.parse(since), now)}. `}
        {until ? `Without an answer it times out ${distance(Date.parse(until), now)}, at ${moment(Date.parse(until), "local", now)}.` : "It waits without a limit."}
      </p>
      {asked !== null && (
        <div className={styles["asked"]}>
          <JsonTree value={asked} label="What it is about" />
        </div>
      )}
      <details className={styles["more"]} open={written} onToggle={(event) => setWritten(event.currentTarget.open)}>
        <summary>{choices.length > 0 ? "Answer with another body" : "Body of the answer"}</summary>
        <CodeField label="Body, as JSON" value={text} onText={setText} problem={problem} rows={6} />
      </details>
    </Frame>
  );
}

/** Settings of a wait that ask nothing. */
const SETTINGS: ReadonlySet<string> = new Set(["timeout", "early"]);
/** The whole document of a longer run is too much for a dialog. */
const FEW = 300;

/** What is to be decided: what the wait itself says, else what the run was started with. */
function useAsked({ id, outline }: DialogProps, rendered: unknown): unknown {
  const own = rendered !== null && typeof rendered === "object" ? Object.entries(rendered).filter(([name]) => !SETTINGS.has(name)) : [];
  const { data } = useQuery({ ...wholeQuery(id), enabled: own.length === 0 && outline.steps.length <= FEW });
  if (own.length > 0) return Object.fromEntries(own);
  const body = data ? ((data.input as { body?: unknown }).body ?? data.input) : null;
  return body !== null && typeof body === "object" && Object.keys(body).length > 0 ? body : null;
}

function Radio({ checked, onChoose, word }: { checked: boolean; onChoose: () => void; word: string }) {
  const name = useId();
  return (
    <label htmlFor={name}>
      <input id={name} type="radio" checked={checked} onChange={onChoose} />
      {word}
    </label>
  );
}

function Names({ words: [one, many], names }: { words: [string, string]; names: readonly string[] }) {
  if (!names.length) return null;
  return (
    <>
      {names.length === 1 ? one : many}: <b>{listed(names)}</b>.
    </>
  );
}

/** Up to eight names; a thousand would not be read. */
function listed(names: readonly string[]): string {
  const shown = names.slice(0, 8).join(", ");
  return names.length > 8 ? `${shown} and ${names.length - 8} others` : shown;
}
