/** Everything about one step, at the moment that is looked at. */
import { useQuery } from "@tanstack/react-query";
import { RotateCw, SkipForward, X } from "lucide-react";
import { Link } from "wouter";
import { type GraphDocument, type Outline, type RunStep, type StepDetail, stepQuery } from "../../api/run";
import { kindOf } from "../../look/kinds";
import { distance, moment, span } from "../../look/time";
import { count, several } from "../../look/numbers";
import { Button } from "../../parts/button";
import { Failure, isLost, Waiting } from "../../parts/states";
import { Status } from "../../parts/status";
import { TabButtons } from "../../parts/tabs";
import { hasEnded } from "../live";
import type { Look } from "../moment";
import { shownName, stateOfStep, tookOf } from "../nodes";
import { type Places, urlOf } from "../place";
import { ProgressOf } from "../progress";
import { isFailure, isOver } from "../travel";
import { Attempts } from "./attempts";
import { ErrorPart } from "./error";
import { Input } from "./input";
import { Items } from "./items";
import { Output } from "./output";
import styles from "./panel.module.css";

interface Props {
  id: string;
  look: Look;
  /** What can be done depends on how the step is now, not on how it was. */
  newest: Outline;
  graph: GraphDocument;
  step: string;
  now: number;
  places: Places;
  onClose: () => void;
}

export function StepPanel({ id, look, newest, graph, step: name, now, places, onClose }: Props) {
  const step = look.outline.steps.find((one) => one.name === name);
  const described = graph.steps.find((one) => one.name === name);
  const mark = step ? `${step.status} ${step.tries.length + step.more_tries} ${step.items?.succeeded ?? ""}` : "";
  const { data, error, refetch } = useQuery(stepQuery(id, name, look.seq, look.seq === null ? mark : ""));
  if (!step) return null;
  const parts = partsOf(step, data);
  const part = parts.find((one) => one.name === places.place.part)?.name ?? parts[0]?.name ?? "output";
  const Kind = kindOf(step.items || described?.for_each ? "map" : step.kind).icon;
  return (
    <aside className={styles["panel"]} aria-label={`Step ${name}`}>
      <header className={styles["head"]}>
        <Kind className="icon" aria-hidden />
        <h2 title={name}>{step.title ?? shownName(name)}</h2>
        <Status of={stateOfStep(step)} />
        <Button kind="ghost" square aria-label="Close the step" onClick={onClose}>
          <X className="icon" aria-hidden />
        </Button>
      </header>
      <p className={styles["sentence"]}>{sentenceOfStep(step, described?.label ?? "", data, look.time ?? now)}</p>
      {look.seq === null && step.status === "running" && <ProgressOf run={id} step={name} />}
      {step.child_run_id && (
        <p className={styles["sentence"]}>
          <Link href={urlOf(step.child_run_id, {})} className={styles["link"] ?? ""}>
            Open the run it started
          </Link>
        </p>
      )}
      <TabButtons tabs={parts} current={part} label="Parts of the step" onChoose={(to) => places.go({ part: to, step: name }, true)} />
      <div className={styles["body"]} role="tabpanel" aria-label={parts.find((one) => one.name === part)?.word}>
        {isLost(error, data) ? (
          <Failure error={error} what="The step could not be shown" onRetry={() => void refetch()} />
        ) : !data ? (
          <Waiting what="The step is loading" />
        ) : part === "error" ? (
          <ErrorPart detail={data} />
        ) : part === "input" ? (
          <Input detail={data} />
        ) : part === "attempts" ? (
          <Attempts detail={data} step={step} />
        ) : part === "items" ? (
          <Items id={id} step={step} />
        ) : (
          <Output detail={data} step={step} label={`Output of ${name}`} />
        )}
      </div>
      <Foot step={newest.steps.find((one) => one.name === name) ?? step} open={!hasEnded(newest.run.status)} places={places} />
    </aside>
  );
}

interface PartTab {
  name: string;
  word: string;
  count?: number;
}

function partsOf(step: RunStep, detail: StepDetail | undefined): PartTab[] {
  const tries = detail?.attempts?.length ?? step.tries.length;
  const tabs: PartTab[] = [];
  if (step.error !== null || isFailure(step.status)) tabs.push({ name: "error", word: "Error" });
  if (step.items) tabs.push({ name: "items", word: "Items", count: step.items.count });
  tabs.push({ name: "output", word: "Output" }, { name: "input", word: "Input" });
  tabs.push({ name: "attempts", word: "Attempts", ...(tries > 0 ? { count: tries } : {}) });
  return tabs;
}

