/** The word, icon and tone of every state, and what starts runs. The only place that knows them. */
import {
  Archive,
  Ban,
  BellRing,
  Braces,
  CalendarClock,
  CircleAlert,
  CircleCheck,
  CircleDashed,
  CircleHelp,
  CircleMinus,
  CirclePause,
  ClockAlert,
  Eye,
  Hourglass,
  Info,
  Layers,
  LayoutGrid,
  LoaderCircle,
  type LucideIcon,
  MailX,
  Moon,
  OctagonX,
  PencilLine,
  RotateCw,
  ShieldX,
  Siren,
  SquareTerminal,
  TriangleAlert,
  Unplug,
  UserRound,
  Webhook,
  Workflow,
  Zap,
} from "lucide-react";

export type Tone = "ok" | "run" | "fail" | "wait" | "hold" | "idle";
export interface Look {
  word: string;
  tone: Tone;
  icon: LucideIcon;
}

const UNKNOWN: Look = { word: "Unknown", tone: "idle", icon: CircleDashed };

const STATES: Record<string, Look> = {
  completed: { word: "Completed", tone: "ok", icon: CircleCheck },
  success: { word: "Succeeded", tone: "ok", icon: CircleCheck },
  begun: { word: "Started", tone: "idle", icon: Zap },
  running: { word: "Running", tone: "run", icon: LoaderCircle },
  waiting: { word: "Waiting", tone: "wait", icon: Hourglass },
  person: { word: "Needs a person", tone: "wait", icon: UserRound },
  child: { word: "Waits for a run", tone: "wait", icon: Layers },
  sleeping: { word: "Sleeping", tone: "idle", icon: Moon },
  delayed: { word: "Starts later", tone: "idle", icon: CalendarClock },
  queued: { word: "Queued", tone: "idle", icon: CircleDashed },
  retrying: { word: "Retrying", tone: "hold", icon: RotateCw },
  scheduled: { word: "Retrying", tone: "hold", icon: RotateCw },
  paused: { word: "Paused", tone: "hold", icon: CirclePause },
  uncertain: { word: "Uncertain", tone: "hold", icon: CircleHelp },
  failed: { word: "Failed", tone: "fail", icon: OctagonX },
  timeout: { word: "Timed out", tone: "fail", icon: ClockAlert },
  template_error: { word: "Template error", tone: "fail", icon: Braces },
  pending: { word: "Pending", tone: "idle", icon: CircleDashed },
  skipped: { word: "Skipped", tone: "idle", icon: CircleMinus },
  cancelled: { word: "Cancelled", tone: "idle", icon: Ban },
  // Workflows.
  active: { word: "Active", tone: "ok", icon: CircleCheck },
  draft: { word: "Draft", tone: "idle", icon: PencilLine },
  archived: { word: "Archived", tone: "idle", icon: Archive },
  disabled: { word: "Disabled", tone: "hold", icon: CirclePause },
  // What a trigger received.
  due: { word: "Due", tone: "run", icon: CircleDashed },
  starting: { word: "Starting", tone: "run", icon: LoaderCircle },
  started: { word: "Started a run", tone: "ok", icon: CircleCheck },
  ignored: { word: "Ignored", tone: "idle", icon: CircleMinus },
  refused: { word: "Refused", tone: "fail", icon: ShieldX },
  errored: { word: "Condition failed", tone: "fail", icon: Braces },
  missed: { word: "Missed", tone: "hold", icon: ClockAlert },
  // The catalog and what it needs.
  enabled: { word: "Enabled", tone: "ok", icon: CircleCheck },
  deprecated: { word: "Deprecated", tone: "hold", icon: ClockAlert },
  unset: { word: "Not set up", tone: "idle", icon: Unplug },
  // Dead letters.
  open: { word: "Given up", tone: "fail", icon: MailX },
  requeued: { word: "Requeued", tone: "idle", icon: RotateCw },
  // Rules, and whether an event matches one.
  inactive: { word: "Inactive", tone: "idle", icon: CirclePause },
  matched: { word: "Matches", tone: "ok", icon: CircleCheck },
  unmatched: { word: "Does not match", tone: "idle", icon: CircleMinus },
  // Alerts: how much one matters, and what was done about it.
  low: { word: "Low", tone: "idle", icon: Info },
  medium: { word: "Medium", tone: "hold", icon: CircleAlert },
  high: { word: "High", tone: "fail", icon: TriangleAlert },
  critical: { word: "Critical", tone: "fail", icon: Siren },
  raised: { word: "Open", tone: "wait", icon: BellRing },
  acknowledged: { word: "Acknowledged", tone: "idle", icon: Eye },
  resolved: { word: "Resolved", tone: "ok", icon: CircleCheck },
  // Keys, tenants and credentials.
  rotated: { word: "Rotated", tone: "hold", icon: RotateCw },
  revoked: { word: "Revoked", tone: "idle", icon: Ban },
  expired: { word: "Expired", tone: "idle", icon: ClockAlert },
  suspended: { word: "Suspended", tone: "hold", icon: CirclePause },
  ready: { word: "Ready", tone: "ok", icon: CircleCheck },
  new: { word: "Not connected", tone: "hold", icon: Unplug },
  reconnect: { word: "Reconnect", tone: "fail", icon: Unplug },
  // The audit.
  done: { word: "Done", tone: "ok", icon: CircleCheck },
  // Nodes.
  alive: { word: "Alive", tone: "ok", icon: CircleCheck },
  lost: { word: "Not heard of", tone: "fail", icon: OctagonX },
};

/** How a state of a run or of a step looks. */
export function lookOf(state: string): Look {
  return STATES[state] ?? { ...UNKNOWN, word: state };
}

/** The one state that a run shows: where it stands while it is open, how it ended after that. */
export function stateOf(run: { status: string; stage?: { kind: string } | null }): string {
  return run.stage?.kind ?? (run.status === "pending" ? "queued" : run.status);
}

const TRIGGERS: Record<string, { word: string; icon: LucideIcon }> = {
  webhook: { word: "Webhook", icon: Webhook },
  cron: { word: "Schedule", icon: CalendarClock },
  event: { word: "Event", icon: Zap },
  manual: { word: "API", icon: SquareTerminal },
  api: { word: "API", icon: SquareTerminal },
  workflow: { word: "Workflow", icon: Workflow },
  child: { word: "Parent run", icon: Layers },
  map: { word: "For each", icon: LayoutGrid },
};

/** The word and icon of what started a run. */
export function triggerOf(type: string): { word: string; icon: LucideIcon } {
  return TRIGGERS[type] ?? { word: type, icon: Zap };
}
