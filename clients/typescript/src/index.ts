/** A typed client for Detent. */

export { Detent } from "./client.js";
export * from "./documents.js";
export * from "./errors.js";
export type { AnswerOf, BodyOf, Method, Options, Parts, PathOf, QueryOf } from "./http.js";
export type { BulkAction, BulkFilter, RunFilter, Runs, StartOptions } from "./runs.js";
export type { components, operations, paths } from "./schema.js";
export type { Entry, FollowOptions, Heard } from "./stream.js";
export type { NewTrigger, TriggerChange, TriggerFilter, Triggers } from "./triggers.js";
export type { Definition, Tagged, WorkflowFilter, Workflows } from "./workflows.js";
