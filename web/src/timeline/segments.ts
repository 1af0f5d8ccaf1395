/** What a step did when, from its outline: the segments of its bar, in order and without overlap. */

export type Tone = "ok" | "run" | "fail" | "wait" | "hold" | "idle";
export type SegmentKind = "queued" | "work" | "try" | "backoff" | "sleep" | "wait" | "child" | "skipped";
export interface Segment {
  kind: SegmentKind;
  from: number;
  to: number;
  tone: Tone;
  /** The number of the attempt, where one step had several. */
  attempt: number | null;
  /** It has not ended: `to` is now, or the time until which it is planned. */
  open: boolean;
}

/** An attempt that has ended. A run has thousands of them, so times are milliseconds and not texts. */
export interface TryTimes {
  attempt: number;
  from: number;
  to: number;
  status: string | null;
  /** When the next one was planned. */
  again: number | null;
}
/** The times of a step. */
export interface StepTimes {
  kind: string;
  status: string;
  /** `uncertain`: it may have happened; nothing is known since it began. */
  reason?: string | null;
  ready_at: string | null;
  started_at: string | null;
  finished_at: string | null;
  tries: readonly TryTimes[];
  next_at: string | null;
  until: string | null;
  child_run_id: string | null;
}

const TONES: Readonly<Record<string, Tone>> = {
  success: "ok",
  completed: "ok",
  failed: "fail",
  timeout: "fail",
  template_error: "fail",
  running: "run",
  waiting: "wait",
  scheduled: "hold",
  paused: "hold",
  uncertain: "hold",
};
const SLEEPS: ReadonlySet<string> = new Set(["sleep", "timer"]);
const WAITS: ReadonlySet<string> = new Set(["wait", "signal", "event", "ask"]);
const CHILDREN: ReadonlySet<string> = new Set(["subworkflow", "child", "workflow"]);
const OPEN: ReadonlySet<string> = new Set(["running", "waiting", "sleeping", "scheduled", "paused", "uncertain"]);

/** The colour of work that ended so. */
export function toneOf(status: string): Tone {
  return TONES[status] ?? "idle";
}

/** Milliseconds of an instant, or null. */
export function millis(instant: string | null | undefined): number | null {
  if (!instant) return null;
  const found = Date.parse(instant);
  return Number.isNaN(found) ? null : found;
}

/** The segments of a step. `now` closes what is still open. */
export function segments(step: StepTimes, now: number): Segment[] {
  const bar = new Bar();
  const ready = millis(step.ready_at);
  const started = millis(step.started_at);
  const finished = millis(step.finished_at);
  const open = finished === null && OPEN.has(step.status);
  if (step.status === "skipped") {
    const at = finished ?? ready;
    if (at !== null) bar.put("skipped", at, at, "idle");
    return bar.segments;
  }
  if (SLEEPS.has(step.kind) || WAITS.has(step.kind)) {
    const begun = started ?? ready;
    if (begun === null) return bar.segments;
    const isSleep = SLEEPS.has(step.kind);
    const planned = isSleep ? (millis(step.until) ?? now) : now;
    const tone = isSleep ? "idle" : (step.status === "failed" || step.status === "timeout" ? "fail" : "wait");
    bar.put(isSleep ? "sleep" : "wait", begun, finished ?? Math.max(planned, begun), tone, null, open);
    return bar.segments;
  }
  const kind: SegmentKind = step.child_run_id || CHILDREN.has(step.kind) ? "child" : "work";
  const several = step.tries.length > 1 || (step.tries.length === 1 && open);
  let since = ready;
  step.tries.forEach((one, i) => {
    const { from, to } = one;
    if (since !== null) bar.put("queued", since, from, "idle");
    const isLast = i === step.tries.length - 1 && !open;
    const failed = toneOf(one.status ?? "") === "fail" || one.status === "reattempted";
    const number = several ? one.attempt : null;
    if (failed && !isLast) bar.put("try", from, to, "fail", number);
    else bar.put(kind, from, to, isLast ? toneOf(step.status) : toneOf(one.status ?? ""), number);
    const again = one.again ?? (isLast ? null : millis(step.next_at));
    if (again === null) since = to;
    else {
      const next = step.tries[i + 1]?.from ?? null;
      bar.put("backoff", to, next === null ? again : Math.min(again, next), "hold", null, next === null && open);
      since = again;
    }
  });
  if (!open) {
    // It ended without an attempt: cancelled while it waited for its turn, or failed before it began.
    if (!step.tries.length && finished !== null) {
      const from = started ?? ready ?? finished;
      if (ready !== null && started !== null) bar.put("queued", ready, started, "idle");
      bar.put(kind, from, finished, toneOf(step.status));
    }
    return bar.segments;
  }
  if (step.status === "scheduled") {
    const again = millis(step.next_at);
    if (again !== null && !bar.segments.some((one) => one.open)) bar.put("backoff", since ?? again, again, "hold", null, true);
    return bar.segments;
  }
  const begun = step.tries.length ? since : started;
  if (begun === null) {
    if (since !== null) bar.put("queued", since, now, "idle", null, true);
    return bar.segments;
  }
  if (!step.tries.length && ready !== null) bar.put("queued", ready, begun, "idle");
  bar.put(kind, begun, Math.max(now, begun), toneOf(step.reason === "uncertain" ? "uncertain" : step.status), several ? step.tries.length + 1 : null, true);
  return bar.segments;
}

/** Collects segments and keeps them apart: clocks of several nodes can disagree by a little. */
class Bar {
  readonly segments: Segment[] = [];
  #place = -Infinity;

  put(kind: SegmentKind, from: number, to: number, tone: Tone, attempt: number | null = null, open = false): void {
    const begin = Math.max(from, this.#place);
    const end = Math.max(to, begin);
    if (end === begin && (kind === "queued" || kind === "backoff")) return;
    this.segments.push({ kind, from: begin, to: end, tone, attempt, open });
    this.#place = end;
  }
}

/** When the steps worked, for the folded axis; what still goes on has no end. Sleeping and waiting is no work. */
export function workSpans(bars: readonly (readonly Segment[])[]): (readonly [number, number])[] {
  const spans: (readonly [number, number])[] = [];
  for (const bar of bars) {
    for (const one of bar) {
      if (one.kind === "work" || one.kind === "try" || one.kind === "child" || one.kind === "skipped") {
        spans.push([one.from, one.open ? Infinity : one.to]);
      }
    }
  }
  return spans;
}

/** How long a step has taken so far, from its first segment to its last; null if it has none. */
export function elapsed(bar: readonly Segment[], now: number): number | null {
  const first = bar[0];
  const last = bar.at(-1);
  if (!first || !last || first.kind === "skipped") return null;
  return Math.max(0, (last.open ? Math.min(now, Math.max(last.to, first.from)) : last.to) - first.from);
}
