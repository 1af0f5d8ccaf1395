/** What a cell of the grid says. */
import type { Cell, Grid } from "../api/workflows";
import { several } from "../look/numbers";
import { lookOf } from "../look/status";
import { span } from "../look/time";

const STATES: Readonly<Record<string, string>> = {
  s: "success",
  f: "failed",
  t: "timeout",
  k: "skipped",
  c: "cancelled",
  e: "template_error",
  r: "running",
  w: "waiting",
};

/** The state of a cell, as `look/status` knows it. */
export function stateOfCell(cell: Cell): string {
  return STATES[cell.s] ?? cell.s;
}

/** A cell in words: `Failed after 3 tries, 1.2 s`. */
export function saidCell(cell: Cell | null): string {
  if (!cell) return "Not reached";
  const tries = (cell.attempts ?? 1) > 1 ? ` after ${several(cell.attempts ?? 1, "try", "tries")}` : "";
  const took = cell.ms == null || cell.s === "k" ? "" : `${tries ? "," : " after"} ${span(cell.ms)}`;
  return `${lookOf(stateOfCell(cell)).word}${tries}${took}`;
}

/** The grid with its oldest run first, as time is drawn. */
export function oldestFirst(grid: Grid): Grid {
  return { runs: [...grid.runs].reverse(), steps: grid.steps, cells: grid.cells.map((row) => [...row].reverse()) };
}

export interface StepFigures {
  failed: number;
  ended: number;
  /** Half of the times it took less; null if it never ended. */
  typical: number | null;
}

export function figuresOf(row: readonly (Cell | null)[]): StepFigures {
  const ended = row.filter((cell): cell is Cell => cell !== null && !["k", "r", "c"].includes(cell.s));
  const times = ended.flatMap((cell) => (cell.ms == null ? [] : [cell.ms])).sort((a, b) => a - b);
  const failed = ended.filter((cell) => cell.s !== "s").length;
  return { failed, ended: ended.length, typical: times[Math.floor((times.length - 1) / 2)] ?? null };
}

/** Where the version changes from one run to the next: the first run of each version. */
export function versionStarts(runs: readonly { version: number }[]): number[] {
  return runs.flatMap((run, i) => (i === 0 || runs[i - 1]?.version !== run.version ? [i] : []));
}
