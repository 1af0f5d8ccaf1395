/** The documents of the API that the page reads. Where `clients/typescript` has generated types, these come from there. */
import type { components, Entry, Run, RunSummary as Summary, Trigger, Workflow } from "detent-client";

export type { Entry, Run, Trigger, Workflow };

/** A list, and how it goes on. `searched_until` is set where a search stopped before it was through. */
export interface Page<T> {
  data: T[];
  next_cursor?: string | null;
  searched_until?: string | null;
}
export interface One<T> {
  data: T;
}

/** Where an open run stands. */
export interface Stage {
  kind: string;
  step: string | null;
  until: string | null;
}
export interface Progress {
  done: number;
  total: number;
  failed: number;
}

/** A run in a list. */
export type RunSummary = Summary & {
  stage?: Stage | null;
  duration_ms?: number | null;
  progress?: Progress | null;
  node?: string | null;
};

/** The states that the histogram tells apart, trouble first: it is drawn nearest to the axis. */
export const BANDS = ["failed", "attention", "waiting", "running", "completed", "cancelled"] as const;
export type Band = (typeof BANDS)[number];
export type Counts = Record<Band | "scheduled", number>;
export interface Histogram {
  from: string;
  to: string;
  bucket_ms: number;
  buckets: (Counts & { at: string })[];
  totals: Counts;
}

export type ViewName = "all" | "running" | "waiting" | "person" | "failing" | "stuck" | "paused";
export interface ViewCounts {
  views: Partial<Record<ViewName, number>>;
  capped_at: number;
}

export interface Facet {
  value: string;
  count: number;
  id?: string;
}
export interface Facets {
  workflows: Facet[];
  triggers: Facet[];
  statuses?: Facet[];
  versions?: Facet[];
  labels: { key: string; value: string; count: number }[];
  sampled: boolean;
}

export interface Found {
  workflows: { id: string; name: string; title: string | null }[];
  runs: RunSummary[];
  heroes: { type: string; id: string; runs: number }[];
  triggers: { id: string; name: string | null; workflow: string; type: string }[];
}

export interface Bulk {
  action: string;
  matched: number;
  dry_run: boolean;
  done: number;
  refused: { run_id: string; message: string }[];
  more: boolean;
}

export type Me = components["schemas"]["MeDocument"];

/** A wait that a person or a program has to answer. */
export interface Wait {
  run: RunSummary;
  step: string;
  title: string | null;
  question: string | null;
  created_at: string;
  until: string | null;
  url: string | null;
  input: unknown;
  ask?: Ask | null;
}

/** What a wait shows and accepts, and how far it is. */
export type Ask = components["schemas"]["AskDocument"];
