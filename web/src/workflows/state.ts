/** What a workflow is, in one word of `look/status`. */

interface Known {
  status: string;
  enabled: boolean;
}

export function stateOfWorkflow({ status, enabled }: Known): string {
  if (status === "active" && !enabled) return "disabled";
  return status;
}

/** Where a workflow is. */
export function placeOf(name: string, tab = "", rest = ""): string {
  return `/workflows/${encodeURIComponent(name)}${tab ? `/${tab}` : ""}${rest}`;
}

/** How many runs are open, over all versions. */
export function inFlight(counts: Record<string, number>): number {
  return Object.values(counts).reduce((sum, one) => sum + one, 0);
}
