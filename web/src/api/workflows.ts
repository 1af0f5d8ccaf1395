/** Questions about workflows, their versions, drafts and figures; and what can be done to them. */
import { infiniteQueryOptions, keepPreviousData, queryOptions } from "@tanstack/react-query";
import type { components, Published, Rehearsal, Started, Version } from "detent-client";
import { path, read, write } from "./client";
import type { One, Page, Run, RunSummary, Trigger, Workflow } from "./documents";
import type { GraphEdgeDocument, GraphStepDocument } from "./run";
import { workStream } from "./work_stream";

type Schemas = components["schemas"];
export type Diff = Schemas["DiffDocument"];
export type FieldChange = Schemas["FieldChangeDocument"];
export type Draft = Schemas["DraftDocument"];
export type Moves = Schemas["MovesDocument"];
export type MoveGroup = Schemas["MoveGroupDocument"];
export type RehearsalGroup = Schemas["RehearsalGroupDocument"];
export type { Published, Rehearsal, Started, Version };

export interface RecentRun {
  id: string;
  status: string;
  duration_ms: number | null;
  accepted_at: string;
}
/** How a workflow did lately. */
export interface WorkflowStats {
  workflow_id: string;
  workflow: string;
  recent: RecentRun[];
  runs: number;
  success_rate: number | null;
  p50_ms: number | null;
  p95_ms: number | null;
  in_flight: Record<string, number>;
  last_at: string | null;
  next_at: string | null;
}
export type PlanStep = GraphStepDocument;
/** An edge without what a run made of it. */
export type PlanEdge = Pick<GraphEdgeDocument, "source" | "target" | "when" | "condition" | "otherwise">;
/** The steps and edges of a version. */
export interface Plan {
  workflow: string;
  version: number | string;
  form: string;
  steps: PlanStep[];
  edges: PlanEdge[];
}
export interface Cell {
  s: string;
  ms?: number | null;
  attempts?: number;
}
export interface Grid {
  runs: { id: string; status: string; accepted_at: string; version: number }[];
  steps: string[];
  cells: (Cell | null)[][];
}
export interface Progressed {
  stage: string;
  done: number;
  total: number;
}

/** The workflows, by name. */
export function workflowsQuery(query: { search?: string; status?: string; limit?: number } = {}) {
  return queryOptions({
    queryKey: ["workflows", "list", query],
    queryFn: async ({ signal }) => (await read<Page<Workflow>>("/api/v1/workflows", query, signal)).data,
    staleTime: 30_000,
    placeholderData: keepPreviousData,
  });
}

/** The workflows page by page. */
export function workflowPagesQuery(filter: { search?: string; status?: string; enabled?: boolean }) {
  return infiniteQueryOptions({
    queryKey: ["workflows", "pages", filter],
    queryFn: ({ pageParam, signal }) => read<Page<Workflow>>("/api/v1/workflows", { ...filter, limit: 100, cursor: pageParam }, signal),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next_cursor ?? undefined,
    placeholderData: keepPreviousData,
    staleTime: 15_000,
  });
}

/** How all workflows did lately, by the name of the workflow. */
export function allStatsQuery() {
  return queryOptions({
    queryKey: ["workflows", "stats"],
    queryFn: async ({ signal }) => {
      const { data } = await read<Page<WorkflowStats>>("/api/v1/stats", {}, signal);
      return new Map(data.map((one) => [one.workflow, one]));
    },
    staleTime: 15_000,
  });
}

export function statsQuery(workflow: string) {
  return queryOptions({
    queryKey: ["workflows", "one", workflow, "stats"],
    queryFn: async ({ signal }) => (await read<One<WorkflowStats>>(path`/api/v1/workflows/${workflow}/stats`, {}, signal)).data,
    staleTime: 15_000,
  });
}

export function workflowQuery(workflow: string) {
  return queryOptions({
    queryKey: ["workflows", "one", workflow],
    queryFn: async ({ signal }) => (await read<One<Workflow>>(path`/api/v1/workflows/${workflow}`, {}, signal)).data,
    staleTime: 30_000,
  });
}

export function versionsQuery(workflow: string) {
  return queryOptions({
    queryKey: ["workflows", "one", workflow, "versions"],
    queryFn: async ({ signal }) =>
      (await read<Page<Version>>(path`/api/v1/workflows/${workflow}/versions`, { limit: 200 }, signal)).data,
    staleTime: 30_000,
  });
}

export function draftQuery(workflow: string, isThere: boolean) {
  return queryOptions({
    queryKey: ["workflows", "one", workflow, "draft"],
    queryFn: async ({ signal }) => (await read<One<Draft>>(path`/api/v1/workflows/${workflow}/draft`, {}, signal)).data,
    enabled: isThere,
    // What a person rehearses is not replaced while they look at it.
    refetchOnWindowFocus: false,
  });
}

