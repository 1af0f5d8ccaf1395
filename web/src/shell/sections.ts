/** The five sections of the page: in the bar at the top, on a phone at the bottom. */
import { Inbox, type LucideIcon, Play, Settings2, Workflow, Zap } from "lucide-react";

export interface Section {
  to: string;
  word: string;
  icon: LucideIcon;
  /** `g` and this letter go there. */
  letter: string;
}

export const SECTIONS: Section[] = [
  { to: "/runs", word: "Runs", icon: Play, letter: "r" },
  { to: "/workflows", word: "Workflows", icon: Workflow, letter: "w" },
  { to: "/inbox", word: "Inbox", icon: Inbox, letter: "i" },
  { to: "/triggers", word: "Triggers", icon: Zap, letter: "t" },
  { to: "/system", word: "System", icon: Settings2, letter: "s" },
];
