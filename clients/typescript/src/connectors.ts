import type { Action, ActionFacets, Connector, ConnectorImport, ConnectorUpgrade, Json } from "./documents.js";
import type { Http, QueryOf } from "./http.js";
import { from, pages } from "./paging.js";

const ALL = "/api/v1/connectors";
const ONE = "/api/v1/connectors/{connector}";
const ACTIONS = "/api/v1/actions";
const ACTION = "/api/v1/actions/{action}";

/** Which actions. */
export type ActionFilter = Omit<QueryOf<"get", typeof ACTIONS>, "cursor">;
/** The tools of an MCP server, as its `tools/list` returns them. */
export interface McpImport {
  name: string;
  url: string;
  /** Without them Detent asks the server. */
  tools?: { [key: string]: Json }[];
  title?: string;
  with_token?: boolean;
  dry_run?: boolean;
}

/** What can be asked about connectors and actions. */
export class Connectors {
  readonly #http: Http;

  constructor(http: Http) {
    this.#http = http;
  }

  /** The connectors by id. */
  list(): AsyncIterable<Connector> {
    return pages((cursor) => this.#http.call("get", ALL, { query: { ...from(cursor) } }));
  }

  async get(connector: string): Promise<Connector> {
    return (await this.#http.call("get", ONE, { path: { connector } })).data;
  }

  /** Add a connector, or a version of one, from its manifest. */
  async add(manifest: { [key: string]: Json }): Promise<Connector> {
    return (await this.#http.call("post", ALL, { body: manifest, repeatable: true })).data;
  }

  /** Make a connector of an OpenAPI or Swagger document; without it, of the one at `url`. With `dryRun` only say what the import would do. */
  async importOpenapi(
    name: string,
    document: { [key: string]: Json } | undefined,
    options: { url?: string; dryRun?: boolean } = {},
  ): Promise<ConnectorImport> {
    const query = { name, ...options };
    const sent = document === undefined ? {} : { body: document };
    return (await this.#http.call("post", `${ALL}/import/openapi`, { query, ...sent, patience: 60 })).data;
  }

  /** Make a connector of the tools of an MCP server. */
  async importMcp(given: McpImport): Promise<ConnectorImport> {
    return (await this.#http.call("post", `${ALL}/import/mcp`, { body: given, repeatable: true })).data;
  }

  /** Give the workflows that pin older versions of the actions of a connector a version with newer ones. With `dry_run` only say what would be done. */
  async upgrade(connector: string, options: { to?: string; dry_run?: boolean } = {}): Promise<ConnectorUpgrade> {
    return (await this.#http.call("post", `${ONE}/upgrade`, { path: { connector }, body: options, patience: 60 })).data;
  }

  /** Remove a connector. Published workflows go on. */
  async remove(connector: string): Promise<Connector> {
    return (await this.#http.call("delete", ONE, { path: { connector } })).data;
  }

  /** Allow workflows to be published with actions of a connector. */
  async enable(connector: string): Promise<Connector> {
    return (await this.#http.call("post", `${ONE}/enable`, { path: { connector }, repeatable: true })).data;
  }

  /** Forbid to publish workflows with actions of a connector. */
  async disable(connector: string): Promise<Connector> {
    return (await this.#http.call("post", `${ONE}/disable`, { path: { connector }, repeatable: true })).data;
  }

  /** The actions by id, without their schemas. */
  actions(which: ActionFilter = {}): AsyncIterable<Action> {
    return pages((cursor) => this.#http.call("get", ACTIONS, { query: { ...which, ...from(cursor) } }));
  }

  /** How many actions each connector, category and tag has. */
  async facets(): Promise<ActionFacets> {
    return (await this.#http.call("get", `${ACTIONS}/facets`)).data;
  }

  /** An action with its schemas, by default its newest version. */
  async action(action: string, version?: string): Promise<Action> {
    const query = version === undefined ? {} : { version };
    return (await this.#http.call("get", ACTION, { path: { action }, query })).data;
  }

  /** Allow workflows to be published with an action. */
  async enableAction(action: string): Promise<Action> {
    return (await this.#http.call("post", `${ACTION}/enable`, { path: { action }, repeatable: true })).data;
  }

  /** Forbid to publish workflows with an action. */
  async disableAction(action: string): Promise<Action> {
    return (await this.#http.call("post", `${ACTION}/disable`, { path: { action }, repeatable: true })).data;
  }
}
