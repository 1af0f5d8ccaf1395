/** The sections of the page: in the bar at the top, on a phone at the bottom. */
import { Blocks, Inbox, ListChecks, type LucideIcon, Play, Settings2, Workflow, Zap } from "lucide-react";

export interface Section {
  to: string;
  word: string;
  icon: LucideIcon;
  /** `g` and this letter go there. */
  letter: string;
  /** What the server must have for it; each server has the others. */
  feature?: string;
  /** It is in the bar only if there are rules or entities. */
  withRules?: boolean;
}

export const SECTIONS: Section[] = [
  { to: "/runs", word: "Runs", icon: Play, letter: "r" },
  { to: "/workflows", word: "Workflows", icon: Workflow, letter: "w" },
  { to: "/rules", word: "Rules", icon: ListChecks, letter: "u", feature: "rules", withRules: true },
  { to: "/catalog", word: "Catalog", icon: Blocks, letter: "c", feature: "catalog" },
  { to: "/inbox", word: "Inbox", icon: Inbox, letter: "i" },
  { to: "/triggers", word: "Triggers", icon: Zap, letter: "t" },
  { to: "/system", word: "System", icon: Settings2, letter: "s" },
];

/** The pages below a section that have a path of their own. */
const BELOW: Readonly<Record<string, readonly string[]>> = { "/catalog": ["/connectors", "/actions", "/templates"], "/rules": ["/entities", "/alerts"], "/system": ["/admin"] };

/** Whether a path is a section or below it. */
export function isAt(where: string, section: string): boolean {
  return [section, ...(BELOW[section] ?? [])].some((one) => where === one || where.startsWith(`${one}/`));
}
