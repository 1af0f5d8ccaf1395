/** What a view shows when there is nothing, or when it could not be had. */
import { RotateCw } from "lucide-react";
import type { ReactNode } from "react";
import { isRefusal, saying } from "../api/client";
import { Button } from "./button";
import styles from "./states.module.css";

/** Nothing is here; `children` show the line that would fill it. */
export function Empty({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <div className={styles["state"]}>
      <p className={styles["title"]}>{title}</p>
      {children}
    </div>
  );
}

/** It could not be had: what happened, and a way to try again. */
export function Failure({ error, what, onRetry }: { error: unknown; what: string; onRetry?: () => void }) {
  return (
    <div className={styles["state"]} role="alert">
      <p className={styles["title"]}>{what}</p>
      <p className={styles["reason"]}>{saying(error)}</p>
      {onRetry && (
        <Button onClick={onRetry}>
          <RotateCw className="icon" aria-hidden />
          Try again
        </Button>
      )}
    </div>
  );
}

/** Whether a view has nothing to show. What it has stays while the server cannot be reached; a refusal takes it away. */
export function isLost(error: unknown, data: unknown): boolean {
  if (!error) return false;
  return data === undefined || isRefusal(error);
}

/** Waits without a word: after a moment a screen reader hears it. */
export function Waiting({ what }: { what: string }) {
  return (
    <p className="unseen" role="status">
      {what}
    </p>
  );
}

/** A line to copy and run. */
export function Snippet({ label, children }: { label: string; children: string }) {
  return (
    <figure className={styles["snippet"]}>
      <figcaption>{label}</figcaption>
      <pre tabIndex={0}>
        <code>{children}</code>
      </pre>
    </figure>
  );
}
