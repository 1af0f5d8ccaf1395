/** Questions about one run: outline, graph, steps, journal, family; and what can be done to it. */
import { infiniteQueryOptions, keepPreviousData, queryOptions } from "@tanstack/react-query";
import type { components } from "detent-client";
import { address, path, read, write } from "./client";
import type { Entry, One, Page, Run } from "./documents";
import type { TryTimes } from "../timeline/segments";
import { wholeStep } from "./whole_step";

type Schemas = components["schemas"];
export type TryDocument = Schemas["TryDocument"];
export type ItemCounts = Schemas["ItemCounts"];
/** A step without its bodies. Fields that are null are left out. */
export type StepOutline = Schemas["StepOutline"];
export type Reason = Schemas["ReasonDocument"];
/** A run without its steps and bodies. */
export type RunHead = Schemas["RunHead"];
/** A step with every field. */
export type RunStep = Required<Omit<StepOutline, "tries">> & { tries: readonly TryTimes[] };
export type Outline<S = RunStep> = Omit<Schemas["OutlineDocument"], "steps"> & { steps: S[] };
export type GraphStepDocument = Schemas["GraphStep"];
/** The state of an edge is `taken`, `dead` or `open`; `open` in the graph of a version. */
export type GraphEdgeDocument = Schemas["GraphEdge"] & { state: string };
export type GraphDocument = Omit<Schemas["GraphDocument"], "edges"> & { edges: GraphEdgeDocument[] };
export type Frame = Schemas["FrameDocument"];
export type Failure = Schemas["StepFailure"];
export type Attempt = Schemas["AttemptDocument"];
/** Everything about one step. */
export type StepDetail = Schemas["StepDetail"];
/** What stands for a value that is too large to be sent whole. */
export interface CutValue {
  truncated: true;
  bytes: number;
  part: string;
}
export type Item = Schemas["ItemDocument"];
export type Tree = Schemas["RunTree"];
export type MapTree = Schemas["MapTree"];
export type Family = Schemas["HierarchyDocument"];
export type RetryPreview = Schemas["RetryPreviewDocument"];
export type Move = Schemas["MoveDocument"];

const ENTRIES = 200;
/** Further entries are not travelled through: the page would have to hold them all. */
export const MOST_ENTRIES = 20_000;

export async function readOutline(run: string, signal?: AbortSignal): Promise<Outline> {
  const { data } = await read<One<Outline<StepOutline>>>(path`/api/v1/runs/${run}/outline`, {}, signal);
  return { ...data, steps: data.steps.map(wholeStep) };
}

export async function readGraph(run: string, signal?: AbortSignal): Promise<GraphDocument> {
  const { data } = await read<One<Schemas["GraphDocument"]>>(path`/api/v1/runs/${run}/graph`, {}, signal);
  return { ...data, edges: data.edges.map((edge) => ({ ...edge, state: edge.state ?? "open" })) };
}

export function outlineQuery(run: string) {
  return queryOptions({
    queryKey: ["run", run, "outline"],
    queryFn: ({ signal }) => readOutline(run, signal),
    staleTime: 30_000,
  });
}

/** The graph of the version that the run uses, with the edges it took. */
export function graphQuery(run: string) {
  return queryOptions({
    queryKey: ["run", run, "graph"],
    queryFn: ({ signal }) => readGraph(run, signal),
    staleTime: 30_000,
  });
}

/** One step, now or after the entry `at`. `mark` changes when the step does, so that it is asked for again. */
export function stepQuery(run: string, step: string, at: number | null, mark = "") {
  return queryOptions<StepDetail>({
    queryKey: ["run", run, "step", step, at, mark],
    queryFn: async ({ signal }) => {
      const query = at === null ? {} : { at };
      return (await read<One<StepDetail>>(path`/api/v1/runs/${run}/steps/${step}`, query, signal)).data;
    },
    placeholderData: (before) => (before?.step === step ? before : undefined),
    staleTime: at === null ? 30_000 : Number.POSITIVE_INFINITY,
    // Each state of an open step has a mark of its own: the last ones are enough.
    gcTime: at === null ? 30_000 : 5 * 60_000,
  });
}

/** The whole run with its input and output. Only the data tab asks for it. */
export function wholeQuery(run: string) {
  return queryOptions({
    queryKey: ["run", run, "whole"],
    queryFn: async ({ signal }) => (await read<One<Run>>(path`/api/v1/runs/${run}`, {}, signal)).data,
    staleTime: 10_000,
  });
}

