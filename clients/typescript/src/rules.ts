import type {
  ActionTemplate,
  ActionType,
  Alert,
  CheckedRule,
  DeletedRule,
  Entity,
  Json,
  Rule,
  RuleAction,
  RuleEdge,
  RuleSummary,
  RuleVersion,
  RunSummary,
  TriggerType,
} from "./documents.js";
import type { BodyOf, Http, QueryOf } from "./http.js";
import { from, pages } from "./paging.js";
import { matching } from "./workflows.js";

const ALL = "/api/v1/rules";
const ONE = "/api/v1/rules/{rule}";
const ENTITIES = "/api/v1/entities";
const ENTITY = "/api/v1/entities/{entity}";
const ALERTS = "/api/v1/alerts";
const ALERT = "/api/v1/alerts/{alert}";
const TEMPLATES = "/api/v1/action-templates";
const TEMPLATE = "/api/v1/action-templates/{template}";

/** Which rules. */
export type RuleFilter = Omit<QueryOf<"get", typeof ALL>, "cursor">;
/** Which alerts. */
export type AlertFilter = Omit<QueryOf<"get", typeof ALERTS>, "cursor">;
/** Which action templates. */
export type ActionTemplateFilter = Omit<QueryOf<"get", typeof TEMPLATES>, "cursor">;
/** An entity to be. `fields` is the JSON Schema of a record. */
export type NewEntity = BodyOf<"post", typeof ENTITIES>;
/** An action template to be. */
export type NewActionTemplate = BodyOf<"post", typeof TEMPLATES>;
/** `ifMatch` is the `etag` of the rule that was edited. */
export type Matching = { ifMatch?: string | undefined };
/** A rule with the `ETag` of its answer, which names this state of it. A copy of the rule (`{ ...rule }`) is without it,
 * so that it can be changed and saved. */
export type TaggedRule = Rule & { readonly etag: string | undefined };

/** What can be asked about rules. */
export class Rules {
  readonly #http: Http;

  constructor(http: Http) {
    this.#http = http;
  }

