/** What a row says about a run: why it does not move, what went wrong, how far it came. */
import type { RunSummary } from "../api/documents";
import { several } from "../look/numbers";
import { saidError } from "../look/errors";
import type { Tone } from "../look/status";
import { instant, MINUTE, roughSpan, SECOND } from "../look/time";

/** The words of a row. `loud` ones have the colour of the state: a person may have to do something. */
export interface Why {
  text: string;
  loud: boolean;
  /** The tone of the words, if it is another than that of the state. */
  tone?: Tone;
}

export function whyOf(run: RunSummary, now: number): Why {
  if (run.stage && waitOf(run, now) >= LATE) return { text: standing(run, now), loud: true, tone: "hold" };
  if (run.stage) return { text: standing(run, now), loud: LOUD.has(run.stage.kind) };
  if (run.error) return { text: saidError(run.error), loud: run.status !== "cancelled" };
  if (run.status === "cancelled") return { text: steps(run) || "ended before its time", loud: false };
  if (run.status === "timeout") return { text: "did not end in its time", loud: true };
  if (run.status === "failed") return { text: "failed without a word", loud: true };
  return { text: steps(run), loud: false };
}

/** A wait for a node below this is not worth a word, and above that something is wrong or too much is asked. */
const NOTABLE = SECOND;
const LATE = MINUTE;

/** How long a queued run has waited for a node; NaN if it is not queued. */
function waitOf({ stage }: RunSummary, now: number): number {
  return now - instant(stage?.kind === "queued" ? stage.since : null);
}

const LOUD = new Set(["waiting", "person", "retrying", "paused", "uncertain"]);

function standing(run: RunSummary, now: number): string {
  const { kind, step, until } = run.stage ?? { kind: "", step: null, until: null };
  const left = instant(until) - now;
  const span = Number.isNaN(left) ? "" : roughSpan(left);
  const at = step ?? "";
  const waited = waitOf(run, now);
  switch (kind) {
    case "queued":
      return waited >= NOTABLE ? `waits for a free node: ${roughSpan(waited)}` : "waits for a free node";
    case "delayed":
      return span ? `starts in ${span}` : "starts later";
    case "running":
      return [at, steps(run)].filter(Boolean).join(" · ");
    case "waiting":
    case "person":
      return [at, span && `${span} left`].filter(Boolean).join(": ");
    case "child":
      return at ? `${at}: waits for its run` : "waits for another run";
    case "sleeping":
      return [at, span && `wakes in ${span}`].filter(Boolean).join(": ");
    case "retrying":
      return [at, left > 0 ? `next try in ${span}` : "tries again now"].filter(Boolean).join(": ");
    case "uncertain":
      return at ? `${at}: did it happen? Say so` : "a step may have happened; say so";
    case "paused":
      return at ? `paused at ${at}` : "begins nothing until it is resumed";
    default:
      return [at, steps(run)].filter(Boolean).join(" · ");
  }
}

function steps({ progress }: RunSummary): string {
  if (!progress || progress.total === 0) return "";
  const { done, total } = progress;
  return done === total && total === 1 ? several(1, "step") : `${done} of ${several(total, "step")}`;
}
