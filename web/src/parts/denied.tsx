/** A button for what the caller may not do. It keeps its place and takes the focus, so that it can say why. */
import type { ReactNode } from "react";
import { Tooltip } from "./tooltip";

export default function Denied({ why, className, children, label }: { why: string; className: string; children: ReactNode; label?: string | undefined }) {
  return (
    <Tooltip text={why} side="bottom">
      <button type="button" className={className} aria-disabled aria-label={label}>
        {children}
      </button>
    </Tooltip>
  );
}
