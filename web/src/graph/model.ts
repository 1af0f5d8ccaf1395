/** What the graph shows, in the run and in the editor alike. */

export interface Guard {
  text: string;
  /** Whether it was true; null while it is not decided. */
  held: boolean | null;
  tip: string;
}
export interface GraphStep {
  name: string;
  title: string | null;
  kind: string;
  /** The state of the step in a run; null where a design is shown. */
  state: string | null;
  note: string;
  guard: Guard | null;
  progress: { done: number; failed: number; count: number } | null;
}
export interface GraphEdge {
  source: string;
  target: string;
  state: "taken" | "dead" | "open";
  tip: string;
}

/** What draws the eye when a graph is first shown, the most urgent first. */
const URGENT = [
  "failed", "timeout", "template_error", "uncertain", "person", "waiting", "scheduled", "paused", "running", "sleeping",
];

/** The steps at which something goes on, the most urgent first. */
export function hotSteps(steps: readonly GraphStep[], selected: string | null): string[] {
  const rank = (step: GraphStep) => (step.name === selected ? -1 : URGENT.indexOf(step.state ?? ""));
  const found = steps.map((step) => ({ name: step.name, rank: rank(step) })).filter((one) => one.rank >= 0 || one.name === selected);
  return found.sort((a, b) => a.rank - b.rank).map((one) => one.name);
}
