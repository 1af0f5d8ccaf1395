/** An example step that calls an action, in YAML, made of the schema of its parameters. */
import { isSchema } from "../parts/schema/rows";

type Schema = Record<string, unknown>;

/** The step, with every required parameter and no other. */
export function exampleStep(action: string, schema: unknown): string {
  const step = action.split(".").at(-1) ?? "step";
  const lines = ["tasks:", `  ${keyOf(step)}:`, `    action: ${textOf(action)}`];
  const given = isSchema(schema) ? exampleOf(schema, schema, 0) : undefined;
  if (isSchema(given) && Object.keys(given).length > 0) lines.push("    with:", ...yamlLines(given, 6));
  return lines.join("\n");
}

/** A value that a schema could mean. */
function exampleOf(root: Schema, given: unknown, depth: number): unknown {
  if (!isSchema(given) || depth > 5) return "…";
  const reference = given["$ref"];
  const schema = typeof reference === "string" ? (at(root, reference) ?? {}) : given;
  if (Array.isArray(schema["examples"]) && schema["examples"].length > 0) return schema["examples"][0];
  if ("example" in schema) return schema["example"];
  if ("default" in schema) return schema["default"];
  if ("const" in schema) return schema["const"];
  if (Array.isArray(schema["enum"])) return schema["enum"][0];
  const first = [schema["anyOf"], schema["oneOf"]].find(Array.isArray)?.[0] as unknown;
  const type = Array.isArray(schema["type"]) ? schema["type"][0] : schema["type"];
  if (type === undefined && first !== undefined) return exampleOf(root, first, depth + 1);
  if (type === "object" || isSchema(schema["properties"])) {
    const properties = isSchema(schema["properties"]) ? schema["properties"] : {};
    const needed = Array.isArray(schema["required"]) ? schema["required"].map(String) : [];
    return Object.fromEntries(needed.filter((name) => name in properties).map((name) => [name, exampleOf(root, properties[name], depth + 1)]));
  }
  if (type === "array") return [exampleOf(root, schema["items"], depth + 1)];
  if (type === "integer" || type === "number") return typeof schema["minimum"] === "number" ? schema["minimum"] : 1;
  if (type === "boolean") return true;
  return "…";
}

function at(root: Schema, where: string): Schema | undefined {
  let found: unknown = root;
  for (const part of where.replace(/^#/, "").split("/").filter(Boolean)) found = isSchema(found) ? found[part] : undefined;
  return isSchema(found) ? found : undefined;
}

/** A mapping as lines of YAML, indented by some spaces. */
export function yamlLines(value: Record<string, unknown>, indent: number): string[] {
  const space = " ".repeat(indent);
  return Object.entries(value).flatMap(([name, one]) => {
    if (isSchema(one) && Object.keys(one).length > 0) return [`${space}${keyOf(name)}:`, ...yamlLines(one, indent + 2)];
    return [`${space}${keyOf(name)}: ${textOf(one)}`];
  });
}

const PLAIN = /^[A-Za-z_][\w./-]*$/;
const WORDS = new Set(["true", "false", "null", "yes", "no", "on", "off", "y", "n", "~"]);

function keyOf(name: string): string {
  return PLAIN.test(name) && !WORDS.has(name.toLowerCase()) ? name : JSON.stringify(name);
}

/** A value on one line: JSON is YAML, and plain words need no quotes. */
function textOf(value: unknown): string {
  if (typeof value === "string" && PLAIN.test(value) && !WORDS.has(value.toLowerCase())) return value;
  return JSON.stringify(value) ?? "null";
}
