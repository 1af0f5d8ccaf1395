/** What a list of runs is asked for: as chips, as one line of text, as the URL, and as the API wants it.
 *
 * All four say the same. The URL is the one that is kept. */
import type { Filter } from "../api/runs";
import { DAY, HOUR, lengthOf, MINUTE, saidLength, SECOND } from "../look/time";

/** The names that a filter may have, as they are written. */
export const NAMES = [
  "view",
  "status",
  "stage",
  "workflow",
  "version",
  "trigger",
  "hero",
  "label",
  "error",
  "request",
  "parent",
  "origin",
  "since",
  "from",
  "to",
  "text",
] as const;
export type Name = (typeof NAMES)[number];
export interface Chip {
  name: Name;
  value: string;
}

/** Several of these mean any of them, or all of them for labels. Others replace the one before. */
const MANY: ReadonlySet<Name> = new Set(["status", "stage", "label"]);
const ALIASES: Record<string, Name> = {
  hero_id: "hero",
  about: "hero",
  request_id: "request",
  started: "since",
  after: "from",
  before: "to",
  v: "version",
};
const API_NAMES: Partial<Record<Name, string>> = { request: "request_id", from: "started_after", to: "started_before" };

/** The name that a word means; undefined if it means none. */
export function nameOf(text: string): Name | undefined {
  const lower = text.toLowerCase();
  return NAMES.find((one) => one === lower) ?? ALIASES[lower];
}

/** The chips with one more. A filter that has one value takes the new one. */
export function withChip(chips: readonly Chip[], chip: Chip): Chip[] {
  const same = (one: Chip) => one.name === chip.name && (!MANY.has(chip.name) || one.value === chip.value);
  const place = chips.findIndex(same);
  if (place < 0) return [...chips, chip];
  return chips.flatMap((one, i) => (i === place ? [chip] : same(one) ? [] : [one]));
}

/** The chips without some names. */
export function without(chips: readonly Chip[], ...names: Name[]): Chip[] {
  return chips.filter((one) => !names.includes(one.name));
}

/** The first value of a name. */
export function valueOf(chips: readonly Chip[], name: Name): string | undefined {
  return chips.find((one) => one.name === name)?.value;
}

// -- as the URL

/** The chips of a query string. Names that mean nothing here are left out. */
export function fromUrl(search: string): Chip[] {
  let chips: Chip[] = [];
  for (const [key, value] of new URLSearchParams(search)) {
    const name = nameOf(key);
    if (name && value) chips = withChip(chips, { name, value });
  }
  return chips;
}

/** The query string of chips, without `?`. */
export function toUrl(chips: readonly Chip[]): string {
  const search = new URLSearchParams();
  for (const { name, value } of chips) search.append(name, value);
  // These are allowed in a query string, and a person reads them there.
  return search.toString().replace(/%3A/g, ":").replace(/%2F/g, "/");
}

// -- as the API wants it

/** How exactly `since` is counted, so that the same question has the same words for a while. */
function stepOf(length: number): number {
  return length <= HOUR ? 10_000 : length <= DAY ? MINUTE : 5 * MINUTE;
}

/** The filter of the API. `since` is counted from `now`. */
export function toFilter(chips: readonly Chip[], now: number): Filter {
  const filter: Record<string, string | string[]> = {};
  for (const { name, value } of chips) {
    if (name === "since") {
      const length = lengthOf(value);
      if (length === undefined || valueOf(chips, "from")) continue;
      const step = stepOf(length);
      filter["started_after"] = iso(Math.floor((now - length) / step) * step);
      continue;
    }
    const key = API_NAMES[name] ?? name;
    const before = filter[key];
    if (MANY.has(name)) filter[key] = [...(Array.isArray(before) ? before : []), value];
    else filter[key] = value;
  }
  return filter;
}

/** The filter without its times, for what has its own. */
export function withoutTimes(filter: Filter): Filter {
  const { started_after: _after, started_before: _before, ...rest } = filter;
  return rest;
}

