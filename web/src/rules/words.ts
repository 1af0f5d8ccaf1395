/** Rules, events and alerts in words. */
import type { Condition, Rule, RuleDifference } from "../api/rules";
import type { Diff } from "../api/workflows";

/** What a trigger type waits for, in the middle of a sentence. */
const HAPPENS: Readonly<Record<string, string>> = { on_create: "created", on_update: "updated", on_delete: "deleted" };
export const TRIGGERS: readonly [string, string][] = [
  ["on_create", "On create"],
  ["on_update", "On update"],
  ["on_delete", "On delete"],
  ["scheduled", "Scheduled"],
  ["manual", "Manual"],
];
/** What happened to a record. */
const HAPPENED: Readonly<Record<string, string>> = { create: "created", update: "updated", delete: "deleted" };
export const OPERATIONS: readonly [string, string][] = [
  ["create", "Create"],
  ["update", "Update"],
  ["delete", "Delete"],
];

interface Started {
  entity: string | null;
  trigger_type_id: string;
  cron_expression?: unknown;
  timezone?: unknown;
}

/** Whether events start a rule. */
export function isByEvents(rule: Pick<Started, "trigger_type_id">): boolean {
  return rule.trigger_type_id in HAPPENS;
}

/** `order updated`, `on a schedule`: when a rule runs, as a row says it. */
export function whenOf(rule: Started): string {
  const happens = HAPPENS[rule.trigger_type_id];
  if (happens) return `${rule.entity ?? "a record"} ${happens}`;
  if (rule.trigger_type_id !== "scheduled") return "when it is started";
  return typeof rule.cron_expression === "string" ? `at ${rule.cron_expression}` : "on a schedule";
}

/** The sentence of a rule: when it runs, and on which condition. */
export function sentenceOf(rule: Started & Pick<Rule, "conditions"> & { trigger_conditions?: Record<string, unknown> }): string {
  const happens = HAPPENS[rule.trigger_type_id];
  const zone = typeof rule.timezone === "string" ? ` ${rule.timezone}` : "";
  const when = happens
    ? `When ${rule.entity ?? "a record"} is ${happens}`
    : rule.trigger_type_id === "scheduled"
      ? `At the times of ${String(rule.cron_expression ?? "its schedule")}${zone}`
      : "When a caller starts it";
  if (!rule.conditions) return when;
  const isAny = rule.trigger_conditions?.["match"] === "any";
  return `${when} and ${isAny ? `(${rule.conditions})` : rule.conditions}`;
}

/** `order 8841 updated`. */
export function happenedOf({ entity, operation, record_id }: { entity?: string | null; operation: string | null; record_id: string | null }): string {
  return [entity, record_id, HAPPENED[operation ?? ""] ?? operation].filter(Boolean).join(" ");
}

/** The operation of the events that start a rule. */
export function operationOf(rule: Pick<Started, "trigger_type_id">): string {
  return isByEvents(rule) ? rule.trigger_type_id.replace("on_", "") : "update";
}

/** An event as a person writes it: its records are texts. */
export interface WrittenEvent {
  entity: string;
  operation: string;
  before: string;
  after: string;
}

/** Which records an event of an operation has. */
export function recordsOf(operation: string): { hasBefore: boolean; hasAfter: boolean } {
  return { hasBefore: operation !== "create", hasAfter: operation !== "delete" };
}

/** Where a rule is. */
export function rulePlace(key: string, tab = "", rest = ""): string {
  return `/rules/${encodeURIComponent(key)}${tab ? `/${tab}` : ""}${rest}`;
}

export function entityPlace(name: string, tab = ""): string {
  return `/entities/${encodeURIComponent(name)}${tab ? `/${tab}` : ""}`;
}

/** A value as a table shows it: texts are quoted, so that `"1"` and `1` differ. */
export function valueText(value: unknown): string {
  return value === undefined ? "" : (JSON.stringify(value) ?? "");
}

export interface Change {
  field: string;
  before: unknown;
  after: unknown;
  isChanged: boolean;
}
type Fields = Record<string, unknown>;

/** The fields of a record before and after, changed ones first. */
export function changesOf(before: Fields | null | undefined, after: Fields | null | undefined): Change[] {
  const names = [...new Set([...Object.keys(after ?? {}), ...Object.keys(before ?? {})])];
  const rows = names.map((field) => {
    const [was, is] = [before?.[field], after?.[field]];
    return { field, before: was, after: is, isChanged: valueText(was) !== valueText(is) };
  });
  return [...rows.filter((one) => one.isChanged), ...rows.filter((one) => !one.isChanged)];
}

/** What changed, in one line: `status "packed" → "shipped", 2 others`. */
export function changeWords(before: Fields | null | undefined, after: Fields | null | undefined): string {
  if (!before || !after) return "";
  const changed = changesOf(before, after).filter((one) => one.isChanged);
  const [first] = changed;
  if (!first) return "no field differs";
  const more = changed.length > 1 ? `, and ${changed.length - 1} more` : "";
  return `${first.field} ${valueText(first.before) || "none"} → ${valueText(first.after) || "none"}${more}`;
}

