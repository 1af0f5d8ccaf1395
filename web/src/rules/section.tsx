/** The frame of rules, entities and alerts: one section with three views. */
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { MOST_OPEN, openAlertsQuery } from "../api/rules";
import { useTitle } from "../api/session";
import { TabLinks } from "../parts/tabs";
import frame from "../workflows/section.module.css";
import styles from "./rules.module.css";

const WORDS = { rules: "Rules", entities: "Entities", alerts: "Alerts" } as const;

export function Section({ tab, actions, children }: { tab: keyof typeof WORDS; actions?: ReactNode; children: ReactNode }) {
  useTitle(WORDS[tab]);
  const open = useQuery(openAlertsQuery()).data?.length ?? 0;
  return (
    <div className={frame["page"]}>
      <div className={frame["head"]}>
        <h1>Rules</h1>
        <TabLinks
          label="Views of rules"
          current={tab}
          tabs={[
            { name: "rules", word: "All rules", to: "/rules" },
            { name: "entities", word: "Entities", to: "/entities" },
            { name: "alerts", word: open >= MOST_OPEN ? `Alerts ${MOST_OPEN}+` : "Alerts", to: "/alerts", ...(open > 0 && open < MOST_OPEN ? { count: open } : {}) },
          ]}
        />
        {actions && <div className={styles["headVerbs"]}>{actions}</div>}
      </div>
      {children}
    </div>
  );
}
