import type { components } from "./schema.js";

type Schemas = components["schemas"];

/** Any JSON value. */
export type Json = unknown;
/** A workflow and its current version. Lists leave out the definition. */
export type Workflow = Schemas["WorkflowDocument"];
/** A workflow as it was saved; `changed` is false if that definition was there already. */
export type SavedWorkflow = Schemas["SavedWorkflowAnswer"];
/** The version that a publish made or found, and the rehearsal if one was asked for. */
export type Published = Schemas["PublishedDocument"];
/** What the save of a definition would do. */
export type PlannedChange = Schemas["PlannedChangeDocument"];
/** What a draft would do to recorded runs. */
export type Rehearsal = Schemas["RehearsalDocument"];
/** The draft of a workflow, with the problems that keep it from being published. */
export type Draft = Schemas["DraftDocument"];
/** What differs between two versions of a workflow: steps, edges and settings. */
export type Diff = Schemas["DiffDocument"];
/** One version of a workflow. */
export type Version = Schemas["VersionDocument"];
/** A pattern that becomes a workflow. Lists leave out the definition. */
export type WorkflowTemplate = Schemas["WorkflowTemplateDocument"];
/** The draft of a workflow that was made of a template. */
export type Instantiated = Schemas["InstantiatedDocument"];
/** A set of document templates. */
export type TemplateSet = Schemas["TemplateSetDocument"];
/** A version of a document template. Lists leave out its texts. */
export type DocumentTemplate = Schemas["DocumentTemplateDocument"];
/** A document template as it was saved; `changed` is false if its newest version has the same text. */
export type SavedTemplate = Schemas["SavedTemplateAnswer"];
/** A rendered document, and the template that it was made of. */
export type Rendering = Schemas["RenderingDocument"];
/** A run that was accepted. */
export type Started = Schemas["StartedDocument"];
/** What a run would do, with answers in place of effects. */
export type DryRun = Schemas["DryRunDocument"];
/** A run in a list. */
export type RunSummary = Schemas["RunSummary"];
/** A whole run; `tasks` holds each step by name. */
export type Run = Schemas["RunDocument"];
/** Why a run does not go on. */
export type Why = Schemas["WhyDocument"];
/** A run at a glance: each step with its status, times and tries, without bodies. */
export type Outline = Schemas["OutlineDocument"];
/** A step of an outline. */
export type StepOutline = Schemas["StepOutline"];
/** The steps and edges of a version, or of a run. */
export type Graph = Schemas["GraphDocument"];
/** Everything about one step of a run. */
export type StepDetail = Schemas["StepDetail"];
/** A wait that is active. */
export type WaitItem = Schemas["WaitItem"];
/** A resource of another system that belongs to a run. */
export type Resource = Schemas["ResourceDocument"];
/** A key of the API, without the key itself. */
export type Key = Schemas["KeyDocument"];
/** A key that was created now, with the key itself. */
export type CreatedKey = Schemas["CreatedKeyDocument"];
/** Who asks, what it may do, and what the server is. */
export type Me = Schemas["MeDocument"];
/** What Detent gave up: a step, a run, a firing or an event. */
export type DeadLetter = Schemas["LetterDocument"];
/** A rule with its actions, edges and layout. */
export type Rule = Schemas["RuleDocument"];
/** A rule in a list. */
export type RuleSummary = Schemas["RuleSummary"];
/** An action of a rule. */
export type RuleAction = Schemas["RuleActionDocument"];
/** An edge of a rule. */
export type RuleEdge = Schemas["RuleEdgeDocument"];
/** A version of a rule. */
export type RuleVersion = Schemas["RuleVersionDocument"];
/** What differs between two versions of a rule. */
export type RuleDifference = Schemas["RuleDifference"];
/** A rule that a save would accept. */
export type CheckedRule = Schemas["CheckedRuleDocument"];
/** A rule that was deleted. */
export type DeletedRule = Schemas["DeletedRuleDocument"];
/** What a rule has become since it was read. */
export type StaleRule = Schemas["StaleRuleDocument"];
/** A kind of records that rules watch. */
export type Entity = Schemas["EntityDocument"];
/** When a rule can run. */
export type TriggerType = Schemas["TriggerTypeDocument"];
/** A type of actions. */
export type ActionType = Schemas["ActionTypeDocument"];
/** What an action of a rule has raised. */
export type Alert = Schemas["AlertDocument"];
/** A configuration that new actions can begin with. */
export type ActionTemplate = Schemas["ActionTemplateDocument"];
/** What came of a wish for many dead letters. */
export type BulkLetters = Schemas["BulkLettersDocument"];
/** The value of an expression on the data of a run, or its error. */
export type Evaluation = Schemas["EvaluationDocument"];
/** What a retry would keep, and which steps would run again. */
export type RetryPreview = Schemas["RetryPreviewDocument"];
/** A move of a run to another version, or why it cannot be moved. */
export type Move = Schemas["MoveDocument"];
/** Which runs can be moved to another version, in groups. */
export type Moves = Schemas["MovesDocument"];
/** The parents and children of a run, as a tree. */
export type Hierarchy = Schemas["HierarchyDocument"];
/** An item of a step that runs for each item of a list. */
export type Item = Schemas["ItemDocument"];
/** What came of a wish for many runs. */
export type Bulk = Schemas["BulkDocument"];
/** What starts a workflow by itself. */
export type Trigger = Schemas["TriggerDocument"];
/** One time that a trigger fired, and what came of it. */
export type Firing = Schemas["FiringDocument"];
/** The slots of a schedule in a range that has passed. */
export type Backfill = Schemas["BackfillDocument"];
/** A service that steps can call. */
export type Connector = Schemas["ConnectorDocument"];
/** What a step can call. */
export type Action = Schemas["CatalogActionDocument"];
/** How many actions each connector, category and tag has. */
export type ActionFacets = Schemas["ActionFacetsDocument"];
/** What an import of a connector did, or would do. */
export type ConnectorImport = Schemas["ImportDocument"];
/** What an upgrade to newer versions of the actions of a connector did, or would do. */
export type ConnectorUpgrade = Schemas["UpgradeDocument"];
/** A callback that was received. */
export type CallbackReceipt = Schemas["CallbackReceipt"];
/** What an event has set going. */
export type EventReceipt = Schemas["EventReceipt"];

const ENDED: ReadonlySet<string> = new Set(["completed", "failed", "cancelled", "timeout"]);

/** Whether a run with this status is over. */
export function hasEnded(status: string): boolean {
  return ENDED.has(status);
}
/** A change of a record that is stored, and what it started if the sender waited. */
export type EntityEventReceipt = Schemas["EntityEventReceipt"];
/** Whether a change matches a rule, and why not. */
export type RuleMatch = Schemas["RuleMatchDocument"];
