/** What becomes of the steps after one that is skipped, as its edges say it. */
import type { GraphDocument, GraphEdgeDocument } from "../api/run";

export interface AfterSkip {
  /** They are decided next: they run, unless a condition of theirs is false. */
  next: string[];
  /** They need the step, or one that needs it, to succeed: they are skipped with it. */
  skipped: string[];
}

export function afterSkip(graph: Pick<GraphDocument, "steps" | "edges">, step: string): AfterSkip {
  const gone = new Set([step]);
  const next = new Set<string>();
  const into = grouped(graph.edges, "target");
  const out = grouped(graph.edges, "source");
  const joins = new Map(graph.steps.map((one) => [one.name, one.join]));
  const left = [step];
  for (let one = left.pop(); one !== undefined; one = left.pop()) {
    for (const { target } of out.get(one) ?? []) {
      const isDead = (edge: GraphEdgeDocument) => (gone.has(edge.source) ? !outlives(edge.when) : edge.state === "dead");
      const edges = into.get(target) ?? [];
      const falls = joins.get(target) === "all" ? edges.some(isDead) : edges.every(isDead);
      if (!falls) next.add(target);
      else if (!gone.has(target)) {
        gone.add(target);
        next.delete(target);
        left.push(target);
      }
    }
  }
  gone.delete(step);
  const ordered = (names: ReadonlySet<string>) => graph.steps.map((each) => each.name).filter((name) => names.has(name));
  return { next: ordered(next), skipped: ordered(gone) };
}

/** Whether an edge is taken although its source was skipped. */
function outlives(when: string): boolean {
  return when === "any" || when === "then" || when.split(",").includes("skipped");
}

function grouped(edges: readonly GraphEdgeDocument[], end: "source" | "target"): Map<string, GraphEdgeDocument[]> {
  const found = new Map<string, GraphEdgeDocument[]>();
  for (const edge of edges) {
    const group = found.get(edge[end]);
    if (group) group.push(edge);
    else found.set(edge[end], [edge]);
  }
  return found;
}
