/** Keys. A part of the page says which keys it knows; they work unless a person is typing, and `?` lists them. */
import { useEffect, useRef } from "react";

export interface Key {
  /** `j`, `Enter`, `Ctrl k`, or two in a row: `g r`. */
  key: string;
  says: string;
  /** Returns false if it does not apply now: then the key goes on to others. */
  run: () => unknown;
}
export interface KeyGroup {
  title: string;
  keys: Key[];
}

const groups: { current: KeyGroup }[] = [];
/** The first of two keys is waited for so long. */
const SEQUENCE = 900;
let pending = "";
let pendingUntil = 0;

/** What can be pressed now, the newest part first. */
export function keyGroups(): KeyGroup[] {
  return groups.map((one) => one.current).reverse();
}

/** Know these keys while a component is mounted. */
export function useKeys(title: string, keys: Key[]): void {
  const holder = useRef<KeyGroup>({ title, keys });
  holder.current = { title, keys };
  useEffect(() => {
    groups.push(holder);
    return () => {
      groups.splice(groups.indexOf(holder), 1);
    };
  }, []);
}

/** How a pressed key is written; empty for Shift and its like alone. */
export function written(event: Pick<KeyboardEvent, "key" | "ctrlKey" | "metaKey" | "altKey">): string {
  if (["Shift", "Control", "Alt", "Meta"].includes(event.key)) return "";
  const name = event.key === " " ? "Space" : event.key;
  const modified = event.ctrlKey || event.metaKey;
  return `${modified ? "Ctrl " : ""}${event.altKey ? "Alt " : ""}${modified ? name.toLowerCase() : name}`;
}

function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target.isContentEditable || target.matches("textarea, select")) return true;
  return target.matches("input:not([type=checkbox], [type=radio], [type=button])");
}

/** Enter and Space on a control are its own. */
function isOwn(target: EventTarget | null, key: string): boolean {
  if (!(target instanceof HTMLElement) || (key !== "Enter" && key !== "Space")) return false;
  return target.closest("a, button, summary, [role=menuitem], [role=option], input") !== null;
}

function find(key: string): boolean {
  for (const { keys } of keyGroups()) {
    for (const one of keys) if (one.key === key && one.run() !== false) return true;
  }
  return false;
}

/** Listen to keys, once for the page. */
export function startKeys(): void {
  addEventListener("keydown", (event) => {
    const key = written(event);
    if (!key || event.defaultPrevented) return;
    const isCommand = key.startsWith("Ctrl ");
    // A dialog or a menu has its own keys.
    const isCovered = document.querySelector("dialog[open], [role=menu]") !== null;
    if (!isCommand && (isTyping(event.target) || isOwn(event.target, key) || isCovered)) return;
    const both = performance.now() < pendingUntil ? `${pending} ${key}` : "";
    pendingUntil = 0;
    if ((both && find(both)) || find(key)) event.preventDefault();
    else if (keyGroups().some((group) => group.keys.some((one) => one.key.startsWith(`${key} `)))) {
      pending = key;
      pendingUntil = performance.now() + SEQUENCE;
    }
  });
}
