/** The run as its journal had it: the state of graph and steps after the entry `seq`, and after entries that have just
 * arrived. A step is decided when all its incoming edges are, so an entry and the graph say everything but what the
 * opening of the run decided; that is read from the outline. */

import type { StepTimes, TryTimes } from "../timeline/segments";

export interface Items {
  count: number;
  succeeded: number;
  failed: number;
}
export interface Step extends StepTimes {
  name: string;
  duration_ms: number | null;
  attempt: number | null;
  reason: string | null;
  items: Items | null;
  error: string | null;
  guard: boolean | null;
}
export interface Edge {
  source: string;
  target: string;
  when: string;
  state: string;
}
/** What is known of an entry of the journal. */
export interface Entry {
  seq: number;
  at: string;
  kind: string;
  step: string | null;
  attempt: number | null;
  status: string | null;
  error: { message: string } | null;
  duration_ms: number | null;
  retry_at: string | null;
  skipped: readonly string[];
  failed: Readonly<Record<string, { message: string }>>;
  sleep_until: Readonly<Record<string, string>>;
  wait_until: Readonly<Record<string, string | null>>;
  run_status: string | null;
}

const OVER: ReadonlySet<string> = new Set(["success", "failed", "timeout", "skipped", "cancelled", "template_error"]);
const FAILED: ReadonlySet<string> = new Set(["failed", "timeout", "template_error"]);

/** Whether a step has ended. */
export function isOver(status: string): boolean {
  return OVER.has(status);
}
export function isFailure(status: string): boolean {
  return FAILED.has(status);
}

/** The steps and edges of a run at one moment. Steps that did not change are the same objects as before. */
export interface Moment<S extends Step = Step, E extends Edge = Edge> {
  steps: readonly S[];
  edges: readonly E[];
  /** The status of the run; null if the entries do not say it. */
  status: string | null;
}

/** The run after the entry `seq`, with 0 before the first. `entries` has the whole journal in order. */
export function stateAt<S extends Step, E extends Edge>(
  now: Moment<S, E>,
  entries: readonly Entry[],
  seq: number,
  begunAt: string | null,
): Moment<S, E> {
  if (seq >= (entries.at(-1)?.seq ?? 0)) return now;
  const mentioned = new Set<string>();
  for (const entry of entries) for (const name of named(entry)) mentioned.add(name);
  const begin = now.steps.map((step) => (decidedAtOpening(step, mentioned) ? step : unbegun(step)));
  const edges = now.edges.map((edge) => (edge.state === "open" ? edge : { ...edge, state: "open" }));
  const fold = new Fold<S, E>({ steps: begin, edges, status: "running" }, now);
  fold.open(begunAt ?? entries[0]?.at ?? "");
  for (const entry of entries) {
    if (entry.seq > seq) break;
    fold.apply(entry);
  }
  return fold.moment();
}

/** The run after further entries, in order. */
export function advance<S extends Step, E extends Edge>(now: Moment<S, E>, entries: readonly Entry[]): Moment<S, E> {
  if (!entries.length) return now;
  const fold = new Fold<S, E>(now, null);
  for (const entry of entries) fold.apply(entry);
  return fold.moment();
}

/** The last entry at or before a time; 0 if there is none. */
export function seqAt(entries: readonly Entry[], time: number): number {
  let low = 0;
  let high = entries.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (Date.parse(entries[middle]?.at ?? "") <= time) low = middle + 1;
    else high = middle;
  }
  return entries[low - 1]?.seq ?? 0;
}

/** The entry before or after `seq`; null if there is none in that direction. */
export function nextSeq(entries: readonly Entry[], seq: number, way: -1 | 1): number | null {
  const last = entries.at(-1)?.seq ?? 0;
  const to = Math.min(seq, last) + way;
  return to < 0 || to > last ? null : to;
}

function named(entry: Entry): string[] {
  return [
    ...(entry.step ? [entry.step] : []),
    ...entry.skipped,
    ...Object.keys(entry.failed),
    ...Object.keys(entry.sleep_until),
    ...Object.keys(entry.wait_until),
  ];
}

/** No entry speaks of it, and yet it has ended: that was decided when the run began. */
function decidedAtOpening(step: Step, mentioned: ReadonlySet<string>): boolean {
  return isOver(step.status) && !mentioned.has(step.name) && !step.tries.length && step.status !== "cancelled";
}

function unbegun<S extends Step>(step: S): S {
  return {
    ...step,
    status: "pending",
    ready_at: null,
    started_at: null,
    finished_at: null,
    duration_ms: null,
    tries: [],
    attempt: null,
    next_at: null,
    until: null,
    reason: null,
    items: null,
    error: null,
    guard: null,
    child_run_id: null,
  };
}

class Fold<S extends Step, E extends Edge> {
  readonly #steps: Map<string, S>;
  readonly #edges: E[];
  readonly #undecided = new Map<string, number>();
  readonly #out = new Map<string, number[]>();
  /** What is known of each step by now; its times of a later moment are the right ones here too. */
  readonly #later: ReadonlyMap<string, S> | null;
  #status: string | null;