/** The graph of a version: a number, `current` or `draft`. */
export function planQuery(workflow: string, version: string) {
  return queryOptions({
    queryKey: ["workflows", "one", workflow, "plan", version],
    queryFn: async ({ signal }) => (await read<One<Plan>>(path`/api/v1/workflows/${workflow}/versions/${version}/graph`, {}, signal)).data,
    staleTime: 30_000,
    placeholderData: keepPreviousData,
  });
}

export function gridQuery(workflow: string, runs: number) {
  return queryOptions({
    queryKey: ["workflows", "one", workflow, "grid", runs],
    queryFn: async ({ signal }) => (await read<One<Grid>>(path`/api/v1/workflows/${workflow}/grid`, { runs }, signal)).data,
    staleTime: 5000,
  });
}

/** What differs between two versions: numbers, or `draft`. */
export function diffQuery(workflow: string, from: string, to: string) {
  return queryOptions({
    queryKey: ["workflows", "one", workflow, "diff", from, to],
    queryFn: async ({ signal }) => (await read<One<Diff>>(path`/api/v1/workflows/${workflow}/diff`, { from, to }, signal)).data,
    enabled: from !== "" && to !== "" && from !== to,
    placeholderData: keepPreviousData,
  });
}

/** What starts workflows by itself; of one workflow, or of all. */
export function triggersQuery(query: { workflow?: string; type?: string } = {}) {
  return queryOptions({
    queryKey: ["triggers", "list", query],
    queryFn: async ({ signal }) => (await read<Page<Trigger>>("/api/v1/triggers", { limit: 200, ...query }, signal)).data,
    staleTime: 30_000,
  });
}

/** The newest run of a workflow, with its input. */
export async function lastInput(workflow: string): Promise<unknown> {
  const { data } = await read<Page<RunSummary>>("/api/v1/runs", { workflow, limit: 1 });
  const [last] = data;
  if (!last) return undefined;
  const run = (await read<One<Run>>(path`/api/v1/runs/${last.id}`)).data as { input?: { body?: unknown } };
  return run.input?.body;
}

export type WorkflowVerb = "archive" | "reactivate" | "enable" | "disable";

export async function changeWorkflow(workflow: string, verb: WorkflowVerb): Promise<Workflow> {
  const base = path`/api/v1/workflows/${workflow}`;
  return (await write<One<Workflow>>("post", `${base}/${verb}`, undefined, { repeatable: true })).data;
}

export async function activate(workflow: string, version: number): Promise<Workflow> {
  return (await write<One<Workflow>>("post", path`/api/v1/workflows/${workflow}/versions/${version}/activate`, undefined, { repeatable: true })).data;
}

export async function discardDraft(workflow: string): Promise<void> {
  await write("delete", path`/api/v1/workflows/${workflow}/draft`);
}

export interface Start {
  body: unknown;
  wait: boolean;
  version: string;
  hero: string;
  /** The same wish sent twice starts one run. */
  key: string;
}

/** Start a run; with `wait` the answer comes when it has ended, after half a minute at the latest. */
export async function startRun(workflow: string, { body, wait, version, hero, key }: Start): Promise<Started> {
  const query = { wait: wait ? "25s" : undefined, version: version || undefined, hero: hero || undefined };
  const options = { headers: { "Idempotency-Key": key }, repeatable: true, query };
  return (await write<One<Started>>("post", path`/api/v1/workflows/${workflow}/trigger`, body, options)).data;
}

/** Move the open runs of a workflow to a version; unless `dry` is false, only say which could be moved. */
export async function moveRuns(workflow: string, version: number, dry: boolean): Promise<Moves> {
  const body = { version, filter: { workflow }, dry_run: dry, limit: 1000 };
  return (await write<One<Moves>>("post", "/api/v1/runs/move", body)).data;
}

/** Rehearse the draft over recorded runs, and tell how far it is. Nothing is changed. */
export async function rehearse(workflow: string, days: number, told: (progress: Progressed) => void, signal: AbortSignal): Promise<Rehearsal> {
  const place = path`/api/v1/workflows/${workflow}/rehearse`;
  return (await workStream<One<Rehearsal>, Progressed>(place, { days }, told, signal)).data;
}

/** Publish the draft as it was at a revision; refused if it was saved since. */
export async function publish(workflow: string, revision: number): Promise<Published> {
  const headers = { "if-match": `"d${revision}"` };
  return (await write<One<Published>>("post", path`/api/v1/workflows/${workflow}/publish`, undefined, { headers })).data;
}
