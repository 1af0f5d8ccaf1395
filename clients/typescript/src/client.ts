import { Connectors } from "./connectors.js";
import { DeadLetters } from "./dead_letters.js";
import type {
  CallbackReceipt,
  DryRun,
  EntityEventReceipt,
  EventReceipt,
  Json,
  Me,
  Resource,
  RuleMatch,
  Started,
} from "./documents.js";
import { type AnswerOf, type BodyOf, Http, type Method, type Options, type Parts, type PathOf, type QueryOf } from "./http.js";
import { Keys } from "./keys.js";
import { newId } from "./ids.js";
import { from, pages } from "./paging.js";
import { ActionTemplates, Alerts, Entities, Rules } from "./rules.js";
import { type DryRunOptions, dryRun, Runs, type StartOptions, start } from "./runs.js";
import type { FollowOptions, Heard } from "./stream.js";
import { DocumentTemplates, WorkflowTemplates } from "./templates.js";
import { Triggers } from "./triggers.js";
import { Workflows } from "./workflows.js";

/** A change of a record of an entity. */
export type RecordChange = Exclude<BodyOf<"post", "/api/v1/events/entity">, readonly unknown[]>;

/** A Detent, asked over HTTP. One client is enough for a whole program. */
export class Detent {
  readonly workflows: Workflows;
  readonly runs: Runs;
  readonly triggers: Triggers;
  readonly connectors: Connectors;
  readonly deadLetters: DeadLetters;
  readonly keys: Keys;
  readonly workflowTemplates: WorkflowTemplates;
  readonly documentTemplates: DocumentTemplates;
  readonly rules: Rules;
  readonly entities: Entities;
  readonly alerts: Alerts;
  readonly actionTemplates: ActionTemplates;
  readonly #http: Http;

  constructor(options: Options) {
    this.#http = new Http(options);
    this.workflows = new Workflows(this.#http);
    this.runs = new Runs(this.#http);
    this.triggers = new Triggers(this.#http);
    this.connectors = new Connectors(this.#http);
    this.deadLetters = new DeadLetters(this.#http);
    this.keys = new Keys(this.#http);
    this.workflowTemplates = new WorkflowTemplates(this.#http);
    this.documentTemplates = new DocumentTemplates(this.#http);
    this.rules = new Rules(this.#http);
    this.entities = new Entities(this.#http);
    this.alerts = new Alerts(this.#http);
    this.actionTemplates = new ActionTemplates(this.#http);
  }

  /** Who asks, what it may do, and what the server is. */
  async me(): Promise<Me> {
    return (await this.#http.call("get", "/api/v1/me")).data;
  }

  /** Start a run of a workflow. When this returns, it is on disk and will come to an end. */
  async start(workflow: string, body: Json = {}, options: StartOptions = {}): Promise<Started> {
    return await start(this.#http, workflow, body, options);
  }

  /** What a run of a workflow would do. Nothing is started and nothing is written: effects get answers instead. */
  async dryRun(workflow: string, body: Json = {}, options: DryRunOptions = {}): Promise<DryRun> {
    return await dryRun(this.#http, workflow, body, options);
  }

  /** The entries of a run as they are written, until it ends. */
  follow(run: string, options: FollowOptions = {}): AsyncGenerator<Heard, void, void> {
    return this.runs.follow(run, options);
  }

  /** Answer a wait step, at the URL of its callback or by the token alone. It is sent to this client's own server. The
   * same `messageId` again is the same callback again. */
  async answer(urlOrToken: string, body: Json = {}, options: { messageId?: string } = {}): Promise<CallbackReceipt> {
    const token = decodeURIComponent(new URL(urlOrToken, "http://token/").pathname.split("/").pop() ?? "");
    const headers = { "webhook-id": options.messageId ?? newId() };
    return (await this.#http.call("post", "/wh/{token}", { path: { token }, body, headers, repeatable: true })).data;
  }

  /** Send an event; event triggers of that type fire. The same `id` again fires nothing again. */
  async sendEvent(type: string, data: Json = {}, options: { id?: string } = {}): Promise<EventReceipt> {
    const body = { type, data, id: options.id ?? newId() };
    return (await this.#http.call("post", "/api/v1/events", { body, repeatable: true })).data;
  }

  /** Say that a record of an entity was created, updated or deleted; every active rule that matches is started once. The
   * same `event_id` again starts nothing again. With `wait` the answer says what was started. */
  async sendChange(change: RecordChange, options: { wait?: string } = {}): Promise<EntityEventReceipt> {
    const body = { event_id: newId(), ...change };
    return (await this.#http.call("post", "/api/v1/events/entity", { body, query: options, repeatable: true })).data;
  }

  /** Which rules a change would start, and which condition of the others is false. Nothing is started. */
  async matchRules(change: RecordChange, rule?: string): Promise<RuleMatch[]> {
    const body = rule === undefined ? change : { ...change, rule };
    return (await this.#http.call("post", "/api/v1/rules/match", { body, repeatable: true })).data;
  }

  /** The resources of other systems that belong to runs. `type` needs `system`, and `id` needs both. */
  resources(which: Omit<QueryOf<"get", "/api/v1/resources">, "cursor"> = {}): AsyncIterable<Resource> {
    return pages((cursor) =>
      this.#http.call("get", "/api/v1/resources", { query: { ...which, ...from(cursor) } }),
    );
  }

  /** Whether it can take work; Unavailable if it is starting, stopping or cut off. */
  async ready(): Promise<string> {
    return (await this.#http.call("get", "/health/ready", { repeatable: false })).status;
  }

  /** Any operation of the API, typed by its OpenAPI document. */
  async request<M extends Method, P extends PathOf<M>>(
    method: M,
    path: P,
    parts: Parts<M, P> = {},
  ): Promise<AnswerOf<M, P>> {
    return await this.#http.call(method, path, parts);
  }
}
