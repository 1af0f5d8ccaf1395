/** What the graph shows of a version: the design, without states. */
import type { PlanEdge, PlanStep } from "../api/workflows";
import type { GraphEdge, GraphStep, Guard } from "../graph/model";
import { shortly } from "../run/nodes";

const ENDINGS: Readonly<Record<string, string>> = {
  success: "succeeds",
  failure: "fails",
  always: "succeeds or fails",
  any: "ends in any way",
};

export function planNodes(steps: readonly PlanStep[], edges: readonly PlanEdge[]): GraphStep[] {
  const into = new Map<string, PlanEdge[]>();
  for (const edge of edges) {
    const found = into.get(edge.target);
    if (found) found.push(edge);
    else into.set(edge.target, [edge]);
  }
  return steps.map((one) => ({
    name: one.name,
    title: one.title,
    kind: one.for_each === null ? one.kind : "map",
    state: null,
    note: one.label || one.kind,
    guard: guardOf(one.if, into.get(one.name) ?? []),
    progress: null,
  }));
}

export function planEdges(edges: readonly PlanEdge[]): GraphEdge[] {
  return edges.map((edge) => ({ source: edge.source, target: edge.target, state: "open", tip: tipOf(edge) }));
}

/** The condition on which a step runs: its own, else that of the edges that lead to it, if all have one. */
function guardOf(own: string | null, edges: readonly PlanEdge[]): Guard | null {
  if (own !== null) return { text: shortly(own), held: null, tip: own };
  const special = edges.filter((edge) => edge.condition !== null || edge.otherwise || edge.when === "failure");
  const [first] = special;
  if (!first || special.length < edges.length) return null;
  const more = special.length > 1 ? ` +${special.length - 1}` : "";
  return { text: `${edgeWord(first)}${more}`, held: null, tip: special.map(tipOf).join("\n") };
}

function edgeWord(edge: PlanEdge): string {
  if (edge.condition !== null) return shortly(edge.condition);
  if (edge.otherwise) return "otherwise";
  return edge.when === "failure" ? `${edge.source} failed` : edge.when;
}

/** What an edge says when it is looked at. */
export function tipOf(edge: PlanEdge): string {
  if (edge.when === "then") return "";
  const when = `Follows when ${edge.source} ${ENDINGS[edge.when] ?? `ends ${edge.when.split(",").join(" or ")}`}`;
  return `${when}${edge.otherwise ? ", if nothing else did" : ""}${edge.condition === null ? "" : `\n${edge.condition}`}`;
}