export interface ConditionRow {
  key: string;
  depth: number;
  condition: Condition;
}

/** Conditions and groups as rows, those inside a group below it. */
export function conditionRows(parts: readonly Condition[], depth = 0, above = ""): ConditionRow[] {
  return parts.flatMap((condition, i) => {
    const key = `${above}${i}`;
    return [{ key, depth, condition }, ...conditionRows(condition.parts ?? [], depth + 1, `${key}.`)];
  });
}

/** The places that a person gave to the nodes of a rule, by the names of its steps. */
export function storedPlaces(rule: Pick<Rule, "actions" | "canvas_layout">, trigger: string): Map<string, { x: number; y: number }> | undefined {
  const positions = rule.canvas_layout["node_positions"];
  if (typeof positions !== "object" || positions === null) return undefined;
  const steps = new Map(rule.actions.map((one) => [one.id, one.step]));
  const found = new Map<string, { x: number; y: number }>();
  for (const [id, place] of Object.entries(positions)) {
    const name = id === "trigger" ? trigger : steps.get(id);
    const { x, y } = (place ?? {}) as { x?: unknown; y?: unknown };
    if (name !== undefined && typeof x === "number" && typeof y === "number") found.set(name, { x, y });
  }
  return found.size > 0 ? found : undefined;
}

/** Fields of an answer that a person does not write. */
const ANSWERED = new Set(["id", "key", "version", "status", "created_date", "updated_date", "updated_by", "warnings", "conditions", "entity_id", "trigger_type_id"]);
/** What a person reads first. */
const FIRST = ["name", "description", "is_active", "entity", "trigger_type", "cron_expression", "timezone", "trigger_conditions", "actions", "edges"];

/** What of a rule can be written, in the order in which it is read. */
export function editable(rule: Rule): Record<string, unknown> {
  const all: Record<string, unknown> = { ...rule };
  const names = [...FIRST, ...Object.keys(all).filter((one) => !FIRST.includes(one))];
  return Object.fromEntries(names.flatMap((name) => (ANSWERED.has(name) || all[name] === undefined || all[name] === null ? [] : [[name, all[name]]])));
}

/** A rule to begin with. */
export function newRule(entity: string): Record<string, unknown> {
  return {
    name: "Order shipped",
    is_active: false,
    entity,
    trigger_type: "on_update",
    trigger_conditions: { field_conditions: [{ field_name: "status", operator: "changed_to", value: "shipped" }] },
    actions: [
      {
        name: "Raise alert",
        action_type: "create_alert",
        action_config: { alert_type: "order_shipped", severity: "low", title: "Order shipped", message: "Order {{id}} has shipped" },
        execution_order: 1,
      },
    ],
    edges: [{ source_action_id: null, target_action_id: "temp:0", edge_type: "start" }],
  };
}

/** The difference of two versions of a rule, as that of two workflows. */
export function asDiff(difference: RuleDifference, names: ReadonlyMap<string, string>, from: number, to: number): Diff {
  const { actions, edges, settings } = difference;
  const known = new Map(names);
  for (const one of [...actions.added, ...actions.removed]) known.set(one.id, one.name);
  const step = ({ name, action_type, action_config }: (typeof actions.added)[number]) => ({ name, kind: action_type, config: action_config });
  const edge = (one: (typeof edges.added)[number]) => ({
    source: one.source_action_id === null ? "start" : (known.get(one.source_action_id) ?? one.source_action_id),
    target: known.get(one.target_action_id) ?? one.target_action_id,
    when: one.edge_type === "start" || one.edge_type === "sequence" ? "success" : one.edge_type.replace("_", " "),
  });
  // An edge keeps its id while its ends and its type are the same: with the same id on both sides, only its order differs.
  const before = new Map(edges.removed.map((one) => [one.id, one]));
  const after = new Set(edges.added.map((one) => one.id));
  const changed = edges.added.flatMap((one) => {
    const old = before.get(one.id)?.edge_order ?? 0;
    const now = one.edge_order ?? 0;
    return before.has(one.id) && old !== now ? [{ ...edge(one), fields: [{ field: "edge_order", old, new: now }] }] : [];
  });
  const found = {
    steps: { added: actions.added.map(step), removed: actions.removed.map(step), changed: actions.changed.map(({ name, fields }) => ({ name, fields })) },
    edges: { added: edges.added.filter((one) => !before.has(one.id)).map(edge), removed: edges.removed.filter((one) => !after.has(one.id)).map(edge), changed },
    settings,
  };
  const lists = [...Object.values(found.steps), ...Object.values(found.edges), settings];
  return { from, to, same: lists.every((one) => one.length === 0), ...found } as unknown as Diff;
}
