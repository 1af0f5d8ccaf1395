/** Tabs, each with a URL of its own: they are links in a row. */
import { type ReactNode, useEffect, useRef } from "react";
import { Link } from "wouter";
import { count } from "../look/numbers";
import styles from "./tabs.module.css";

export interface Tab {
  name: string;
  to: string;
  word: string;
  count?: number;
}

export function TabLinks({ tabs, current, label, after }: { tabs: Tab[]; current: string; label: string; after?: ReactNode }) {
  const row = useRef<HTMLElement>(null);
  // On a phone the row is longer than the screen.
  useEffect(() => {
    row.current?.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" });
  }, [current, tabs.length]);
  return (
    <nav ref={row} className={styles["tabs"]} aria-label={label}>
      {tabs.map((tab) => (
        <Link key={tab.name} href={tab.to} className={styles["tab"] ?? ""} aria-current={tab.name === current ? "page" : undefined}>
          {tab.word}
          {tab.count !== undefined && <span>{count(tab.count)}</span>}
        </Link>
      ))}
      {after}
    </nav>
  );
}

/** Tabs inside a panel, without a URL of their own. */
export function TabButtons({ tabs, current, label, onChoose }: { tabs: Omit<Tab, "to">[]; current: string; label: string; onChoose: (name: string) => void }) {
  return (
    <div className={styles["tabs"]} role="tablist" aria-label={label}>
      {tabs.map((tab, i) => (
        <button
          key={tab.name}
          type="button"
          role="tab"
          className={styles["tab"]}
          aria-selected={tab.name === current}
          tabIndex={tab.name === current ? 0 : -1}
          onClick={() => onChoose(tab.name)}
          onKeyDown={(event) => {
            const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
            if (!step) return;
            const next = tabs[(i + step + tabs.length) % tabs.length];
            if (!next) return;
            onChoose(next.name);
            (event.currentTarget.parentElement?.children[tabs.indexOf(next)] as HTMLElement | undefined)?.focus();
          }}
        >
          {tab.word}
          {tab.count !== undefined && <span>{count(tab.count)}</span>}
        </button>
      ))}
    </div>
  );
}
