/** The word and icon of every kind of step. */
import { BellRing, Globe, Hand, Layers, LayoutGrid, type LucideIcon, Mail, Moon, Radio, Split, SquareCode, Zap } from "lucide-react";

const KINDS: Record<string, { word: string; icon: LucideIcon }> = {
  http: { word: "HTTP", icon: Globe },
  action: { word: "Action", icon: Zap },
  python: { word: "Python", icon: SquareCode },
  function: { word: "Python", icon: SquareCode },
  operation: { word: "Python", icon: SquareCode },
  sleep: { word: "Sleep", icon: Moon },
  wait: { word: "Wait", icon: Hand },
  condition: { word: "Condition", icon: Split },
  workflow: { word: "Workflow", icon: Layers },
  subworkflow: { word: "Workflow", icon: Layers },
  child: { word: "Workflow", icon: Layers },
  map: { word: "For each", icon: LayoutGrid },
  event: { word: "Event", icon: Radio },
  create_alert: { word: "Alert", icon: BellRing },
  send_email: { word: "E-mail", icon: Mail },
  email: { word: "E-mail", icon: Mail },
};

/** The word and icon of a kind of step. */
export function kindOf(kind: string): { word: string; icon: LucideIcon } {
  return KINDS[kind] ?? { word: kind, icon: Zap };
}
