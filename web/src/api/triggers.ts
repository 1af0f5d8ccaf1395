/** Questions about triggers, their slots and what they received; and what can be done to them. */
import { infiniteQueryOptions, keepPreviousData, queryOptions } from "@tanstack/react-query";
import type { Backfill, EventReceipt, Firing } from "detent-client";
import { base, path, read, write } from "./client";
import type { One, Page, Trigger } from "./documents";

export type { Backfill, EventReceipt, Firing };

/** A firing in the list over all triggers: with the names of its trigger and workflow. */
export type Received = Firing & { workflow?: string; trigger_name?: string | null };

/** Which firings a list has. */
export interface FiringFilter {
  trigger?: string;
  type?: string;
  status?: string;
}

const PAGE = 100;

/** One page of what was received: over all triggers, or by one of them. */
export async function readFirings({ trigger, ...rest }: FiringFilter, cursor?: string, signal?: AbortSignal): Promise<Page<Received>> {
  const query = { limit: PAGE, cursor };
  if (trigger) return await read<Page<Received>>(path`/api/v1/triggers/${trigger}/firings`, { ...query, state: rest.status }, signal);
  return await read<Page<Received>>("/api/v1/firings", { ...query, ...rest }, signal);
}

/** The topic of a list of firings. */
export function firingsTopic(filter: FiringFilter): string {
  return `firings:${new URLSearchParams({ ...filter }).toString()}`;
}

/** What was received: over all triggers, or by one of them. */
export function firingsQuery(filter: FiringFilter) {
  return infiniteQueryOptions({
    queryKey: ["firings", filter],
    queryFn: ({ pageParam, signal }) => readFirings(filter, pageParam, signal),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next_cursor ?? undefined,
    placeholderData: keepPreviousData,
    staleTime: 5000,
  });
}

/** One firing with the request that it received. */
export function firingQuery(trigger: string, firing: string) {
  return queryOptions({
    queryKey: ["firings", "one", trigger, firing],
    queryFn: async ({ signal }) => (await read<One<Firing>>(path`/api/v1/triggers/${trigger}/firings/${firing}`, {}, signal)).data,
    enabled: trigger !== "" && firing !== "",
  });
}

/** The next slots of a schedule. */
export function slotsQuery(trigger: string) {
  return queryOptions({
    queryKey: ["triggers", "slots", trigger],
    queryFn: async ({ signal }) => (await read<One<string[]>>(path`/api/v1/triggers/${trigger}/next`, { count: 10 }, signal)).data,
    staleTime: 30_000,
  });
}

/** The last firings of a schedule, with slots that it missed. */
export function latelyQuery(trigger: string) {
  return queryOptions({
    queryKey: ["firings", { trigger }, "few"],
    queryFn: async ({ signal }) => (await read<Page<Firing>>(path`/api/v1/triggers/${trigger}/firings`, { limit: 6 }, signal)).data,
    staleTime: 30_000,
  });
}

/** The slots that a schedule missed last, as one firing. */
export function missedQuery(trigger: string) {
  return queryOptions({
    queryKey: ["firings", { trigger, status: "missed" }, "last"],
    queryFn: async ({ signal }) =>
      (await read<Page<Firing>>(path`/api/v1/triggers/${trigger}/firings`, { state: "missed", limit: 1 }, signal)).data[0] ?? null,
    staleTime: 30_000,
  });
}

export async function pauseTrigger(trigger: string, note: string): Promise<Trigger> {
  return (await write<One<Trigger>>("post", path`/api/v1/triggers/${trigger}/pause`, note ? { note } : {}, { repeatable: true })).data;
}

export async function resumeTrigger(trigger: string): Promise<Trigger> {
  return (await write<One<Trigger>>("post", path`/api/v1/triggers/${trigger}/resume`, undefined, { repeatable: true })).data;
}

export async function fireTrigger(trigger: string, body: unknown): Promise<Firing> {
  return (await write<One<Firing>>("post", path`/api/v1/triggers/${trigger}/fire`, body === undefined ? {} : { body })).data;
}

export async function replayFiring(trigger: string, firing: string): Promise<Firing> {
  return (await write<One<Firing>>("post", path`/api/v1/triggers/${trigger}/firings/${firing}/replay`)).data;
}

/** Fire the slots of a range that have no firing; with `dry` only list them. */
export async function backfill(trigger: string, from: string, to: string, dry: boolean): Promise<Backfill> {
  return (await write<One<Backfill>>("post", path`/api/v1/triggers/${trigger}/backfill`, { from, to, dry_run: dry })).data;
}

export async function sendEvent(type: string, data: unknown): Promise<EventReceipt> {
  return (await write<One<EventReceipt>>("post", "/api/v1/events", { type, data })).data;
}

/** What a webhook answered, whatever it was. */
export interface Answered {
  status: number;
  ms: number;
  body: unknown;
  runId: string | null;
}

/** Send a real request to a webhook, as its caller would. It goes to this server, under whatever name that has here. */
export async function callWebhook(url: string, headers: Record<string, string>, body: string): Promise<Answered> {
  const began = performance.now();
  const at = new URL(url);
  const response = await fetch(new URL(hereOf(at.pathname) + at.search, base), { method: "POST", headers, body: body === "" ? null : body, credentials: "omit" });
  const text = await response.text();
  const ms = performance.now() - began;
  const said = jsonOf(text);
  return { status: response.status, ms, body: said, runId: runOf(said) };
}

/** The path below this page's own place; a prefix that only the outer address has is left out. */
function hereOf(path: string): string {
  const found = /\/(?:api|webhook|wh)\/.*$/.exec(path);
  return (found?.[0] ?? path).replace(/^\//, "");
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function runOf(said: unknown): string | null {
  const data = (said as { data?: { run_id?: unknown } } | null)?.data;
  return typeof data?.run_id === "string" ? data.run_id : null;
}
