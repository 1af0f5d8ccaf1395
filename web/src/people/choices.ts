/** What a wait may be answered with: what it asks for, or what the definition reads of its answer and compares it with. */
import type { Ask } from "../api/documents";

export interface Choice {
  /** What the button says. */
  word: string;
  body: unknown;
}

/** All texts in a JSON value. */
export function textsIn(value: unknown, found: string[] = []): string[] {
  if (typeof value === "string") found.push(value);
  else if (typeof value === "object" && value !== null) for (const one of Object.values(value)) textsIn(one, found);
  return found;
}

/** The fields of its answer that a step's definition reads, each with the values it is compared with. */
export function readOf(step: string, definition: unknown): Map<string, Set<unknown>> {
  const name = step.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  const place = `(?:tasks|steps|nodes)(?:\\.${name}|\\[["']${name}["']\\])\\.(?:body|output)\\.([A-Za-z_][\\w]*)`;
  const pattern = new RegExp(`${place}(?![\\w(])\\s*(?:(==|!=)\\s*("[^"]*"|'[^']*'|true|false|-?\\d+(?:\\.\\d+)?))?`, "g");
  const fields = new Map<string, Set<unknown>>();
  for (const text of textsIn(definition)) {
    for (const [, field = "", , value] of text.matchAll(pattern)) {
      const values = fields.get(field) ?? new Set();
      if (value !== undefined) values.add(literal(value));
      fields.set(field, values);
    }
  }
  return fields;
}

function literal(text: string): unknown {
  return /^["']/.test(text) ? text.slice(1, -1) : (JSON.parse(text) as unknown);
}

/** Whole answers that one button can give. A field with a yes or no has both; one with a text has that text. */
export function choicesOf(step: string, definition: unknown): Choice[] {
  const fields = readOf(step, definition);
  const compared = [...fields].filter(([, values]) => values.size > 0);
  const [only] = compared;
  if (compared.length !== 1 || !only) return [];
  const [field, values] = only;
  const all = [...values].some((one) => typeof one === "boolean") ? [true, false] : [...values];
  return all.map((value) => ({ word: wordOf(field, value), body: { [field]: value } }));
}

/** The buttons that a wait names itself. `undefined`: it names none, and the definition may. */
export function askedChoices(ask: Pick<Ask, "buttons"> | null | undefined): Choice[] | undefined {
  if (!ask || ask.buttons.length === 0) return undefined;
  return ask.buttons.map((one) => ({ word: one.label, body: one.body }));
}

/** What a button says: `Yes, approved`, `No, not approved`, `Answer status: paid`. */
function wordOf(field: string, value: unknown): string {
  const said = field.replaceAll("_", " ");
  if (typeof value === "boolean") return value ? `Yes, ${said}` : `No, not ${said}`;
  return `Answer ${field}: ${String(value)}`;
}

/** A body to begin with: every field that is read, with the first value it is compared with. */
export function draftOf(step: string, definition: unknown): Record<string, unknown> {
  return Object.fromEntries([...readOf(step, definition)].map(([field, values]) => [field, [...values][0] ?? null]));
}