/** What the histogram shows where nothing is said. */
export const USUAL_WINDOW = "24h";
const SHORTER = ["5m", "15m", "30m", "1h", "6h"];

/** The window of a list that has only such old runs: on a young server a day would be empty but for its last bar. */
export function usualWindow(oldest: number, now: number): string {
  return SHORTER.find((one) => now - oldest < (lengthOf(one) ?? 0)) ?? USUAL_WINDOW;
}

/** Lengths of buckets that a clock has. */
const BUCKETS = [
  ...[1, 2, 5, 10, 15, 30].map((n) => n * SECOND),
  ...[1, 2, 5, 10, 15, 30].map((n) => n * MINUTE),
  ...[1, 2, 3, 4, 6, 8, 12].map((n) => n * HOUR),
  ...[1, 2, 7, 14, 30].map((n) => n * DAY),
];
export interface Window {
  from: number;
  to: number;
  buckets: number;
}

/** Which stretch of time the histogram shows: `since`, or what surrounds `from` and `to`, or a day. Right of now it has
 * a little room for what is planned. It has at most `most` buckets, on round times: so it moves only now and then. */
export function windowOf(chips: readonly Chip[], now: number, most: number, unsaid = USUAL_WINDOW): Window {
  const since = lengthOf(valueOf(chips, "since") ?? "");
  const from = Date.parse(valueOf(chips, "from") ?? "");
  const to = Date.parse(valueOf(chips, "to") ?? "");
  const usual = lengthOf(unsaid) ?? DAY;
  const length = since ?? usual;
  const isInside = (Number.isNaN(from) || from >= now - length) && (Number.isNaN(to) || to <= now + length * 0.07);
  if (since !== undefined || isInside) return aligned(now - length, now + length * 0.06, most);
  const end = Number.isNaN(to) ? now : to;
  const begin = Number.isNaN(from) ? end - usual : from;
  const margin = Math.max(MINUTE, (end - begin) * 0.5);
  return aligned(begin - margin, Math.min(end + margin, now + margin * 0.1), most);
}

function aligned(from: number, to: number, most: number): Window {
  // Two buckets are cut off at the ends.
  const bucket = BUCKETS.find((one) => (to - from) / one <= most - 2) ?? Math.ceil((to - from) / (most - 2) / DAY) * DAY;
  const [begin, end] = [Math.floor(from / bucket) * bucket, Math.ceil(to / bucket) * bucket];
  return { from: begin, to: end, buckets: (end - begin) / bucket };
}

// -- as people read it

const SAID: Partial<Record<Name, string>> = { since: "started", from: "from", to: "to", hero: "about", text: "contains" };

/** The chips as they are shown: a stretch from one time to another is one. */
export function together(chips: readonly Chip[]): (readonly Chip[])[] {
  const stretch = chips.filter((one) => one.name === "from" || one.name === "to");
  if (stretch.length < 2) return chips.map((one) => [one]);
  return [...chips.filter((one) => !stretch.includes(one)).map((one) => [one]), stretch];
}

/** The two words of chips that are shown as one. */
export function saidTogether(chips: readonly Chip[], moment: (at: number) => string): [string, string] {
  const [first, second] = chips;
  if (!first) return ["", ""];
  if (!second) return said(first, moment);
  const value = (name: Name) => said({ name, value: valueOf(chips, name) ?? "" }, moment)[1];
  return ["started", `${value("from")} to ${value("to")}`];
}

/** The two words of a chip. */
export function said({ name, value }: Chip, moment: (at: number) => string): [string, string] {
  if (name === "since") return ["started", `in the last ${saidLength(value)}`];
  if (name === "from" || name === "to") {
    const at = Date.parse(value);
    return [name, Number.isNaN(at) ? value : moment(at)];
  }
  return [SAID[name] ?? name, value];
}

function iso(ms: number): string {
  return new Date(ms).toISOString();
}
