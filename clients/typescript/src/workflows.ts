import type { Diff, Draft, Published, Rehearsal, SavedWorkflow, Version, Workflow } from "./documents.js";
import { InvalidArgument } from "./errors.js";
import type { BodyOf, Http, QueryOf } from "./http.js";
import { from, pages } from "./paging.js";

const ALL = "/api/v1/workflows";
const ONE = "/api/v1/workflows/{workflow}";

/** A definition, as an object or as the text of a JSON or YAML document. */
export type Definition = (BodyOf<"put", typeof ONE> & Record<string, unknown>) | string;
/** Which workflows. */
export type WorkflowFilter = Omit<QueryOf<"get", typeof ALL>, "cursor">;

/** How a draft is published. `ifMatch` is the `ETag` of the draft. */
export type PublishOptions = QueryOf<"post", `${typeof ONE}/publish`> & { ifMatch?: string };

/** Which versions are compared: numbers, or `draft`. */
export type DiffOptions = QueryOf<"get", `${typeof ONE}/diff`>;

/** Seconds that a rehearsal may take beside the usual time of a request. */
const LONGEST_REHEARSAL = 300;

/** A workflow, and the `ETag` of the state it was read in. */
export type Tagged = Workflow & { etag: string | undefined };

/** What can be asked about workflows. */
export class Workflows {
  readonly #http: Http;

  constructor(http: Http) {
    this.#http = http;
  }

  /** Create a workflow, or give it a new version if the definition differs. With `ifMatch` only if its `etag` is still
   * that one, else PreconditionFailed. */
  async save(definition: Definition, options: { ifMatch?: string; draft?: boolean } = {}): Promise<SavedWorkflow> {
    const path = { workflow: nameOf(definition) };
    const query = options.draft === undefined ? {} : { draft: options.draft };
    return await this.#http.call("put", ONE, { path, query, ...sent(definition, matching(options.ifMatch)) });
  }

  /** Make a version of the draft. With `rehearse` the draft is run over recorded runs first, and the answer has the
   * `rehearsal`; with `strict`, RehearsalFailed if a run would fail or a run in flight could not be moved. */
  async publish(workflow: string, options: PublishOptions = {}): Promise<Published> {
    const { ifMatch, ...query } = options;
    const patience = query.rehearse ? LONGEST_REHEARSAL : 0;
    const parts = { path: { workflow }, query, headers: matching(ifMatch), repeatable: ifMatch === undefined, patience };
    return (await this.#http.call("post", `${ONE}/publish`, parts)).data;
  }

  /** Run a definition over the recorded runs of its workflow. Nothing is changed. */
  async rehearse(definition: Definition, options: { days?: number } = {}): Promise<Rehearsal> {
    const path = { workflow: nameOf(definition) };
    const more = { path, query: options, repeatable: true, patience: LONGEST_REHEARSAL };
    return (await this.#http.call("post", `${ONE}/rehearse`, { ...more, ...sent(definition, {}) })).data;
  }

  /** Create a workflow; Conflict if the name is taken. */
  async create(definition: Definition): Promise<Workflow> {
    return (await this.#http.call("post", ALL, sent(definition, {}))).data;
  }

  /** A workflow by its id or name, with its definition. */
  async get(workflow: string): Promise<Tagged> {
    const response = await this.#http.send("get", ONE, { path: { workflow } });
    const { data } = (await response.json()) as { data: Workflow };
    return { ...data, etag: response.headers.get("etag") ?? undefined };
  }

  /** Every workflow by name, without definitions. */
  list(which: WorkflowFilter = {}): AsyncIterable<Workflow> {
    return pages((cursor) => this.#http.call("get", ALL, { query: { ...which, ...from(cursor) } }));
  }

  /** The versions of a workflow, newest first. */
  versions(workflow: string): AsyncIterable<Version> {
    const path = { workflow };
    return pages((cursor) => this.#http.call("get", `${ONE}/versions`, { path, query: from(cursor) }));
  }

  /** One version of a workflow, with its definition. */
  async version(workflow: string, number: number): Promise<Version> {
    return (await this.#http.call("get", `${ONE}/versions/{number}`, { path: { workflow, number: String(number) } })).data;
  }

  /** Make a version the current one. Runs in flight stay on theirs. */
  async activate(workflow: string, number: number): Promise<Workflow> {
    const parts = { path: { workflow, number: String(number) }, repeatable: true };
    return (await this.#http.call("post", `${ONE}/versions/{number}/activate`, parts)).data;
  }

  /** What differs between two versions; without `from` the current one, without `to` the draft or the newest. */
  async diff(workflow: string, versions: DiffOptions = {}): Promise<Diff> {
    return (await this.#http.call("get", `${ONE}/diff`, { path: { workflow }, query: versions })).data;
  }

  /** The draft of a workflow. */
  async draft(workflow: string): Promise<Draft> {
    return (await this.#http.call("get", `${ONE}/draft`, { path: { workflow } })).data;
  }

  /** Delete the draft of a workflow that has a version. */
  async discardDraft(workflow: string): Promise<Draft> {
    return (await this.#http.call("delete", `${ONE}/draft`, { path: { workflow } })).data;
  }

  /** Let nothing start it, and its triggers not fire. Runs in flight go on; those that have not begun are cancelled. */
  async archive(workflow: string): Promise<Workflow> {
    return (await this.#http.call("post", `${ONE}/archive`, { path: { workflow }, repeatable: true })).data;
  }

  /** Let an archived workflow be started again. */
  async reactivate(workflow: string): Promise<Workflow> {
    return (await this.#http.call("post", `${ONE}/reactivate`, { path: { workflow }, repeatable: true })).data;
  }

  /** Put a workflow away. Its runs in flight go on. */
  async delete(workflow: string): Promise<Workflow> {
    return (await this.#http.call("delete", ONE, { path: { workflow } })).data;
  }

  /** Let it be started again. */
  async enable(workflow: string): Promise<Workflow> {
    return (await this.#http.call("post", `${ONE}/enable`, { path: { workflow }, repeatable: true })).data;
  }

  /** Let nothing start it. */
  async disable(workflow: string): Promise<Workflow> {
    return (await this.#http.call("post", `${ONE}/disable`, { path: { workflow }, repeatable: true })).data;
  }
}

export function matching(etag: string | undefined): Record<string, string> {
  return etag === undefined ? {} : { "If-Match": etag };
}

function sent(definition: Definition, headers: Record<string, string>) {
  if (typeof definition !== "string") return { body: definition, headers };
  const kind = definition.trimStart().startsWith("{") ? "application/json" : "application/yaml";
  return { text: definition, headers: { ...headers, "Content-Type": kind } };
}

function nameOf(definition: Definition): string {
  const name = typeof definition === "string" ? written(definition) : (definition.name ?? definition["id"]);
  if (typeof name !== "string" || !name) throw new InvalidArgument("the definition has no name");
  return name;
}

/** The name at the top level of a text: `name`, or `id` in the graph form. */
function written(text: string): string | undefined {
  if (text.trimStart().startsWith("{")) {
    try {
      const known = JSON.parse(text) as { name?: unknown; id?: unknown };
      return String(known.name ?? known.id ?? "");
    } catch (cause) {
      throw new InvalidArgument("the definition is no JSON", { cause });
    }
  }
  const key = (name: string) => new RegExp(`^${name}[ \\t]*:[ \\t]*(?:"([^"\\n]+)"|'([^'\\n]+)'|([^#\\s]+))`, "m");
  const found = key("name").exec(text) ?? key("id").exec(text);
  return found?.[1] ?? found?.[2] ?? found?.[3];
}
