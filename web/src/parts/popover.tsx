/** A small sheet beside what opened it. It is heavy: what uses it is loaded when it is first opened. */
import * as Radix from "@radix-ui/react-popover";
import type { ReactElement, ReactNode } from "react";
import styles from "./popover.module.css";

interface Props {
  /** A button; it gets what opens the popover. */
  button: ReactElement;
  label: string;
  children: ReactNode;
  open: boolean;
  onOpen: (open: boolean) => void;
}

export function Popover({ button, label, children, open, onOpen }: Props) {
  return (
    <Radix.Root modal={false} open={open} onOpenChange={onOpen}>
      <Radix.Trigger asChild>{button}</Radix.Trigger>
      <Radix.Portal>
        <Radix.Content className={styles["popover"]} align="start" sideOffset={5} collisionPadding={8} aria-label={label}>
          {children}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}
