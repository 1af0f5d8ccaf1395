/** A JSON Schema as rows that can be read: one per property, those inside of it below. */

export interface SchemaRow {
  /** `customer.name`, `items[]`. */
  path: string;
  depth: number;
  type: string;
  required: boolean;
  /** Its default as JSON; empty if it has none. */
  preset: string;
  /** What else a value must be: a range, a length, a pattern, one of some. */
  limits: string;
  says: string;
}

type Schema = Record<string, unknown>;

const MOST_ROWS = 400;
const MOST_DEPTH = 6;
const MOST_WORDS = 8;

/** The rows of a schema. References are followed inside of it, each once on a way down. */
export function schemaRows(schema: unknown): SchemaRow[] {
  const rows: SchemaRow[] = [];
  if (isSchema(schema)) addProperties(schema, schema, "", 0, new Set(), rows);
  return rows;
}

function addProperties(root: Schema, given: Schema, prefix: string, depth: number, above: ReadonlySet<string>, rows: SchemaRow[]): void {
  const { schema, seen } = followed(root, given, above);
  const needed = new Set(Array.isArray(schema["required"]) ? schema["required"] : []);
  for (const [name, value] of Object.entries(allProperties(root, schema))) {
    if (rows.length >= MOST_ROWS) return;
    addRow(root, value, `${prefix}${name}`, depth, needed.has(name), seen, rows);
  }
}

function addRow(root: Schema, given: unknown, path: string, depth: number, required: boolean, above: ReadonlySet<string>, rows: SchemaRow[]): void {
  if (!isSchema(given)) {
    rows.push({ path, depth, type: "anything", required, preset: "", limits: "", says: "" });
    return;
  }
  const { schema, seen, isCycle } = followed(root, given, above);
  const preset = "default" in schema ? JSON.stringify(schema["default"]) : "";
  const says = textOf(given["description"]) || textOf(schema["description"]) || textOf(schema["title"]);
  rows.push({ path, depth, type: typeOf(root, schema), required, preset, limits: limitsOf(schema), says });
  if (isCycle || depth >= MOST_DEPTH) return;
  const items = isSchema(schema["items"]) ? schema["items"] : undefined;
  if (items) addProperties(root, items, `${path}[].`, depth + 1, seen, rows);
  addProperties(root, schema, `${path}.`, depth + 1, seen, rows);
}

interface Followed {
  schema: Schema;
  seen: ReadonlySet<string>;
  isCycle: boolean;
}

function followed(root: Schema, given: Schema, above: ReadonlySet<string>): Followed {
  const seen = new Set(above);
  let schema = given;
  for (;;) {
    const where = schema["$ref"];
    if (typeof where !== "string") return { schema, seen, isCycle: false };
    if (seen.has(where)) return { schema: {}, seen, isCycle: true };
    seen.add(where);
    schema = pointed(root, where) ?? {};
  }
}

function pointed(root: Schema, where: string): Schema | undefined {
  if (!where.startsWith("#")) return undefined;
  let found: unknown = root;
  for (const part of where.slice(1).split("/").filter(Boolean)) {
    const name = decodeURIComponent(part).replace(/~1/g, "/").replace(/~0/g, "~");
    found = isSchema(found) ? found[name] : undefined;
  }
  return isSchema(found) ? found : undefined;
}

function allProperties(root: Schema, schema: Schema): Schema {
  const parts = Array.isArray(schema["allOf"]) ? schema["allOf"].filter(isSchema) : [];
  const inherited = parts.map((one) => allProperties(root, pointed(root, textOf(one["$ref"])) ?? one));
  return Object.assign({}, ...inherited, isSchema(schema["properties"]) ? schema["properties"] : {});
}

/** `text`, `number or null`, `list of texts`: the type in words. */
export function typeOf(root: Schema, given: unknown): string {
  if (!isSchema(given)) return "anything";
  const { schema } = followed(root, given, new Set());
  const type = schema["type"];
  if (Array.isArray(type)) return type.map((one) => wordOf(String(one))).join(" or ");
  if (type === "array") {
    const items = isSchema(schema["items"]) ? typeOf(root, schema["items"]) : "";
    return items && items !== "anything" ? `list of ${PLURALS[items] ?? items}` : "list";
  }
  if (typeof type === "string") {
    const format = textOf(schema["format"]);
    return format && type === "string" ? (FORMATS[format] ?? format) : wordOf(type);
  }
  if (Array.isArray(schema["enum"]) || "const" in schema) return "choice";
  const others = [schema["anyOf"], schema["oneOf"]].find(Array.isArray);
  if (others) return [...new Set(others.slice(0, 4).map((one) => typeOf(root, one)))].join(" or ");
  return isSchema(schema["properties"]) ? "object" : "anything";
}

const WORDS: Readonly<Record<string, string>> = { string: "text", integer: "whole number", boolean: "true or false", array: "list" };
const PLURALS: Readonly<Record<string, string>> = { text: "texts", object: "objects", "whole number": "whole numbers", number: "numbers", address: "addresses", "e-mail address": "e-mail addresses" };
const FORMATS: Readonly<Record<string, string>> = { uri: "address", "date-time": "instant", date: "date", email: "e-mail address", binary: "bytes" };

function wordOf(type: string): string {
  return WORDS[type] ?? type;
}

function limitsOf(schema: Schema): string {
  const said: string[] = [];
  if (Array.isArray(schema["enum"])) {
    const words = schema["enum"].map((one) => (typeof one === "string" ? one : JSON.stringify(one)));
    said.push(words.slice(0, MOST_WORDS).join(", ") + (words.length > MOST_WORDS ? ` and ${words.length - MOST_WORDS} more` : ""));
  }
  if ("const" in schema) said.push(`exactly ${JSON.stringify(schema["const"])}`);
  range(said, schema["minimum"] ?? schema["exclusiveMinimum"], schema["maximum"] ?? schema["exclusiveMaximum"], "");
  range(said, schema["minLength"], schema["maxLength"], " characters");
  range(said, schema["minItems"], schema["maxItems"], " items");
  if (typeof schema["pattern"] === "string") said.push(`matches ${schema["pattern"]}`);
  return said.join("; ");
}

function range(said: string[], least: unknown, most: unknown, of: string): void {
  const has = typeof least === "number" && !(of && least === 0);
  if (has && typeof most === "number") said.push(`${least} to ${most}${of}`);
  else if (has) said.push(`at least ${least}${least === 1 ? of.replace(/s$/, "") : of}`);
  else if (typeof most === "number") said.push(`at most ${most}${of}`);
}

export function isSchema(value: unknown): value is Schema {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}