/** An entry without its result: enough to travel. */
export type LightEntry = Omit<Entry, "result">;

/** All entries without their results, for time travel. */
export function journalQuery(run: string) {
  return queryOptions({
    queryKey: ["run", run, "journal"],
    queryFn: async ({ signal }) => {
      const found: LightEntry[] = [];
      for (;;) {
        const query = { after: found.at(-1)?.seq ?? 0, limit: ENTRIES };
        const { data } = await read<Page<Entry>>(path`/api/v1/runs/${run}/events`, query, signal);
        for (const { result: _, ...entry } of data) found.push(entry);
        if (data.length < ENTRIES || found.length >= MOST_ENTRIES) return found;
      }
    },
    staleTime: Number.POSITIVE_INFINITY,
  });
}

/** The journal page by page, with everything in it. */
export function entriesQuery(run: string) {
  return infiniteQueryOptions({
    queryKey: ["run", run, "entries"],
    queryFn: async ({ pageParam, signal }) => {
      const query = { after: pageParam, limit: 200 };
      return (await read<Page<Entry>>(path`/api/v1/runs/${run}/events`, query, signal)).data;
    },
    initialPageParam: 0,
    getNextPageParam: (page) => (page.length < 200 ? undefined : page.at(-1)?.seq),
    staleTime: 30_000,
  });
}

export function itemsQuery(run: string, step: string, status: string) {
  return infiniteQueryOptions({
    queryKey: ["run", run, "items", step, status],
    queryFn: ({ pageParam, signal }) => {
      const query = { limit: 200, status: status || undefined, cursor: pageParam };
      return read<Page<Item>>(path`/api/v1/runs/${run}/steps/${step}/items`, query, signal);
    },
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next_cursor ?? undefined,
    placeholderData: keepPreviousData,
    staleTime: 5000,
  });
}

export function familyQuery(run: string) {
  return queryOptions({
    queryKey: ["run", run, "family"],
    queryFn: async ({ signal }) =>
      (await read<One<Family>>(path`/api/v1/runs/${run}/hierarchy`, { limit: 200 }, signal)).data,
    staleTime: 10_000,
  });
}

export function retryQuery(run: string, version: "same" | "current") {
  return queryOptions({
    queryKey: ["run", run, "retry", version],
    queryFn: async ({ signal }) =>
      (await read<One<RetryPreview>>(path`/api/v1/runs/${run}/retry`, { version }, signal)).data,
  });
}

export function moveQuery(run: string, version: number) {
  return queryOptions({
    queryKey: ["run", run, "move", version],
    queryFn: () => act<Move>(run, "move", { version, dry_run: true }),
  });
}

interface CurrentWorkflow {
  name: string;
  form: string;
  current_version: number | null;
}

/** What the workflow's newest version is, and whether it can be started. */
export function currentQuery(workflow: string) {
  return queryOptions({
    queryKey: ["workflows", "one", workflow],
    queryFn: async ({ signal }) =>
      (await read<One<CurrentWorkflow>>(path`/api/v1/workflows/${workflow}`, {}, signal)).data,
    staleTime: 60_000,
  });
}

/** Do something to a run: `cancel`, `pause`, `resume`, `skip`, `reattempt`, `finish`, `retry`, `rerun`, `fork`, `move`. */
export async function act<T = Run>(run: string, verb: string, body?: unknown, once?: string): Promise<T> {
  const options = once === undefined ? {} : { headers: { "Idempotency-Key": once }, repeatable: true };
  const base = path`/api/v1/runs/${run}`;
  return (await write<One<T>>("post", `${base}/${verb}`, body, options)).data;
}

/** Answer a wait, by who asks and not by a token. */
export async function answer(run: string, step: string, payload: unknown): Promise<void> {
  await write("post", path`/api/v1/runs/${run}/steps/${step}/answer`, payload);
}

/** Say whether an uncertain step happened. */
export async function resolve(run: string, step: string, body: { happened: boolean; output?: unknown }): Promise<void> {
  await write("post", path`/api/v1/runs/${run}/steps/${step}/resolve`, body);
}

/** Where the whole run is downloaded, as JSON or as the text of a test. */
export function exportAddress(run: string, as: "json" | "test" | "test-yaml"): string {
  return address(path`/api/v1/runs/${run}/export`, { as });
}
