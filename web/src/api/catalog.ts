/** The catalog: connectors, actions, and imports of both. */
import { infiniteQueryOptions, keepPreviousData, queryOptions } from "@tanstack/react-query";
import type { components } from "detent-client";
import { path, read, write } from "./client";
import type { One, Page } from "./documents";

type Schemas = components["schemas"];
export type Connector = Schemas["ConnectorDocument"];
export type Action = Schemas["CatalogActionDocument"];
export type ActionFacets = Schemas["ActionFacetsDocument"];
export type Import = Schemas["ImportDocument"];

/** Which actions; what is empty does not narrow. */
export interface ActionFilter {
  connector: string;
  category: string;
  tag: string;
  search: string;
}

const CONNECTORS = 200;

export function connectorsQuery() {
  return infiniteQueryOptions({
    queryKey: ["catalog", "connectors"],
    queryFn: ({ pageParam, signal }) => read<Page<Connector>>("/api/v1/connectors", { limit: CONNECTORS, cursor: pageParam }, signal),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next_cursor ?? undefined,
  });
}

export function connectorQuery(connector: string) {
  return queryOptions({
    queryKey: ["catalog", "connector", connector],
    queryFn: async ({ signal }) => (await read<One<Connector>>(path`/api/v1/connectors/${connector}`, {}, signal)).data,
  });
}

export function actionsQuery({ connector, category, tag, search }: ActionFilter) {
  const query = { connectorId: connector || undefined, category: category || undefined, tag: tag || undefined, search: search || undefined };
  return infiniteQueryOptions({
    queryKey: ["catalog", "actions", query],
    queryFn: ({ pageParam, signal }) => read<Page<Action>>("/api/v1/actions", { ...query, limit: 100, cursor: pageParam }, signal),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next_cursor ?? undefined,
    placeholderData: keepPreviousData,
  });
}

/** How many actions each connector, category and tag has. */
export function facetsQuery() {
  return queryOptions({
    queryKey: ["catalog", "facets"],
    queryFn: async ({ signal }) => (await read<One<ActionFacets>>("/api/v1/actions/facets", {}, signal)).data,
    staleTime: 60_000,
  });
}

export function actionQuery(action: string, version: string) {
  return queryOptions({
    queryKey: ["catalog", "action", action, version],
    queryFn: async ({ signal }) => (await read<One<Action>>(path`/api/v1/actions/${action}`, { version: version || undefined }, signal)).data,
  });
}

export async function enableConnector(connector: string, enabled: boolean): Promise<void> {
  const base = path`/api/v1/connectors/${connector}`;
  await write("post", `${base}/${enabled ? "enable" : "disable"}`, undefined, { repeatable: true });
}

export async function removeConnector(connector: string): Promise<void> {
  await write("delete", path`/api/v1/connectors/${connector}`);
}

export async function enableAction(action: string, enabled: boolean): Promise<void> {
  const base = path`/api/v1/actions/${action}`;
  await write("post", `${base}/${enabled ? "enable" : "disable"}`, undefined, { repeatable: true });
}

/** What is imported: a document as a file has it, a document at an address, or the tools of an MCP server. */
export type Source =
  | { kind: "file"; name: string; text: string; isYaml: boolean }
  | { kind: "url"; name: string; url: string }
  | { kind: "mcp"; name: string; url: string; withToken: boolean };

/** The server may read the document from elsewhere first, so many seconds. */
const PATIENCE = 90;

/** Import a connector; with `dry` only say what that would do. */
export async function importConnector(source: Source, dry: boolean): Promise<Import> {
  const { name } = source;
  if (source.kind === "mcp") {
    const body = { name, url: source.url, with_token: source.withToken, dry_run: dry };
    return (await write<One<Import>>("post", "/api/v1/connectors/import/mcp", body, { patience: PATIENCE })).data;
  }
  const query = { name, dryRun: dry, url: source.kind === "url" ? source.url : undefined };
  const sent =
    source.kind === "url"
      ? {}
      : { text: source.text, headers: { "content-type": source.isYaml ? "application/yaml" : "application/json" } };
  return (await write<One<Import>>("post", "/api/v1/connectors/import/openapi", undefined, { query, patience: PATIENCE, ...sent })).data;
}
