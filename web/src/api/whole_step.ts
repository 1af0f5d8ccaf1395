import type { TryTimes } from "../timeline/segments";
import type { RunStep, StepOutline, TryDocument } from "./run";

/** The fields that an outline leaves out are null; a step without `ready_at` started as soon as it was ready. */
export function wholeStep(step: StepOutline): RunStep {
  const started = step.started_at ?? null;
  return {
    name: step.name,
    kind: step.kind,
    title: step.title ?? null,
    status: step.status,
    ready_at: step.ready_at ?? started,
    started_at: started,
    finished_at: step.finished_at ?? null,
    duration_ms: step.duration_ms ?? null,
    tries: (step.tries ?? []).map(tryOf),
    more_tries: step.more_tries ?? 0,
    attempt: step.attempt ?? null,
    next_at: step.next_at ?? null,
    until: step.until ?? null,
    reason: step.reason ?? null,
    child_run_id: step.child_run_id ?? null,
    items: step.items ?? null,
    error: step.error ?? null,
    guard: step.guard ?? null,
  };
}

/** The error of a try is not kept: the panel of a step asks for its attempts. */
function tryOf({ attempt, started_at, finished_at, status, retry_at }: TryDocument): TryTimes {
  return {
    attempt,
    from: Date.parse(started_at),
    to: Date.parse(finished_at),
    status: status ?? null,
    again: retry_at == null ? null : Date.parse(retry_at),
  };
}
