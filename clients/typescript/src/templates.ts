import type {
  DocumentTemplate,
  Instantiated,
  Json,
  Rendering,
  SavedTemplate,
  TemplateSet,
  WorkflowTemplate,
} from "./documents.js";
import type { BodyOf, Http, QueryOf } from "./http.js";
import { from, pages } from "./paging.js";

const WORKFLOWS = "/api/v1/templates/workflows";
const WORKFLOW = "/api/v1/templates/workflows/{template}";
const DOCUMENTS = "/api/v1/templates";
const DOCUMENT = "/api/v1/templates/{template}";
const SETS = "/api/v1/template-sets";

/** Which workflow templates. */
export type WorkflowTemplateFilter = Omit<QueryOf<"get", typeof WORKFLOWS>, "cursor">;
/** A workflow template to be. Texts of its definition have places for values, `${config.NAME}`. */
export type NewWorkflowTemplate = BodyOf<"post", typeof WORKFLOWS>;
/** The new workflow: its name and its title; one of them is enough. */
export type NewWorkflow = { name?: string; title?: string };
/** Which document templates. */
export type DocumentTemplateFilter = Omit<QueryOf<"get", typeof DOCUMENTS>, "cursor">;
/** A document template to be. */
export type NewDocumentTemplate = BodyOf<"post", typeof DOCUMENTS>;
/** The next version of a document template. */
export type NextDocumentTemplate = BodyOf<"put", typeof DOCUMENT>;
/** Which version of a document template; `set` is needed only if several sets have its id. */
export type WhichDocument = QueryOf<"get", typeof DOCUMENT>;

/** What can be asked about workflow templates. */
export class WorkflowTemplates {
  readonly #http: Http;

  constructor(http: Http) {
    this.#http = http;
  }

  /** Every workflow template by id, those of Detent and your own, without definitions. */
  list(which: WorkflowTemplateFilter = {}): AsyncIterable<WorkflowTemplate> {
    return pages((cursor) => this.#http.call("get", WORKFLOWS, { query: { ...which, ...from(cursor) } }));
  }

  /** A workflow template, with its definition and the JSON Schema of its config. */
  async get(template: string): Promise<WorkflowTemplate> {
    return (await this.#http.call("get", WORKFLOW, { path: { template } })).data;
  }

  /** A workflow template of your own; Conflict if the id is taken. */
  async create(template: NewWorkflowTemplate): Promise<WorkflowTemplate> {
    return (await this.#http.call("post", WORKFLOWS, { body: template })).data;
  }

  /** Delete a workflow template of your own. Workflows that were made of it stay. */
  async delete(template: string): Promise<WorkflowTemplate> {
    return (await this.#http.call("delete", WORKFLOW, { path: { template } })).data;
  }

  /** The draft of a new workflow. Conflict if there is a workflow of that name. */
  async instantiate(template: string, config: Record<string, Json>, made: NewWorkflow = {}): Promise<Instantiated> {
    const names = {
      ...(made.name === undefined ? {} : { name: made.name }),
      ...(made.title === undefined ? {} : { display_name: made.title }),
    };
    const parts = { path: { template }, body: { config, ...names } };
    return (await this.#http.call("post", `${WORKFLOW}/instantiate`, parts)).data;
  }
}

/** What can be asked about document templates and their sets. */
export class DocumentTemplates {
  readonly #http: Http;

  constructor(http: Http) {
    this.#http = http;
  }

  /** Every document template by set and id, each as its newest version, without texts. */
  list(which: DocumentTemplateFilter = {}): AsyncIterable<DocumentTemplate> {
    return pages((cursor) => this.#http.call("get", DOCUMENTS, { query: { ...which, ...from(cursor) } }));
  }

  /** A version of a document template; by default the newest one that is enabled. */
  async get(template: string, which: WhichDocument = {}): Promise<DocumentTemplate> {
    return (await this.#http.call("get", DOCUMENT, { path: { template }, query: which })).data;
  }

  /** A document template, with its set if that is new; Conflict if the set has one with that id. */
  async create(template: NewDocumentTemplate): Promise<DocumentTemplate> {
    return (await this.#http.call("post", DOCUMENTS, { body: template })).data;
  }

  /** The next version of a document template, which is created if it is new. `changed` is false if its newest version
   * has the same text. */
  async save(set: string, template: string, next: NextDocumentTemplate): Promise<SavedTemplate> {
    return await this.#http.call("put", DOCUMENT, { path: { template }, query: { set }, body: next });
  }

  /** Let a version be rendered again, or all of them. */
  async enable(template: string, which: WhichDocument = {}): Promise<DocumentTemplate> {
    return (await this.#http.call("post", `${DOCUMENT}/enable`, { path: { template }, query: which, repeatable: true })).data;
  }

  /** Let a version not be rendered any more, or all of them. */
  async disable(template: string, which: WhichDocument = {}): Promise<DocumentTemplate> {
    return (await this.#http.call("post", `${DOCUMENT}/disable`, { path: { template }, query: which, repeatable: true })).data;
  }

  /** A document of a template and answers. InvalidArgument with every problem of the answers. */
  async render(template: string, answers: Record<string, Json>, which: WhichDocument = {}): Promise<Rendering> {
    const parts = { path: { template }, query: which, body: { answers }, repeatable: true };
    return (await this.#http.call("post", `${DOCUMENT}/render`, parts)).data;
  }

  /** Every set of document templates by id. */
  sets(which: Omit<QueryOf<"get", typeof SETS>, "cursor"> = {}): AsyncIterable<TemplateSet> {
    return pages((cursor) => this.#http.call("get", SETS, { query: { ...which, ...from(cursor) } }));
  }

  /** A set of document templates: create it, or replace its title, its team and whether it is enabled. */
  async saveSet(set: string, change: BodyOf<"put", "/api/v1/template-sets/{template_set}">): Promise<TemplateSet> {
    const parts = { path: { template_set: set }, body: change };
    return (await this.#http.call("put", "/api/v1/template-sets/{template_set}", parts)).data;
  }
}
