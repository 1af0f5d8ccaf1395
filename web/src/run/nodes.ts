/** What the graph says about each step of a run. */
import type { GraphDocument, GraphEdgeDocument, GraphStepDocument, RunStep } from "../api/run";
import type { GraphEdge, GraphStep, Guard } from "../graph/model";
import { saidError } from "../look/errors";
import { count, several } from "../look/numbers";
import { moment, roughSpan, span } from "../look/time";
import { isOver } from "./travel";

interface Known {
  step: RunStep | undefined;
  into: readonly GraphEdgeDocument[];
  node: GraphStep;
}
const NO_EDGES: readonly GraphEdgeDocument[] = [];

/** Makes the nodes of one graph. A node that says the same as before is the same object, and one whose step and edges
 * did not change is not even looked at: a stream of entries costs what they change. */
export class Nodes {
  readonly #known = new Map<string, Known>();
  #last: readonly GraphStep[] = [];

  of(graph: GraphDocument, steps: readonly RunStep[], now: number): readonly GraphStep[] {
    const states = new Map(steps.map((step) => [step.name, step]));
    const into = new Map<string, GraphEdgeDocument[]>();
    for (const edge of graph.edges) {
      const found = into.get(edge.target);
      if (found) found.push(edge);
      else into.set(edge.target, [edge]);
    }
    const nodes = graph.steps.map((one) => {
      const step = states.get(one.name);
      const edges = into.get(one.name) ?? NO_EDGES;
      const known = this.#known.get(one.name);
      const stands = !step || isOver(step.status) || step.status === "pending";
      if (known && stands && known.step === step && isSame(known.into, edges)) return known.node;
      const made = nodeOf(one, step, edges, now);
      const node = known && saysSame(known.node, made) ? known.node : made;
      this.#known.set(one.name, { step, into: edges, node });
      return node;
    });
    if (!isSame(nodes, this.#last)) this.#last = nodes;
    return this.#last;
  }
}

function isSame<T>(one: readonly T[], other: readonly T[]): boolean {
  return one.length === other.length && one.every((each, i) => each === other[i]);
}

function saysSame(one: GraphStep, other: GraphStep): boolean {
  return (
    one.state === other.state &&
    one.note === other.note &&
    one.title === other.title &&
    one.kind === other.kind &&
    one.guard?.text === other.guard?.text &&
    one.guard?.held === other.guard?.held &&
    one.progress?.done === other.progress?.done &&
    one.progress?.failed === other.progress?.failed &&
    one.progress?.count === other.progress?.count
  );
}

function nodeOf(one: GraphStepDocument, step: RunStep | undefined, into: readonly GraphEdgeDocument[], now: number): GraphStep {
  const items = step?.items ?? null;
  const counted = items && { done: items.succeeded + items.failed, failed: items.failed, count: items.count };
  return {
    name: one.name,
    title: one.title ?? step?.title ?? (one.name.startsWith("@") ? shownName(one.name) : null),
    kind: one.kind,
    state: step ? stateOfStep(step) : "pending",
    note: step ? noteOf(step, one.label, one.needs, now) : one.label,
    guard: guardOf(one.if, step?.guard ?? null, step?.status ?? "pending", into),
    progress: counted ?? (one.for_each === null ? null : { done: 0, failed: 0, count: 0 }),
  };
}

/** Makes the edges of one graph. An edge that did not change is the same object as before. */
export class Edges {
  readonly #known = new WeakMap<GraphEdgeDocument, GraphEdge>();
  #last: readonly GraphEdge[] = [];

  of(graph: GraphDocument, steps: readonly RunStep[]): readonly GraphEdge[] {
    const skipped = new Set(steps.flatMap((step) => (step.status === "skipped" ? [step.name] : [])));
    const edges = graph.edges.map((edge) => {
      // An edge to a step that did not run leads nowhere, whatever its own condition said.
      const isTaken = edge.state === "taken" && !skipped.has(edge.target);
      const state = isTaken ? "taken" : edge.state === "open" ? "open" : "dead";
      const known = this.#known.get(edge);
      if (known?.state === state) return known;
      const made = { source: edge.source, target: edge.target, state, tip: tipOf(edge) } satisfies GraphEdge;
      this.#known.set(edge, made);
      return made;
    });
    if (!isSame(edges, this.#last)) this.#last = edges;
    return this.#last;
  }
}

/** The name of a step as a person says it: an operation of a function is `approval`, not `@wait:approval`. */
export function shownName(name: string): string {
  return name.replace(/^@(?:\w+:)?(?=.)/, "");
}

/** The state that a step shows: an uncertain one is no ordinary wait. */
export function stateOfStep(step: { status: string; reason: string | null }): string {
  return step.reason === "uncertain" ? "uncertain" : step.status;
}

/** One line about a step. */
export function noteOf(step: RunStep, label: string, needs: number, now: number): string {
  const begun = Date.parse(step.started_at ?? step.ready_at ?? "");
  const so_far = Number.isNaN(begun) ? "" : roughSpan(now - begun);
  const tries = step.tries.length + step.more_tries;
  const join = (...parts: (string | false | null)[]) => parts.filter(Boolean).join(" · ");
  switch (stateOfStep(step)) {
    case "pending":
      return needs > 1 ? `needs ${needs} steps` : label || "not yet";
    case "skipped":
      return "skipped";
    case "cancelled":
      return "cancelled";
    case "uncertain":
      return "did it happen?";
    case "running":
      if (step.items) return join(`${count(step.items.succeeded + step.items.failed)} of ${count(step.items.count)}`, so_far);
      return join(tries > 0 && `try ${tries + 1}`, step.child_run_id ? "its run goes on" : false, so_far) || "running";
    case "waiting":
      return join("waits", so_far);
    case "sleeping":
      return step.until ? `until ${moment(Date.parse(step.until), "local", now)}` : "sleeps";
    case "scheduled": {
      if (step.next_at === null) return join("stands still", tries > 0 && several(tries, "try", "tries"));
      const left = Date.parse(step.next_at) - now;
      return join(`try ${tries + 1} ${left >= 1000 ? `in ${roughSpan(left)}` : "now"}`);
    }
    case "success": {
      if (step.items) return join(`${count(step.items.succeeded)} of ${count(step.items.count)}`, tookOf(step));
      return join(tries > 1 && `${tries} tries`, tookOf(step)) || "done";
    }
    default:
      return step.error ? saidError(firstLine(step.error)) : join(tries > 1 && several(tries, "try", "tries"), tookOf(step)) || step.status;
  }
}

/** How long a step took from its first start to its end. */
export function tookOf(step: RunStep): string {
  const from = Date.parse(step.started_at ?? "");
  const to = Date.parse(step.finished_at ?? "");
  if (!Number.isNaN(from) && !Number.isNaN(to) && to - from >= 1) return span(to - from);
  if (step.duration_ms === null) return "";
  return step.duration_ms < 0.5 ? "under 1 ms" : span(step.duration_ms);
}

export function firstLine(text: string): string {
  return text.split("\n", 1)[0] ?? "";
}

/** The condition on which a step runs: its own `if`, else the first edge to it that is not the usual one. */
function guardOf(own: string | null, held: boolean | null, status: string, edges: readonly GraphEdgeDocument[]): Guard | null {
  if (own !== null) {
    const answer = held ?? (status === "skipped" ? null : isOver(status) && status !== "cancelled" ? true : null);
    const verdict = answer === null ? "is not decided" : `is ${answer}`;
    return { text: shortly(own, edges.length === 1 ? edges[0]?.source : undefined), held: answer, tip: `${own}\n${verdict}` };
  }
  const special = edges.filter((edge) => edge.condition !== null || edge.otherwise || edge.when === "failure");
  const [first] = special;
  if (!first || special.length < edges.length) return null;
  const more = special.length > 1 ? ` +${special.length - 1}` : "";
  const answer = special.some((edge) => edge.state === "taken") ? true : special.every((edge) => edge.state === "dead") ? false : null;
  return { text: `${edgeWord(first)}${more}`, held: answer, tip: special.map(tipOf).join("\n") };
}

/** A condition without the way to its data: `risk.score > 80`. The only step before it goes without saying. The tip has
 * all of it. */
export function shortly(condition: string, before?: string): string {
  const short = condition.replace(/\b(?:trigger\.body|(?:tasks|steps|nodes)(?:\.[\w-]+|\[["'][^"']+["']\])\.(?:body|output))\./g, "");
  return short.replace(/\b(?:tasks|steps|nodes)\.([\w-]+)\./g, (_, step: string) => (step === before ? "" : `${step}.`));
}

function edgeWord(edge: GraphEdgeDocument): string {
  if (edge.condition !== null) return shortly(edge.condition, edge.source);
  if (edge.otherwise) return "otherwise";
  if (edge.when === "failure") return `${edge.source} failed`;
  return edge.when;
}

const ENDINGS: Readonly<Record<string, string>> = {
  success: "succeeds",
  failure: "fails",
  always: "succeeds or fails",
  any: "ends in any way",
};

function tipOf(edge: GraphEdgeDocument): string {
  if (edge.when === "then") return "";
  const when = `Follows when ${edge.source} ${ENDINGS[edge.when] ?? `ends ${edge.when.split(",").join(" or ")}`}`;
  const condition = edge.condition === null ? "" : `\n${edge.condition}${edge.value == null ? "" : ` is ${edge.value}`}`;
  const state = edge.state === "taken" ? "\nTaken" : edge.state === "dead" ? "\nNot taken" : "";
  return `${when}${edge.otherwise ? ", if nothing else did" : ""}${condition}${state}${edge.note ? `\n${edge.note}` : ""}`;
}
