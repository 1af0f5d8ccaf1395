import type { SavedWorkflow, Version, Workflow } from "./documents.js";
import { InvalidArgument } from "./errors.js";
import type { BodyOf, Http, QueryOf } from "./http.js";
import { from, pages } from "./paging.js";

const ALL = "/api/v1/workflows";
const ONE = "/api/v1/workflows/{workflow}";

/** A definition, as an object or as the text of a JSON or YAML document. */
export type Definition = (BodyOf<"put", typeof ONE> & Record<string, unknown>) | string;
/** Which workflows. */
export type WorkflowFilter = Omit<QueryOf<"get", typeof ALL>, "cursor">;

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
  async save(definition: Definition, options: { ifMatch?: string } = {}): Promise<SavedWorkflow> {
    const headers = options.ifMatch === undefined ? {} : { "If-Match": options.ifMatch };
    const path = { workflow: nameOf(definition) };
    return await this.#http.call("put", ONE, { path, ...sent(definition, headers) });
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

function sent(definition: Definition, headers: Record<string, string>) {
  if (typeof definition !== "string") return { body: definition, headers };
  const kind = definition.trimStart().startsWith("{") ? "application/json" : "application/yaml";
  return { text: definition, headers: { ...headers, "Content-Type": kind } };
}

function nameOf(definition: Definition): string {
  const name = typeof definition === "string" ? written(definition) : definition.name;
  if (!name) throw new InvalidArgument("the definition has no name");
  return name;
}

/** The name at the top level of a text. */
function written(text: string): string | undefined {
  if (text.trimStart().startsWith("{")) {
    try {
      return String((JSON.parse(text) as { name?: unknown }).name ?? "");
    } catch (cause) {
      throw new InvalidArgument("the definition is no JSON", { cause });
    }
  }
  const found = /^name[ \t]*:[ \t]*(?:"([^"\n]+)"|'([^'\n]+)'|([^#\s]+))/m.exec(text);
  return found?.[1] ?? found?.[2] ?? found?.[3];
}