  constructor(from: Moment<S, E>, later: Moment<S, E> | null) {
    this.#steps = new Map(from.steps.map((step) => [step.name, step]));
    this.#edges = [...from.edges];
    this.#status = from.status;
    this.#later = later && new Map(later.steps.map((step) => [step.name, step]));
    for (const name of this.#steps.keys()) this.#undecided.set(name, 0);
    this.#edges.forEach((edge, i) => {
      const known = this.#out.get(edge.source);
      if (known) known.push(i);
      else this.#out.set(edge.source, [i]);
      if (edge.state === "open") this.#undecided.set(edge.target, (this.#undecided.get(edge.target) ?? 0) + 1);
    });
  }

  /** Begins the run: steps without incoming edges become ready. */
  open(at: string): void {
    const over = [...this.#steps.values()].filter((step) => isOver(step.status));
    const first = [...this.#steps.values()].filter((step) => !this.#undecided.get(step.name));
    for (const step of first) this.#ready(step.name, at);
    for (const step of over) this.#leave(step.name, at);
  }

  apply(entry: Entry): void {
    const { step, at } = entry;
    for (const name of entry.skipped) this.#end(name, "skipped", at);
    for (const [name, error] of Object.entries(entry.failed)) this.#end(name, "failed", at, error.message);
    if (step !== null) this.#own(entry, step);
    for (const name of entry.skipped) this.#leave(name, at);
    for (const name of Object.keys(entry.failed)) this.#leave(name, at);
    for (const [name, until] of Object.entries(entry.sleep_until)) {
      this.#change(name, { status: "sleeping", ready_at: at, started_at: at, until });
    }
    for (const [name, until] of Object.entries(entry.wait_until)) {
      this.#change(name, { status: "waiting", ready_at: at, started_at: at, until });
    }
    if (entry.kind === "paused") this.#status = "paused";
    if (entry.kind === "resumed" || entry.kind === "opened") this.#status = "running";
    if (entry.kind === "opened") this.open(at);
    if (entry.run_status !== null) {
      this.#status = entry.run_status;
      const rest = entry.run_status === "completed" ? "skipped" : "cancelled";
      for (const one of [...this.#steps.values()]) if (!isOver(one.status)) this.#end(one.name, rest, at);
    }
  }

  moment(): Moment<S, E> {
    return { steps: [...this.#steps.values()], edges: this.#edges, status: this.#status };
  }

  /** What an entry says of its own step. */
  #own(entry: Entry, name: string): void {
    const step = this.#steps.get(name);
    if (!step) return;
    const { at, attempt, status } = entry;
    if (entry.kind === "started") {
      const child = this.#later?.get(name)?.child_run_id ?? step.child_run_id;
      this.#change(name, { status: "running", started_at: step.started_at ?? at, attempt, child_run_id: child });
      return;
    }
    if (entry.kind === "retry" || (entry.kind === "began" && entry.retry_at !== null)) {
      const tries = [...step.tries, tried(entry)];
      const change = { status: "scheduled", tries, next_at: entry.retry_at, error: entry.error?.message ?? null };
      this.#change(name, { ...change, started_at: step.started_at ?? begunAt(tries, at) });
      return;
    }
    if (entry.kind === "paged" && !isOver(step.status)) {
      this.#change(name, { status: "running", started_at: step.started_at ?? at });
      return;
    }
    if (status === null || status === "refused" || entry.kind === "moved") return;
    const tries = attempt === null || entry.kind === "reused" ? step.tries : [...step.tries, tried(entry)];
    this.#change(name, {
      tries,
      started_at: step.started_at ?? begunAt(tries, at),
      duration_ms: entry.duration_ms,
      items: this.#later?.get(name)?.items ?? step.items,
    });
    this.#end(name, status, at, entry.error?.message ?? null);
    this.#leave(name, at);
  }

  #end(name: string, status: string, at: string, error: string | null = null): void {
    const step = this.#steps.get(name);
    if (!step || isOver(step.status)) return;
    this.#change(name, { status, finished_at: at, error, next_at: null, until: null, attempt: null });
  }

  /** Decides the edges that leave a step that has ended, and what becomes ready by that. */
  #leave(name: string, at: string): void {
    const step = this.#steps.get(name);
    if (!step || !isOver(step.status)) return;
    for (const i of this.#out.get(name) ?? []) {
      const edge = this.#edges[i];
      if (edge?.state !== "open") continue;
      const target = this.#steps.get(edge.target);
      const dead = target?.status === "skipped" || !follows(edge.when, step.status);
      this.#edges[i] = { ...edge, state: dead ? "dead" : "taken" };
      const left = (this.#undecided.get(edge.target) ?? 1) - 1;
      this.#undecided.set(edge.target, left);
      if (left <= 0) this.#ready(edge.target, at);
    }
  }

  #ready(name: string, at: string): void {
    const step = this.#steps.get(name);
    if (step?.status !== "pending") return;
    const begun = step.kind === "sleep" ? "sleeping" : step.kind === "wait" ? "waiting" : "running";
    const later = this.#later?.get(name);
    const until = begun === "running" ? null : (later?.until ?? null);
    const started = begun === "running" ? (later?.started_at ?? at) : at;
    this.#change(name, { status: begun, ready_at: later?.ready_at ?? at, started_at: started, until });
  }

  #change(name: string, change: Partial<Step>): void {
    const step = this.#steps.get(name);
    if (step) this.#steps.set(name, { ...step, ...change });
  }
}

function tried(entry: Entry): TryTimes {
  const to = Date.parse(entry.at);
  return {
    attempt: entry.attempt ?? 1,
    from: to - (entry.duration_ms ?? 0),
    to,
    status: entry.status ?? "failed",
    again: entry.retry_at === null ? null : Date.parse(entry.retry_at),
  };
}

/** When a step began that was not known to have begun before it was tried. */
function begunAt(tries: readonly TryTimes[], at: string): string {
  const [first] = tries;
  return first ? new Date(first.from).toISOString() : at;
}

/** Whether an edge is followed after such an ending. A condition that was false shows in what was skipped. */
function follows(when: string, status: string): boolean {
  if (when === "any" || when === "then") return true;
  if (when === "always") return status === "success" || isFailure(status);
  if (when === "failure") return isFailure(status);
  return when.split(",").includes(status);
}
