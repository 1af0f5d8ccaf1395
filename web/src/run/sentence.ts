/** One sentence about a run: how it ended, or why it does not move. */
import type { Outline, RunStep } from "../api/run";
import { saidError } from "../look/errors";
import { several } from "../look/numbers";
import { distance, moment, roughSpan, span } from "../look/time";
import { firstLine, stateOfStep } from "./nodes";
import { isFailure, isOver } from "./travel";

/** A part of a sentence: text, or the name of a step. */
export type Part = string | { step: string };

/** Where a run stands, as one word of the list of states. */
export function stateOfRun({ run, steps }: Pick<Outline, "run" | "steps">): string {
  if (run.status === "paused") return steps.some((one) => one.reason === "uncertain") ? "uncertain" : "paused";
  if (run.status === "pending") return run.start_at ? "delayed" : "queued";
  if (run.status !== "running") return run.status;
  const open = steps.filter((one) => !isOver(one.status) && one.status !== "pending");
  const has = (state: string) => open.some((one) => stateOfStep(one) === state);
  if (has("uncertain")) return "uncertain";
  if (has("running")) return "running";
  if (has("waiting")) return run.stage?.kind === "person" ? "person" : "waiting";
  if (has("scheduled")) return "retrying";
  if (has("sleeping")) return "sleeping";
  return run.stage?.kind ?? "running";
}

export function sentenceOf(outline: Outline, now: number): Part[] {
  const { run, steps } = outline;
  const begun = Date.parse(outline.begun_at ?? run.started_at ?? "");
  const ended = Date.parse(run.finished_at ?? "");
  const took = span(ended - begun);
  const state = stateOfRun(outline);
  const at = (wanted: string) => steps.find((one) => stateOfStep(one) === wanted);
  switch (state) {
    case "completed": {
      const done = steps.filter((one) => one.status === "success").length;
      const skipped = steps.filter((one) => one.status === "skipped").length;
      return [`Completed ${several(done, "step")} in ${took}${skipped ? `, ${skipped} skipped` : ""}`];
    }
    case "failed":
    case "timeout": {
      const failed = lastFailure(steps);
      if (failed) return [{ step: failed.name }, ` ${failed.status === "timeout" ? "timed out" : "failed"}: ${saidError(firstLine(failed.error ?? run.error ?? "no reason was given"))}`];
      return [run.error ?? (state === "timeout" ? `Its time was over after ${took}` : `Failed after ${took}`)];
    }
    case "cancelled":
      return [`Cancelled after ${took}`];
    case "uncertain": {
      const step = at("uncertain");
      return step ? ["Did ", { step: step.name }, " happen? Its node died during it, and the run waits for your word"] : [outline.why];
    }
    case "paused": {
      if (run.paused_by === "credential" && run.paused_step) {
        const name = credentialOf(outline);
        return ["Paused: ", { step: run.paused_step }, ` needs a person to reconnect ${name ? `the credential ${name}` : "its credential"}. Then it goes on by itself`];
      }
      const failed = lastFailure(steps);
      if (failed && run.paused_by?.startsWith("an exception")) {
        return ["Paused: ", { step: failed.name }, ` failed: ${saidError(firstLine(failed.error ?? ""))}. Mend the code, then resume`];
      }
      return [`Paused${run.paused_by ? ` by ${run.paused_by}` : ""}: attempts in flight end, nothing new starts`];
    }
    case "waiting":
    case "person": {
      const step = at("waiting");
      if (!step) break;
      const rest = steps.filter((one) => one.status === "waiting").length - 1;
      const asked = Date.parse(step.started_at ?? "");
      const left = Date.parse(step.until ?? "") - now;
      const until = Number.isNaN(left) ? "" : left > 0 ? `, ${roughSpan(left)} left` : ", its time is over";
      const more = rest > 0 ? ` and ${several(rest, "other step")}` : "";
      return ["Waits for an answer to ", { step: step.name }, `${more}, asked ${Number.isNaN(asked) || now - asked < 1000 ? "just now" : distance(asked, now)}${until}`, ...besides(steps)];
    }
    case "sleeping": {
      const step = at("sleeping");
      if (!step) break;
      const until = Date.parse(step.until ?? "");
      return [{ step: step.name }, Number.isNaN(until) ? " sleeps" : ` sleeps until ${moment(until, "local", now)}, ${distance(until, now)}`, ...besides(steps)];
    }
    case "retrying": {
      const step = at("scheduled");
      if (!step) break;
      const left = Date.parse(step.next_at ?? "") - now;
      const when = left > 0 ? `in ${roughSpan(left)}` : "now";
      const tries = step.tries.length + step.more_tries;
      return [{ step: step.name }, ` failed ${tries === 1 ? "once" : `${tries} times`} and is tried again ${when}: ${saidError(firstLine(step.error ?? ""))}`];
    }
    case "running": {
      const open = steps.filter((one) => one.status === "running");
      const [first, second] = open;
      if (!first) break;
      if (!second) {
        const since = Date.parse(first.started_at ?? "");
        if (first.child_run_id) return ["Waits for the run that ", { step: first.name }, ` started${Number.isNaN(since) ? "" : `, for ${roughSpan(now - since)}`}`];
        const items = first.items ? `: ${first.items.succeeded + first.items.failed} of ${first.items.count}` : "";
        return [{ step: first.name }, ` runs${items}${Number.isNaN(since) ? "" : `, for ${roughSpan(now - since)}`}`, ...besides(steps)];
      }
      if (open.length === 2) return [{ step: first.name }, " and ", { step: second.name }, " run"];
      return [{ step: first.name }, ` and ${open.length - 1} other steps run`];
    }
    case "delayed":
      return [`Starts ${distance(Date.parse(run.start_at ?? ""), now)}, at ${moment(Date.parse(run.start_at ?? ""), "local", now)}`];
  }
  return [plainWords(outline.why)];
}

/** The name of the credential that paused a run, if the error of its step says it. */
export function credentialOf({ run, steps, why }: Pick<Outline, "run" | "steps" | "why">): string | undefined {
  if (run.status !== "paused" || run.paused_by !== "credential") return undefined;
  const said = [steps.find((one) => one.name === run.paused_step)?.error ?? "", why];
  return said.map((text) => /the credential '([^']+)'/.exec(text)?.[1]).find(Boolean);
}

/** What goes wrong beside the thing that the sentence is about: a step that fails and is tried again. */
function besides(steps: readonly RunStep[]): Part[] {
  const bad = steps.filter((one) => stateOfStep(one) === "scheduled" && one.error !== null);
  const [first] = bad;
  if (!first) return [];
  const tries = first.tries.length + first.more_tries;
  const more = bad.length > 1 ? ` and ${several(bad.length - 1, "other step")}` : "";
  return ["; ", { step: first.name }, `${more} failed ${tries === 1 ? "once" : `${tries} times`} so far`];
}

/** The step because of which a run failed: the last one that did, and was not mended by another. */
export function lastFailure(steps: readonly RunStep[]): RunStep | undefined {
  const failed = steps.filter((one) => isFailure(one.status));
  return failed.sort((a, b) => (a.finished_at ?? "").localeCompare(b.finished_at ?? "")).at(-1);
}

/** The server's line, without instants to the microsecond. */
function plainWords(text: string): string {
  return text.replace(/(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2})\.\d+Z/g, "$1Z");
}
