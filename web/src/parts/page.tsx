/** The frame of an ordinary page: title, what can be done, content that scrolls. */
import type { ReactNode } from "react";
import { useTitle } from "../api/session";
import styles from "./page.module.css";

export function PageFrame({ title, actions, children }: { title: string; actions?: ReactNode; children: ReactNode }) {
  useTitle(title);
  return (
    <div className={styles["page"]}>
      <div className={styles["head"]}>
        <h1>{title}</h1>
        {actions && <div className={styles["actions"]}>{actions}</div>}
      </div>
      <div className={styles["body"]} tabIndex={-1}>
        {children}
      </div>
    </div>
  );
}
