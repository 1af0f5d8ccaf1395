import type { components } from "./schema.js";

type Schemas = components["schemas"];

/** Any JSON value. */
export type Json = unknown;
/** A workflow and its current version. Lists leave out the definition. */
export type Workflow = Schemas["WorkflowDocument"];
/** A workflow as it was saved; `changed` is false if that definition was there already. */
export type SavedWorkflow = Schemas["SavedWorkflowAnswer"];
/** One version of a workflow. */
export type Version = Schemas["VersionDocument"];
/** A run that was accepted. */
export type Started = Schemas["StartedDocument"];
/** A run in a list. */
export type RunSummary = Schemas["RunSummary"];
/** A whole run; `tasks` holds each step by name. */
export type Run = Schemas["RunDocument"];
/** Why a run does not go on. */
export type Why = Schemas["WhyDocument"];
/** The value of an expression on the data of a run, or its error. */
export type Evaluation = Schemas["EvaluationDocument"];
/** What came of a wish for many runs. */
export type Bulk = Schemas["BulkDocument"];
/** What starts a workflow by itself. */
export type Trigger = Schemas["TriggerDocument"];
/** One time that a trigger fired, and what came of it. */
export type Firing = Schemas["FiringDocument"];
/** The slots of a schedule in a range that has passed. */
export type Backfill = Schemas["BackfillDocument"];
/** A callback that was received. */
export type CallbackReceipt = Schemas["CallbackReceipt"];
/** What an event has set going. */
export type EventReceipt = Schemas["EventReceipt"];

const ENDED: ReadonlySet<string> = new Set(["completed", "failed", "cancelled", "timeout"]);

/** Whether a run with this status is over. */
export function hasEnded(status: string): boolean {
  return ENDED.has(status);
}
