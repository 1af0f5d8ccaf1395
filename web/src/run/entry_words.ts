/** What an entry of the journal says, in a sentence. */
import type { LightEntry } from "../api/run";
import { several } from "../look/numbers";
import { span } from "../look/time";

const KINDS: Readonly<Record<string, string>> = {
  ended: "Ended",
  retry: "Tried again",
  started: "Started",
  adopted: "Taken over",
  received: "Answer received",
  paused: "Paused",
  resumed: "Resumed",
  cancelled: "Cancelled",
  expired: "Expired",
  reused: "Result kept",
  opened: "Begun",
  finished: "Finished",
  moved: "Moved",
  began: "Began",
  checkpoint: "Ended",
  paged: "Items",
  noted: "Note",
};
/** Entries that say how it was done and not what: the compact list leaves them out. */
const MECHANICS: ReadonlySet<string> = new Set(["started", "adopted", "paged", "received"]);

export function isMechanics(entry: Pick<LightEntry, "kind">): boolean {
  return MECHANICS.has(entry.kind);
}

export function kindWord(entry: Pick<LightEntry, "kind">): string {
  return KINDS[entry.kind] ?? entry.kind;
}

/** The state whose icon the entry shows. */
export function stateOfEntry(entry: Pick<LightEntry, "kind" | "status" | "run_status">): string {
  if (entry.kind === "retry") return "scheduled";
  if (entry.kind === "paused") return "paused";
  if (entry.kind === "cancelled") return "cancelled";
  if (entry.kind === "reused") return "success";
  return entry.status ?? (entry.kind === "started" || entry.kind === "resumed" || entry.kind === "opened" ? "running" : "pending");
}

export function entryWords(entry: LightEntry): string {
  const parts: string[] = [];
  if (entry.kind === "retry" && entry.retry_at) {
    parts.push(`try ${entry.attempt ?? 1} failed, the next in ${span(Date.parse(entry.retry_at) - Date.parse(entry.at))}`);
  } else if (entry.status) parts.push(entry.status.replace("_", " "));
  if (entry.error) parts.push(entry.error.message.split("\n", 1)[0] ?? "");
  else if (entry.duration_ms != null && entry.duration_ms >= 1 && entry.kind === "ended") parts.push(`after ${span(entry.duration_ms)}`);
  if (entry.by) parts.push(`by ${entry.by}`);
  if (entry.version != null && entry.was != null) parts.push(`from version ${entry.was} to ${entry.version}`);
  if (entry.skipped.length) parts.push(`skips ${listed(entry.skipped)}`);
  const sleeps = Object.keys(entry.sleep_until);
  if (sleeps.length) parts.push(`${listed(sleeps)} ${sleeps.length === 1 ? "sleeps" : "sleep"}`);
  const waits = Object.keys(entry.wait_until);
  if (waits.length) parts.push(`${listed(waits)} ${waits.length === 1 ? "waits" : "wait"}`);
  const failed = Object.keys(entry.failed);
  if (failed.length) parts.push(`${listed(failed)} ${failed.length === 1 ? "fails" : "fail"}`);
  if (entry.notes.length) parts.push(entry.notes.join("; "));
  if (entry.run_status) parts.push(`the run is ${entry.run_status}`);
  return parts.join(" · ");
}

function listed(names: readonly string[]): string {
  return names.length > 3 ? `${names.slice(0, 2).join(", ")} and ${several(names.length - 2, "other")}` : names.join(", ");
}
