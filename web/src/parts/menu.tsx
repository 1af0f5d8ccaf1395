/** A menu behind a button. What it is made of is loaded when a person comes near: a page that only shows is smaller. */
import type { LucideIcon } from "lucide-react";
import type { Operation } from "../api/policy";
import { cloneElement, type ComponentType, lazy, type ReactElement, type ReactNode, Suspense, useState } from "react";

export interface MenuProps {
  /** A button; it gets what opens the menu. */
  button: ReactElement<Record<string, unknown>>;
  children: ReactNode;
  align?: "start" | "end";
}
export interface ItemProps {
  icon?: LucideIcon;
  children: ReactNode;
  /** A second line: what it will do. */
  hint?: ReactNode;
  onSelect: () => void;
  /** What the caller must be allowed to do. Without that the second line says which scope is missing. */
  needs?: Operation | undefined;
  disabled?: boolean;
  danger?: boolean;
}
export interface ChoiceProps<T extends string> {
  value: T;
  choices: [T, string][];
  onChoose: (value: T) => void;
}

const load = () => import("./menu_content");
const Content = lazy(() => load().then((all) => ({ default: all.MenuContent })));
const Choice = lazy(() => load().then((all) => ({ default: all.MenuChoice })));

export const MenuItem: ComponentType<ItemProps> = lazy(() => load().then((all) => ({ default: all.MenuItem })));
export const MenuLine: ComponentType = lazy(() => load().then((all) => ({ default: all.MenuLine })));

/** One of several; the chosen one is ticked. */
export function MenuChoice<T extends string>(props: ChoiceProps<T>) {
  return <Choice {...(props as unknown as ChoiceProps<string>)} />;
}

export function Menu(props: MenuProps) {
  const [wanted, setWanted] = useState(false);
  const closed = cloneElement(props.button, {
    "aria-haspopup": "menu",
    "aria-expanded": false,
    onPointerEnter: () => void load(),
    onFocus: () => void load(),
    onClick: () => setWanted(true),
  });
  if (!wanted) return closed;
  return (
    <Suspense fallback={closed}>
      <Content {...props} />
    </Suspense>
  );
}
