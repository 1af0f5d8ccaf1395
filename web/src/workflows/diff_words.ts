/** A diff in words. */
import type { Diff } from "../api/workflows";
import { several } from "../look/numbers";

/** Longer values are cut: the definition has them whole. */
const LONGEST = 2000;

/** A value as it is written in a line of a diff. */
export function written(value: unknown): string {
  const text = typeof value === "string" ? value : (JSON.stringify(value, null, 2) ?? "");
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
}

type Counted = Pick<Diff, "settings"> & {
  steps: { added: unknown[]; removed: unknown[]; changed: unknown[] };
  edges: { added: unknown[]; removed: unknown[]; changed: unknown[] };
};

/** `2 steps added, 1 step changed, 3 edges removed.` */
export function saidDiff({ steps, edges, settings }: Counted, step = "step"): string {
  const parts: string[] = [];
  for (const [what, group] of [[step, steps], ["edge", edges]] as const) {
    for (const verb of ["added", "removed", "changed"] as const) {
      if (group[verb].length) parts.push(`${several(group[verb].length, what)} ${verb}`);
    }
  }
  if (settings.length) parts.push(`${several(settings.length, "setting")} changed`);
  return parts.length ? `${parts.join(", ")}.` : "Nothing differs.";
}
