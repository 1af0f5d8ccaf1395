/** A typed client for Detent. */

export { Detent } from "./client.js";
export type { ActionFilter, Connectors, McpImport } from "./connectors.js";
export type { DeadLetters, LetterBulk, LetterFilter } from "./dead_letters.js";
export type {
  ActionTemplateFilter,
  ActionTemplates,
  AlertFilter,
  Alerts,
  Entities,
  Matching,
  NewActionTemplate,
  NewEntity,
  RuleFilter,
  Rules,
  TaggedRule,
} from "./rules.js";
export type { Keys, NewKey, Rotation } from "./keys.js";
export * from "./documents.js";
export * from "./errors.js";
export { type AnswerOf, type BodyOf, Http, type Method, type Options, type Parts, type PathOf, type QueryOf } from "./http.js";
export type {
  BulkAction,
  BulkFilter,
  BulkOptions,
  DryRunOptions,
  LogLine,
  LogOptions,
  MoveOptions,
  RetryVersion,
  RunFilter,
  RunPage,
  Runs,
  StartOptions,
} from "./runs.js";
export type { components, operations, paths } from "./schema.js";
export { type Entry, type FollowOptions, type Frame, type Heard, Parser } from "./stream.js";
export type {
  DocumentTemplateFilter,
  DocumentTemplates,
  NewDocumentTemplate,
  NewWorkflow,
  NewWorkflowTemplate,
  NextDocumentTemplate,
  WhichDocument,
  WorkflowTemplateFilter,
  WorkflowTemplates,
} from "./templates.js";
export type { NewTrigger, TriggerChange, TriggerFilter, Triggers } from "./triggers.js";
export type { Definition, DiffOptions, EditOptions, Form, PublishOptions, ReadOptions, Tagged, WorkflowFilter, Workflows } from "./workflows.js";
