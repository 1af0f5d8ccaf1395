/** The catalog in words: where a connector comes from, what it needs, and what a repeated attempt does. */
import type { Action, Connector } from "../api/catalog";

const SOURCES: Readonly<Record<string, string>> = {
  manifest: "Manifest",
  openapi: "OpenAPI document",
  mcp: "MCP server",
  python: "Python code",
};

export function sourceOf(source: string): string {
  return SOURCES[source] ?? source;
}

const SECRETS: Readonly<Record<string, readonly string[]>> = {
  bearer: ["TOKEN"],
  api_key: ["TOKEN"],
  basic: ["USERNAME", "PASSWORD"],
  oauth2_client: ["CLIENT_ID", "CLIENT_SECRET"],
};
const AUTHS: Readonly<Record<string, string>> = {
  bearer: "a token",
  api_key: "an API key",
  basic: "a user name and a password",
  oauth2_client: "an OAuth2 client",
};

/** What a connector authenticates with. */
export function authOf(connector: Pick<Connector, "auth_type">): string {
  return AUTHS[connector.auth_type ?? ""] ?? "nothing";
}

/** The environment variables that a connector reads: its address if it has none of its own, then its credential. */
export function variablesOf(connector: Pick<Connector, "id" | "auth_type" | "base_url" | "source">): string[] {
  if (connector.source === "python") return [];
  const prefix = `CONNECTOR_${connector.id.toUpperCase().replace(/[^A-Z0-9]/g, "_")}_`;
  const secrets = SECRETS[connector.auth_type ?? ""] ?? [];
  return [...(connector.base_url === null ? ["URL"] : []), ...secrets].map((one) => prefix + one);
}

/** The state of a connector, as a word of `look/status`. */
export function stateOfConnector(one: Pick<Connector, "enabled" | "missing">): string {
  if (!one.enabled) return "disabled";
  return one.missing.length > 0 ? "unset" : "enabled";
}

export function stateOfAction(one: Pick<Action, "enabled" | "deprecation_notice">): string {
  if (!one.enabled) return "disabled";
  return one.deprecation_notice ? "deprecated" : "enabled";
}

/** One word for a list, a sentence for the page of an action. */
export function effectOf({ effect }: Pick<Action, "effect">): { word: string; says: string; isSafe: boolean } {
  switch (effect.kind) {
    case "none":
      return { word: "Only reads", says: "It only reads, so an attempt can be repeated.", isSafe: true };
    case "idempotent":
      return { word: "Repeatable", says: "A repeated attempt has the same effect as one.", isSafe: true };
    case "keyed":
      return { word: "Once by key", says: `The service recognises a repeated attempt by ${effect.key ?? "its idempotency key"} and does it once.`, isSafe: true };
    case "probed":
      return { word: "Once by probe", says: `After a crash ${effect.probe ?? "another action"} says whether it happened.`, isSafe: true };
    default:
      return { word: "May act twice", says: "A repeated attempt may do it twice. Write on_crash: ask if that must not happen.", isSafe: false };
  }
}

export const connectorPlace = (id: string): string => `/connectors/${encodeURIComponent(id)}`;
export const actionPlace = (id: string): string => `/actions/${encodeURIComponent(id)}`;
