/** The filters as one line of text that can be changed. */
import { useState } from "react";
import type { Chip } from "./query";
import { parse, write } from "./query_text";
import styles from "./query_bar.module.css";

export function QueryLine({ chips, onChips }: { chips: readonly Chip[]; onChips: (chips: Chip[]) => void }) {
  const [line, setLine] = useState(() => write(chips));
  const apply = () => onChips(parse(line));
  return (
    <input
      className={`${styles["input"]} mono`}
      aria-label="Filters as text"
      value={line}
      spellCheck={false}
      autoComplete="off"
      autoFocus
      placeholder="status:failed workflow:refund label:team:shop since:24h declined"
      onChange={(event) => setLine(event.currentTarget.value)}
      onBlur={apply}
      onKeyDown={(event) => {
        if (event.key === "Enter") apply();
      }}
    />
  );
}
