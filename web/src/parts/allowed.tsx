/** Around a dialog that an address or a key can open: a caller that may not do it reads why, and nothing is asked. */
import type { ReactNode } from "react";
import type { Operation } from "../api/policy";
import { useDenied, useMe } from "../api/session";
import { Button } from "./button";
import { Dialog } from "./dialog";

interface Props {
  /** What the dialog does; without it every caller may. */
  needs: Operation | undefined;
  /** The workflow that it starts. A caller that may start only others reads that. */
  workflow?: string;
  onClose: () => void;
  children: ReactNode;
}

export function Allowed({ needs, workflow, onClose, children }: Props) {
  const me = useMe();
  const denied = useDenied(needs);
  if (!me) return null;
  const isOther = workflow !== undefined && me.workflows !== null && !me.workflows.includes(workflow);
  const why = denied ?? (isOther ? `${me.caller.name} may start only ${me.workflows?.join(", ")}.` : undefined);
  if (why === undefined) return children;
  return (
    <Dialog open onClose={onClose} title="You may not do this" actions={<Button onClick={onClose}>Close</Button>}>
      <p>{why}</p>
    </Dialog>
  );
}
