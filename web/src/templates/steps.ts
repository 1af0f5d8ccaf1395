/** The steps of a definition in words, for both forms. */
import { isSchema } from "../parts/schema/rows";

export interface StepLine {
  name: string;
  does: string;
  /** Its condition, or that it runs for each of a list. */
  note: string;
}

export function stepsOf(definition: unknown): StepLine[] {
  if (!isSchema(definition)) return [];
  if (Array.isArray(definition["nodes"])) return definition["nodes"].filter(isSchema).map(nodeOf);
  const tasks = isSchema(definition["tasks"]) ? definition["tasks"] : {};
  return Object.entries(tasks).map(([name, one]) => taskOf(name, isSchema(one) ? one : {}));
}

function nodeOf(node: Record<string, unknown>): StepLine {
  const title = text(node["displayName"]);
  return { name: text(node["id"]), does: [text(node["actionType"]), title].filter(Boolean).join(": "), note: "" };
}

function taskOf(name: string, task: Record<string, unknown>): StepLine {
  const notes = [text(task["if"]) && `if ${text(task["if"])}`, text(task["for_each"]) && `for each of ${text(task["for_each"])}`];
  return { name, does: doesOf(task), note: notes.filter(Boolean).join(", ") };
}

function doesOf(task: Record<string, unknown>): string {
  if (task["action"]) return text(task["action"]);
  if (task["url"]) return `${text(task["method"]) || "POST"} ${text(task["url"])}`;
  if (task["workflow"]) return `starts ${text(task["workflow"])}`;
  if (task["sleep"]) return `sleeps ${text(task["sleep"])}`;
  if ("wait_for_webhook" in task) return "waits for an answer";
  return "";
}

function text(value: unknown): string {
  return typeof value === "string" || typeof value === "number" ? String(value) : "";
}
