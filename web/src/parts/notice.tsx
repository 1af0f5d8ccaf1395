/** A line that a person should know of, with an icon and, if need be, something to do. */
import { CircleAlert, Info, type LucideIcon, OctagonX } from "lucide-react";
import type { ReactNode } from "react";
import styles from "./notice.module.css";

const ICONS: Record<string, LucideIcon> = { idle: Info, hold: CircleAlert, fail: OctagonX };

export function Notice({ tone = "idle", actions, children }: { tone?: "idle" | "hold" | "fail"; actions?: ReactNode; children: ReactNode }) {
  const Icon = ICONS[tone] ?? Info;
  return (
    <div className={`${styles["notice"]} t-${tone}`} role={tone === "fail" ? "alert" : "note"}>
      <Icon className="icon" aria-hidden />
      <div>{children}</div>
      {actions}
    </div>
  );
}
