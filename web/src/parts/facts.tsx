/** Facts in a row: a small word, and what there is to say. */
import type { ReactNode } from "react";
import styles from "./facts.module.css";

export function Facts({ children }: { children: ReactNode }) {
  return <dl className={styles["facts"]}>{children}</dl>;
}

export function Fact({ word, title, children }: { word: string; title?: string; children: ReactNode }) {
  return (
    <div title={title}>
      <dt>{word}</dt>
      <dd>{children}</dd>
    </div>
  );
}
