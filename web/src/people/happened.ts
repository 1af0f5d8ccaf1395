/** What an entry of a timeline says, in a sentence. */
import type { TimelineEntry } from "../api/heroes";
import { span } from "../look/time";

export interface Happened {
  /** The state whose icon stands before it. */
  state: string;
  text: string;
  isLoud: boolean;
}

const PLAIN: Readonly<Record<string, [state: string, text: string]>> = {
  run_started: ["begun", "A run was started"],
  opened: ["begun", "A run began"],
  adopted: ["running", "Another node took the run over"],
  received: ["success", "An answer was received"],
  paused: ["paused", "The run was paused"],
  resumed: ["running", "The run was resumed"],
  cancelled: ["cancelled", "The run was cancelled"],
  expired: ["timeout", "The run expired"],
  moved: ["running", "The run was moved to another version"],
  finished: ["completed", "The run was finished by hand"],
};
const ENDS: Readonly<Record<string, string>> = {
  success: "succeeded",
  failed: "failed",
  timeout: "timed out",
  template_error: "could not be rendered",
  skipped: "was skipped",
  cancelled: "was cancelled",
};

export function happened(entry: TimelineEntry): Happened {
  const { kind, step, status } = entry;
  const by = entry.by ? ` by ${entry.by}` : "";
  if (kind === "retry") {
    const next = entry.retry_at ? `, the next in ${span(Date.parse(entry.retry_at) - Date.parse(entry.at))}` : "";
    return { state: "retrying", text: `${step ?? "A step"}: try ${entry.attempt ?? 1} failed${next}${message(entry)}`, isLoud: true };
  }
  if (kind === "started") return { state: "running", text: `${step ?? "A step"} started`, isLoud: false };
  if (step && status) {
    const took = entry.duration_ms != null && entry.duration_ms >= 1 && status === "success" ? ` after ${span(entry.duration_ms)}` : "";
    return { state: status, text: `${step} ${ENDS[status] ?? status}${took}${by}${message(entry)}${waits(entry)}`, isLoud: !["success", "skipped"].includes(status) };
  }
  const [state, text] = PLAIN[kind] ?? ["pending", kind.replaceAll("_", " ")];
  return { state, text: `${step ? `${step}: ` : ""}${text}${by}${message(entry)}${waits(entry)}`, isLoud: false };
}

function message(entry: TimelineEntry): string {
  return entry.error ? `: ${entry.error.message.split("\n", 1)[0]}` : "";
}

/** What begins to wait or sleep by it. */
function waits(entry: TimelineEntry): string {
  const waiting = Object.keys(entry.wait_until);
  const sleeping = Object.keys(entry.sleep_until);
  return `${waiting.length ? `; waits for ${waiting.join(", ")}` : ""}${sleeping.length ? `; sleeps at ${sleeping.join(", ")}` : ""}`;
}
