/** Rules, the entities that they watch, what happened to these, and the alerts that rules raise. */
import { infiniteQueryOptions, keepPreviousData, queryOptions } from "@tanstack/react-query";
import type { components } from "detent-client";
import { path, read, readTagged, write } from "./client";
import type { One, Page } from "./documents";
import type { WorkflowStats } from "./workflows";

type Schemas = components["schemas"];
export type Rule = Schemas["RuleDocument"];
export type RuleSummary = Schemas["RuleSummary"];
export type RuleVersion = Schemas["RuleVersionDocument"];
export type RuleDifference = Schemas["RuleDifference"];
export type CheckedRule = Schemas["CheckedRuleDocument"];
export type RecentEvent = Schemas["RecentEventDocument"];
export type Condition = Schemas["ConditionDocument"];
export type RuleFiring = Schemas["RuleFiringDocument"];
export type RuleMatch = Schemas["RuleMatchDocument"];
export type Entity = Schemas["EntityDocument"];
export type EntityEvent = Schemas["EntityEventDocument"];
export type Alert = Schemas["AlertDocument"];

/** A page of rules is so long that its statistics fit into one request. */
const RULES = 50;

/** Which rules, by the fields of the list. */
export type RuleFilter = Partial<Record<"search" | "entity" | "trigger_type" | "is_active", string>>;

function pagesOf<T>(queryKey: readonly unknown[], place: string, filter: Record<string, string>, limit: number) {
  return infiniteQueryOptions({
    queryKey,
    queryFn: ({ pageParam, signal }) => read<Page<T>>(place, { ...filter, limit, cursor: pageParam }, signal),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next_cursor ?? undefined,
    placeholderData: keepPreviousData,
  });
}

export function rulesQuery(filter: RuleFilter) {
  return pagesOf<RuleSummary>(["rules", "list", filter], "/api/v1/rules", filter, RULES);
}

/** How these rules did lately, by key. */
export function ruleStatsQuery(keys: readonly string[]) {
  return queryOptions({
    queryKey: ["rules", "stats", keys],
    queryFn: async ({ signal }) => {
      const found = new Map<string, WorkflowStats>();
      for (let i = 0; i < keys.length; i += RULES) {
        const { data } = await read<Page<WorkflowStats>>("/api/v1/stats", { workflow: keys.slice(i, i + RULES) }, signal);
        for (const one of data) found.set(one.workflow, one);
      }
      return found;
    },
    enabled: keys.length > 0,
    staleTime: 15_000,
    placeholderData: keepPreviousData,
  });
}

/** A rule as it is now, and the tag of that state. */
export interface TaggedRule {
  rule: Rule;
  etag: string;
}

export function ruleQuery(rule: string) {
  return queryOptions({
    queryKey: ["rules", "one", rule],
    queryFn: async ({ signal }): Promise<TaggedRule> => {
      const { answer, etag } = await readTagged<One<Rule>>(path`/api/v1/rules/${rule}`, signal);
      return { rule: answer.data, etag };
    },
    staleTime: 30_000,
  });
}

/** What changed from version to version, newest first. */
export function historyQuery(rule: string) {
  return pagesOf<RuleVersion>(["rules", "one", rule, "history"], path`/api/v1/rules/${rule}/history`, {}, 50);
}

/** The last events of the rule's entity, and whether it matches each. */
export function recentMatchesQuery(rule: string) {
  return queryOptions({
    queryKey: ["rules", "one", rule, "events"],
    queryFn: async ({ signal }) => (await read<Page<RecentEvent>>(path`/api/v1/rules/${rule}/recent-matches`, {}, signal)).data,
    staleTime: 5000,
  });
}

export function firingsQuery(rule: string) {
  return pagesOf<RuleFiring>(["rules", "one", rule, "firings"], path`/api/v1/rules/${rule}/firings`, {}, 50);
}

export async function changeRule(rule: string, verb: "activate" | "deactivate"): Promise<void> {
  await write("post", `${path`/api/v1/rules/${rule}`}/${verb}`, undefined, { repeatable: true });
}

export async function deleteRule(rule: string, etag: string): Promise<void> {
  await write("delete", path`/api/v1/rules/${rule}`, undefined, { headers: { "if-match": etag } });
}

