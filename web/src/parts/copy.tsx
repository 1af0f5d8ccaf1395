/** Copies a text, and says that it did. */
import { Check, Copy } from "lucide-react";
import { useState } from "react";
import styles from "./copy.module.css";

/** Put a text on the clipboard. Over plain HTTP on another host the browser has none: then by selection. */
export async function copyText(text: string): Promise<void> {
  if (navigator.clipboard) return await navigator.clipboard.writeText(text);
  const area = document.createElement("textarea");
  area.value = text;
  document.body.append(area);
  area.select();
  document.execCommand("copy");
  area.remove();
}

export function CopyButton({ text, what }: { text: string; what: string }) {
  const [done, setDone] = useState(false);
  return (
    <button
      type="button"
      className={styles["copy"]}
      aria-label={done ? "Copied" : `Copy ${what}`}
      onClick={(event) => {
        event.preventDefault();
        event.stopPropagation();
        void copyText(text).then(() => {
          setDone(true);
          setTimeout(() => setDone(false), 1200);
        });
      }}
    >
      {done ? <Check className="icon small" aria-hidden /> : <Copy className="icon small" aria-hidden />}
    </button>
  );
}
