/** Short words about what just happened, at the lower edge. */
import { X } from "lucide-react";
import { useSyncExternalStore } from "react";
import { Button } from "./button";
import styles from "./toast.module.css";

interface Toast {
  id: number;
  text: string;
  tone: "plain" | "fail";
  action?: { word: string; run: () => void };
}

const SHOWN_FOR = 6000;
let toasts: readonly Toast[] = [];
let last = 0;
const watchers = new Set<() => void>();

function change(next: readonly Toast[]): void {
  toasts = next;
  for (const changed of watchers) changed();
}

function drop(id: number): void {
  change(toasts.filter((one) => one.id !== id));
}

/** Tell what happened. What failed stays until it is closed. */
export function toast(text: string, options: { tone?: Toast["tone"]; action?: Toast["action"] } = {}): void {
  last += 1;
  const id = last;
  const tone = options.tone ?? "plain";
  change([...toasts.slice(-2), { id, text, tone, ...(options.action ? { action: options.action } : {}) }]);
  if (tone === "plain") setTimeout(() => drop(id), SHOWN_FOR);
}

export function Toasts() {
  const list = useSyncExternalStore(
    (changed) => {
      watchers.add(changed);
      return () => watchers.delete(changed);
    },
    () => toasts,
  );
  return (
    <div className={styles["toasts"]} role="status" aria-live="polite">
      {list.map((one) => (
        <div key={one.id} className={one.tone === "fail" ? `${styles["toast"]} ${styles["fail"]}` : styles["toast"]}>
          <span>{one.text}</span>
          {one.action && (
            <Button
              kind="ghost"
              onClick={() => {
                one.action?.run();
                drop(one.id);
              }}
            >
              {one.action.word}
            </Button>
          )}
          <Button kind="ghost" square aria-label="Close message" onClick={() => drop(one.id)}>
            <X className="icon small" aria-hidden />
          </Button>
        </div>
      ))}
    </div>
  );
}