export async function restoreRule(rule: string, version: number, etag: string): Promise<Rule> {
  const place = path`/api/v1/rules/${rule}/versions/${version}/restore`;
  return (await write<One<Rule>>("post", place, undefined, { headers: { "if-match": etag } })).data;
}

/** Check a rule as a save does. Without `rule` it is a new one. */
export async function validateRule(rule: string | null, document: unknown): Promise<CheckedRule> {
  const place = rule === null ? "/api/v1/rules" : path`/api/v1/rules/${rule}`;
  return (await write<One<CheckedRule>>(rule === null ? "post" : "put", place, document, { query: { validate_only: true } })).data;
}

/** Save everything of a rule at once. Refused if it is not as it was when it had that tag. */
export async function saveRule(rule: string | null, document: unknown, etag: string): Promise<Rule> {
  if (rule === null) return (await write<One<Rule>>("post", "/api/v1/rules", document)).data;
  return (await write<One<Rule>>("put", path`/api/v1/rules/${rule}`, document, { headers: { "if-match": etag } })).data;
}

/** A change of a record to try. */
export interface TriedChange {
  entity: string;
  operation: string;
  before: unknown;
  after: unknown;
}

/** Which active rules of its entity a change matches, and why the others do not; with `rule` that rule alone, active or
 * not. Nothing is stored and nothing is started. */
export async function matchRules(change: TriedChange, rule?: string): Promise<RuleMatch[]> {
  const body = rule === undefined ? change : { ...change, rule };
  return (await write<Page<RuleMatch>>("post", "/api/v1/rules/match", body, { repeatable: true })).data;
}

// Entities.

export function entitiesQuery() {
  return pagesOf<Entity>(["entities", "list"], "/api/v1/entities", {}, 200);
}

export function entityQuery(entity: string) {
  return queryOptions({
    queryKey: ["entities", "one", entity],
    queryFn: async ({ signal }) => (await read<One<Entity>>(path`/api/v1/entities/${entity}`, {}, signal)).data,
    staleTime: 30_000,
  });
}

/** The last events of an entity, with their records. */
export function entityEventsQuery(entity: string) {
  return queryOptions({
    queryKey: ["entities", "one", entity, "events"],
    queryFn: async ({ signal }) => (await read<Page<EntityEvent>>(path`/api/v1/entities/${entity}/events`, {}, signal)).data,
    staleTime: 5000,
  });
}

export interface WrittenEntity {
  name: string;
  title: string;
  fields: unknown;
}

/** Add an entity, or change the title and the fields of one. */
export async function saveEntity(entity: string | null, written: WrittenEntity): Promise<Entity> {
  const place = entity === null ? "/api/v1/entities" : path`/api/v1/entities/${entity}`;
  const body = { name: written.name, ...(written.title ? { title: written.title } : {}), ...(written.fields === null ? {} : { fields: written.fields }) };
  return (await write<One<Entity>>(entity === null ? "post" : "put", place, body)).data;
}

export async function deleteEntity(entity: string): Promise<void> {
  await write("delete", path`/api/v1/entities/${entity}`);
}

// Alerts.

export type AlertFilter = { status?: string; rule?: string; run?: string; severity?: string };

export function alertsQuery(filter: AlertFilter) {
  return pagesOf<Alert>(["alerts", "list", filter], "/api/v1/alerts", filter, 100);
}

export function alertQuery(alert: string) {
  return queryOptions({
    queryKey: ["alerts", "one", alert],
    queryFn: async ({ signal }) => (await read<One<Alert>>(path`/api/v1/alerts/${alert}`, {}, signal)).data,
  });
}

/** How many open alerts there are; the server is asked for no more than these. */
export const MOST_OPEN = 200;

/** The open alerts, newest first, for counts. */
export function openAlertsQuery() {
  return queryOptions({
    queryKey: ["alerts", "open"],
    queryFn: async ({ signal }) => (await read<Page<Alert>>("/api/v1/alerts", { status: "open", limit: MOST_OPEN }, signal)).data,
    staleTime: 15_000,
  });
}

export type AlertVerb = "acknowledge" | "resolve";

export async function changeAlert(alert: string, verb: AlertVerb): Promise<Alert> {
  return (await write<One<Alert>>("post", `${path`/api/v1/alerts/${alert}`}/${verb}`, undefined, { repeatable: true })).data;
}
