/** A state: icon, word and colour, never colour alone. */
import { lookOf } from "../look/status";
import styles from "./status.module.css";

interface Props {
  of: string;
  /** On a tinted ground, as in the head of a run. */
  pill?: boolean;
  /** Success without colour on the word: in lists, where most succeed. */
  quiet?: boolean;
  /** Only the icon; the word is for screen readers. */
  bare?: boolean;
}

export function Status({ of, pill, quiet, bare }: Props) {
  const { word, tone, icon: Icon } = lookOf(of);
  const muted = quiet && (tone === "ok" || tone === "idle");
  const names = [styles["status"], `t-${tone}`, pill && styles["pill"], muted && styles["quiet"]];
  return (
    <span className={names.filter(Boolean).join(" ")}>
      <Icon className={`icon${of === "running" ? " turning" : ""}`} aria-hidden />
      <span className={bare ? "unseen" : undefined}>{word}</span>
    </span>
  );
}
