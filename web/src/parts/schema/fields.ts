/** A JSON Schema as fields of a form, and what a person wrote into them as a value. */
import { isSchema, typeOf } from "./rows";

export interface FormField {
  name: string;
  label: string;
  hint: string;
  kind: "text" | "number" | "boolean" | "choice" | "lines" | "json";
  required: boolean;
  /** What stands in the field at first. */
  first: string;
  example: string;
  choices: string[];
}

/** The fields of an object's schema, required ones first. */
export function fieldsOf(schema: unknown): FormField[] {
  if (!isSchema(schema) || !isSchema(schema["properties"])) return [];
  const root = schema;
  const needed = new Set(Array.isArray(schema["required"]) ? schema["required"] : []);
  const fields = Object.entries(schema["properties"]).map(([name, one]) => fieldOf(root, name, one, needed.has(name)));
  return [...fields.filter((one) => one.required), ...fields.filter((one) => !one.required)];
}

function fieldOf(root: Record<string, unknown>, name: string, given: unknown, required: boolean): FormField {
  const schema = isSchema(given) ? given : {};
  const kind = kindOf(schema);
  const examples = Array.isArray(schema["examples"]) ? schema["examples"] : [];
  const title = typeof schema["title"] === "string" ? schema["title"] : "";
  const description = typeof schema["description"] === "string" ? schema["description"] : "";
  const what = typeOf(root, schema);
  const hints = [description, kind === "lines" ? "One on each line" : "", kind === "json" && what !== "anything" ? `As JSON: ${what}` : ""];
  return {
    name,
    label: title || name,
    hint: hints.filter(Boolean).join(". "),
    kind,
    required,
    first: "default" in schema ? written(schema["default"], kind) : kind === "boolean" ? "false" : "",
    example: examples.length > 0 ? written(examples[0], kind) : "",
    choices: Array.isArray(schema["enum"]) ? schema["enum"].map((one) => (typeof one === "string" ? one : JSON.stringify(one))) : [],
  };
}

function kindOf(schema: Record<string, unknown>): FormField["kind"] {
  if (Array.isArray(schema["enum"])) return schema["enum"].every((one) => typeof one === "string") ? "choice" : "json";
  const type = schema["type"];
  if (type === "string") return "text";
  if (type === "integer" || type === "number") return "number";
  if (type === "boolean") return "boolean";
  if (type === "array" && isSchema(schema["items"]) && schema["items"]["type"] === "string") return "lines";
  return "json";
}

function written(value: unknown, kind: FormField["kind"]): string {
  if (kind === "lines" && Array.isArray(value)) return value.join("\n");
  return typeof value === "string" && kind !== "json" ? value : JSON.stringify(value);
}

export interface FormValue {
  value: Record<string, unknown>;
  /** What cannot be read, by field. */
  problems: Record<string, string>;
}

/** What was written as a value. A field that is empty is left out; the server knows what is missing beyond that. */
export function valueOf(fields: readonly FormField[], texts: Readonly<Record<string, string>>): FormValue {
  const value: Record<string, unknown> = {};
  const problems: Record<string, string> = {};
  for (const field of fields) {
    const text = texts[field.name] ?? field.first;
    if (text.trim() === "") {
      if (field.required) problems[field.name] = "is missing";
      continue;
    }
    const read = readField(field, text);
    if ("problem" in read) problems[field.name] = read.problem;
    else value[field.name] = read.value;
  }
  return { value, problems };
}

function readField(field: FormField, text: string): { value: unknown } | { problem: string } {
  switch (field.kind) {
    case "number": {
      const number = Number(text);
      return Number.isFinite(number) ? { value: number } : { problem: `${text} is not a number` };
    }
    case "boolean":
      return { value: text === "true" };
    case "lines":
      return { value: text.split("\n").map((one) => one.trim()).filter(Boolean) };
    case "json":
      try {
        return { value: JSON.parse(text) as unknown };
      } catch (error) {
        return { problem: error instanceof Error ? error.message : "is not JSON" };
      }
    default:
      return { value: text };
  }
}
