/** Questions about the machinery: nodes, queues, storage. */
import { queryOptions } from "@tanstack/react-query";
import { read } from "./client";
import type { One, Page } from "./documents";

export interface Node {
  id: string;
  address: string | null;
  version: string | null;
  started_at: string | null;
  lease_until: string | null;
  alive: boolean;
  /** Null: every queue. */
  queues: string[] | null;
  actions: string[] | number;
  owned: number;
  slots: number | null;
  busy: number | null;
}
export interface Queue {
  queue: string;
  ready: number;
  oldest_at: string | null;
  owned: number;
  sleeping: number;
  /** Whether a node that is alive takes runs from it. */
  served?: boolean;
  capped_at?: number;
}
export interface Storage {
  database_bytes: number | null;
  workflows: { workflow_id: string; workflow: string; runs: number; journal_rows: number; bytes: number }[];
  measured_at: string | null;
}

/** There is no event for these, so they are asked for while they are looked at. */
const OFTEN = 5000;

export function nodesQuery() {
  return queryOptions({
    queryKey: ["system", "nodes"],
    queryFn: async ({ signal }) => (await read<Page<Node>>("/api/v1/nodes", {}, signal)).data,
    refetchInterval: OFTEN,
  });
}

export function queuesQuery() {
  return queryOptions({
    queryKey: ["system", "queues"],
    queryFn: async ({ signal }) => (await read<Page<Queue>>("/api/v1/queues", {}, signal)).data,
    refetchInterval: OFTEN,
  });
}

export function storageQuery() {
  return queryOptions({
    queryKey: ["system", "storage"],
    queryFn: async ({ signal }) => (await read<One<Storage>>("/api/v1/storage", {}, signal)).data,
    staleTime: 60_000,
  });
}
