/** What the search box offers: names of filters, and values that there are. */
import type { Facets } from "../api/documents";
import { type Chip, type Name, NAMES } from "./query";

export interface Suggestion {
  key: string;
  name: string;
  value: string;
  count?: number;
  /** Becomes this filter, */
  chip?: Chip;
  /** or this text, to go on typing. */
  insert?: string;
}

const STATUSES = ["running", "failed", "completed", "paused", "timeout", "cancelled", "pending"];
const STAGES = ["waiting", "person", "sleeping", "retrying", "uncertain", "queued", "child", "delayed"];
const SPANS = ["1h", "24h", "7d", "30d"];
const HINTS: Partial<Record<Name, string>> = {
  status: "how it ended, or that it is open",
  stage: "what an open run does",
  workflow: "by name",
  hero: "what it is about, as order:8841",
  label: "key:value",
  error: "words of the error",
  trigger: "what started it",
  since: "accepted in the last 24h, 7d",
  request: "the id of the request",
  version: "of its workflow",
};
const MOST = 9;

/** At most nine of what fits to the text. */
export function suggestions(text: string, chips: readonly Chip[], facets: Facets | undefined): Suggestion[] {
  const wanted = text.trim().toLowerCase();
  const colon = wanted.indexOf(":");
  const asked = colon > 0 ? NAMES.find((name) => name === wanted.slice(0, colon)) : undefined;
  const part = asked ? wanted.slice(colon + 1) : wanted;
  const values: Suggestion[] = [];
  const offer = (name: Name, list: readonly { value: string; count?: number }[]) => {
    if (asked && asked !== name) return;
    for (const { value, count } of list) {
      if (!value.toLowerCase().includes(part)) continue;
      if (chips.some((one) => one.name === name && one.value === value)) continue;
      values.push({ key: `${name}:${value}`, name, value, chip: { name, value }, ...(count === undefined ? {} : { count }) });
    }
  };
  const plain = (list: readonly string[]) => list.map((value) => ({ value }));
  if (asked || part) {
    offer("workflow", facets?.workflows ?? []);
    offer("status", facets?.statuses?.length ? facets.statuses : plain(STATUSES));
    offer("label", (facets?.labels ?? []).map((one) => ({ value: `${one.key}:${one.value}`, count: one.count })));
    offer("trigger", facets?.triggers ?? []);
    offer("stage", plain(STAGES));
    offer("version", facets?.versions ?? []);
    if (asked) offer("since", plain(SPANS));
  }
  const names = asked
    ? []
    : (Object.entries(HINTS) as [Name, string][])
        .filter(([name]) => name.startsWith(part))
        .map(([name, hint]) => ({ key: name, name, value: hint, insert: `${name}:` }));
  return [...(part ? values : []), ...(asked && !part ? values : []), ...names].slice(0, MOST);
}