/** What a colleague would say about the step. */
function sentenceOfStep(step: RunStep, label: string, detail: StepDetail | undefined, now: number): string {
  const what = label && label !== step.kind ? label : "It";
  const tries = step.tries.length + step.more_tries;
  const answered = detail?.status_code ? ` answered ${detail.status_code}` : "";
  const at = (text: string | null) => (text === null ? "" : moment(Date.parse(text), "local", now));
  switch (stateOfStep(step)) {
    case "success":
      if (step.items) return `${what} for ${several(step.items.count, "item")}: ${count(step.items.succeeded)} succeeded, ${count(step.items.failed)} failed, in ${tookOf(step)}.`;
      return `${what}${answered || " succeeded"}${tries > 1 ? ` at its ${ordinal(tries)} try, ${tookOf(step)} after the first began` : tookOf(step) && ` after ${tookOf(step)}`}.`;
    case "failed":
    case "timeout":
    case "template_error":
      return `${what}${answered || (step.status === "timeout" ? " timed out" : " failed")}${tries > 1 ? ` at its ${ordinal(tries)} and last try` : ""}.`;
    case "running":
      return `${what} runs${tries > 0 ? `, for the ${ordinal(tries + 1)} time` : ""}.`;
    case "waiting":
      return `Waits for an answer${step.started_at ? `, asked ${distance(Date.parse(step.started_at), now)}` : ""}${step.until ? `, until ${at(step.until)}` : ""}.`;
    case "sleeping":
      return `Sleeps until ${at(step.until)}.`;
    case "scheduled":
      return `${what} failed ${tries === 1 ? "once" : `${tries} times`}; the next try is at ${at(step.next_at)}.`;
    case "uncertain":
      return `${what}: its node died during it, and it is not known whether it happened.`;
    case "skipped":
      return step.guard === false ? "Skipped: its condition was false." : "Skipped: nothing led to it.";
    case "cancelled":
      return `Cancelled${step.started_at && step.finished_at ? ` after ${span(Date.parse(step.finished_at) - Date.parse(step.started_at))}` : ""}.`;
    default:
      return `${what} has not begun.`;
  }
}

const ORDINALS = ["", "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth"];
function ordinal(n: number): string {
  return ORDINALS[n] ?? `${n}th`;
}

function Foot({ step, open, places }: { step: RunStep; open: boolean; places: Places }) {
  const ask = (verb: string, part: string | null = null) => places.go({ verb, step: step.name, part });
  const isAt = open && !isOver(step.status) && step.status !== "pending";
  if (isAt && step.kind === "wait" && step.status === "waiting") {
    return (
      <footer className={styles["foot"]}>
        <Button kind="primary" needs="answer_run_step" onClick={() => ask("answer")}>
          Answer…
        </Button>
        <Button kind="ghost" needs="skip_run_step" onClick={() => ask("skip")}>
          <SkipForward className="icon" aria-hidden />
          Skip…
        </Button>
      </footer>
    );
  }
  if (isAt) {
    return (
      <footer className={styles["foot"]}>
        <Button needs={step.reason === "uncertain" ? "resolve_run_step" : "reattempt_run_step"} onClick={() => ask(step.reason === "uncertain" ? "resolve" : "reattempt")}>
          <RotateCw className="icon" aria-hidden />
          {step.reason === "uncertain" ? "Say what happened…" : "Try again now…"}
        </Button>
        <Button kind="ghost" needs="skip_run_step" onClick={() => ask("skip")}>
          <SkipForward className="icon" aria-hidden />
          Skip…
        </Button>
      </footer>
    );
  }
  if (!isOver(step.status)) return null;
  return (
    <footer className={styles["foot"]}>
      <Button needs="fork_run" onClick={() => ask("fork")}>
        <RotateCw className="icon" aria-hidden />
        Run again from here…
      </Button>
      <Button kind="ghost" needs="fork_run" onClick={() => ask("fork", "output-edit")}>
        Fork with output…
      </Button>
    </footer>
  );
}