  /** Every rule by key, without actions and edges. */
  list(which: RuleFilter = {}): AsyncIterable<RuleSummary> {
    return pages((cursor) => this.#http.call("get", ALL, { query: { ...which, ...from(cursor) } }));
  }

  /** A rule by id or key, with its actions, edges and layout. */
  async get(rule: string, options: { version?: string } = {}): Promise<TaggedRule> {
    const response = await this.#http.send("get", ONE, { path: { rule }, query: options });
    const { data } = (await response.json()) as { data: Rule };
    return Object.defineProperty(data, "etag", { value: response.headers.get("etag") ?? undefined }) as TaggedRule;
  }

  /** Save a new rule, with all of it or nothing; Conflict if its key is taken. */
  async create(rule: Json): Promise<Rule> {
    return (await this.#http.call("post", ALL, { body: rule as never })).data as Rule;
  }

  /** Save a rule that exists, with all of it or nothing. */
  async save(rule: string, document: Json, options: Matching = {}): Promise<Rule> {
    return (await this.#http.call("put", ONE, { path: { rule }, body: document as never, ...matched(options) })).data as Rule;
  }

  /** What a save would store. Nothing is stored. */
  async validate(document: Json): Promise<CheckedRule> {
    const query = { validate_only: true };
    return (await this.#http.call("post", ALL, { query, body: document as never })).data as unknown as CheckedRule;
  }

  /** Change where the nodes of a rule are on a canvas. Neither its version nor its `ETag` changes. */
  async saveLayout(rule: string, layout: Json): Promise<Json> {
    const answer = await this.#http.call("patch", `${ONE}/layout`, { path: { rule }, body: layout as never });
    return answer.data.canvas_layout as Json;
  }

  /** Let events, schedules and callers start a rule. */
  async activate(rule: string): Promise<Rule> {
    return (await this.#http.call("post", `${ONE}/activate`, { path: { rule } })).data;
  }

  /** Let nothing start a rule until it is activated again. */
  async deactivate(rule: string): Promise<Rule> {
    return (await this.#http.call("post", `${ONE}/deactivate`, { path: { rule } })).data;
  }

  /** Delete a rule. Its runs in flight go on. */
  async delete(rule: string, options: Matching = {}): Promise<DeletedRule> {
    return (await this.#http.call("delete", ONE, { path: { rule }, ...matched(options) })).data;
  }

  /** The versions of a rule, newest first, each with what differs from the one before. */
  history(rule: string): AsyncIterable<RuleVersion> {
    return pages((cursor) => this.#http.call("get", `${ONE}/history`, { path: { rule }, query: from(cursor) }));
  }

  /** Make a version of a rule its current one. */
  async restore(rule: string, number: number, options: Matching = {}): Promise<Rule> {
    const path = { rule, number: String(number) };
    return (await this.#http.call("post", `${ONE}/versions/{number}/restore`, { path, ...matched(options) })).data;
  }

  /** The runs of a rule, newest first. */
  runs(rule: string): AsyncIterable<RunSummary> {
    return pages((cursor) => this.#http.call("get", `${ONE}/runs`, { path: { rule }, query: from(cursor) }));
  }

  /** The actions of a rule. */
  async actions(rule: string): Promise<RuleAction[]> {
    return (await this.#http.call("get", `${ONE}/actions`, { path: { rule } })).data;
  }

  /** Add an action with the `edges` that lead to it. */
  async addAction(rule: string, action: Json, options: Matching = {}): Promise<RuleAction> {
    const parts = { path: { rule }, body: action as never, ...matched(options) };
    return (await this.#http.call("post", `${ONE}/actions`, parts)).data;
  }

  /** Change fields of an action. */
  async changeAction(rule: string, action: string, fields: Json, options: Matching = {}): Promise<RuleAction> {
    const parts = { path: { rule, action }, body: fields as never, ...matched(options) };
    return (await this.#http.call("patch", `${ONE}/actions/{action}`, parts)).data;
  }

  /** Remove an action and its edges. */
  async removeAction(rule: string, action: string, options: Matching & { reconnect?: boolean } = {}): Promise<RuleAction> {
    const { ifMatch, ...query } = options;
    const parts = { path: { rule, action }, query, ...matched({ ifMatch }) };
    return (await this.#http.call("delete", `${ONE}/actions/{action}`, parts)).data;
  }

  /** The edges of a rule. */
  async edges(rule: string): Promise<RuleEdge[]> {
    return (await this.#http.call("get", `${ONE}/edges`, { path: { rule } })).data;
  }

  /** Add an edge. */
  async addEdge(rule: string, edge: Json, options: Matching = {}): Promise<RuleEdge> {
    const parts = { path: { rule }, body: edge as never, ...matched(options) };
    return (await this.#http.call("post", `${ONE}/edges`, parts)).data;
  }

  /** Remove an edge. */
  async removeEdge(rule: string, edge: string, options: Matching = {}): Promise<RuleEdge> {
    return (await this.#http.call("delete", `${ONE}/edges/{edge}`, { path: { rule, edge }, ...matched(options) })).data;
  }

  /** When a rule can run. */
  async triggerTypes(): Promise<TriggerType[]> {
    return (await this.#http.call("get", "/api/v1/trigger-types", {})).data;
  }

  /** What the actions of a rule can be, with the JSON Schemas of their configs. */
  async actionTypes(): Promise<ActionType[]> {
    return (await this.#http.call("get", "/api/v1/action-types", {})).data;
  }
}

/** What can be asked about entities. */
export class Entities {
  readonly #http: Http;

  constructor(http: Http) {
    this.#http = http;
  }

  /** Every entity by name. */
  list(): AsyncIterable<Entity> {
    return pages((cursor) => this.#http.call("get", ENTITIES, { query: from(cursor) }));
  }

  /** An entity by id or name. */
  async get(entity: string): Promise<Entity> {
    return (await this.#http.call("get", ENTITY, { path: { entity } })).data;
  }

  /** Add an entity; Conflict if the name is taken. */
  async create(entity: NewEntity): Promise<Entity> {
    return (await this.#http.call("post", ENTITIES, { body: entity })).data;
  }

  /** Replace the title and the fields of an entity. */
  async change(entity: string, fields: Omit<NewEntity, "name">): Promise<Entity> {
    return (await this.#http.call("put", ENTITY, { path: { entity }, body: fields })).data;
  }

  /** Delete an entity; Conflict if it has rules. */
  async delete(entity: string): Promise<Entity> {
    return (await this.#http.call("delete", ENTITY, { path: { entity } })).data;
  }
}

/** What can be asked about alerts. */
export class Alerts {
  readonly #http: Http;

  constructor(http: Http) {
    this.#http = http;
  }

  /** Alerts, newest first. */
  list(which: AlertFilter = {}): AsyncIterable<Alert> {
    return pages((cursor) => this.#http.call("get", ALERTS, { query: { ...which, ...from(cursor) } }));
  }

  /** One alert. */
  async get(alert: string): Promise<Alert> {
    return (await this.#http.call("get", ALERT, { path: { alert } })).data;
  }

  /** Record that you have seen it; Conflict if it is resolved. */
  async acknowledge(alert: string): Promise<Alert> {
    return (await this.#http.call("post", `${ALERT}/acknowledge`, { path: { alert } })).data;
  }

  /** Record that its cause is gone. */
  async resolve(alert: string): Promise<Alert> {
    return (await this.#http.call("post", `${ALERT}/resolve`, { path: { alert } })).data;
  }
}

/** What can be asked about action templates. */
export class ActionTemplates {
  readonly #http: Http;

  constructor(http: Http) {
    this.#http = http;
  }

  /** Every action template by name. */
  list(which: ActionTemplateFilter = {}): AsyncIterable<ActionTemplate> {
    return pages((cursor) => this.#http.call("get", TEMPLATES, { query: { ...which, ...from(cursor) } }));
  }

  /** Store a configuration that new actions can begin with. */
  async create(template: NewActionTemplate): Promise<ActionTemplate> {
    return (await this.#http.call("post", TEMPLATES, { body: template })).data;
  }

  /** Replace it. */
  async replace(template: string, next: NewActionTemplate): Promise<ActionTemplate> {
    return (await this.#http.call("put", TEMPLATE, { path: { template }, body: next })).data;
  }

  /** Delete it. */
  async delete(template: string): Promise<ActionTemplate> {
    return (await this.#http.call("delete", TEMPLATE, { path: { template } })).data;
  }
}

function matched(options: Matching): { headers?: Record<string, string>; repeatable?: boolean } {
  return options.ifMatch === undefined ? {} : { headers: matching(options.ifMatch), repeatable: false };
}
