/** What a menu is made of. It is loaded when the first menu is opened: see menu.tsx. */
import * as Radix from "@radix-ui/react-dropdown-menu";
import { Check } from "lucide-react";
import type { ReactNode } from "react";
import { useDenied } from "../api/session";
import type { ChoiceProps, ItemProps, MenuProps } from "./menu";
import styles from "./menu.module.css";

/** A menu that is open from the beginning: a click asked for it. */
export function MenuContent({ button, children, align = "start" }: MenuProps): ReactNode {
  return (
    <Radix.Root modal={false} defaultOpen>
      <Radix.Trigger asChild>{button}</Radix.Trigger>
      <Radix.Portal>
        <Radix.Content className={styles["menu"]} align={align} sideOffset={5} collisionPadding={8}>
          {children}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}

export function MenuItem({ icon: Icon, children, hint, onSelect, needs, disabled, danger }: ItemProps) {
  const why = useDenied(needs);
  return (
    <Radix.Item
      className={danger ? `${styles["item"]} ${styles["danger"]}` : styles["item"]}
      onSelect={onSelect}
      disabled={why !== undefined || (disabled ?? false)}
    >
      {Icon && <Icon className="icon" aria-hidden />}
      <span>
        {children}
        {(why ?? hint) && <small>{why ?? hint}</small>}
      </span>
    </Radix.Item>
  );
}

export function MenuChoice({ value, choices, onChoose }: ChoiceProps<string>) {
  return (
    <Radix.RadioGroup value={value} onValueChange={onChoose}>
      {choices.map(([name, word]) => (
        <Radix.RadioItem key={name} value={name} className={styles["item"]}>
          <span>{word}</span>
          <Radix.ItemIndicator>
            <Check className="icon small" aria-hidden />
          </Radix.ItemIndicator>
        </Radix.RadioItem>
      ))}
    </Radix.RadioGroup>
  );
}

export function MenuLine() {
  return <Radix.Separator className={styles["line"]} />;
}
