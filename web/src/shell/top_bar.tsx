import { useQuery } from "@tanstack/react-query";
import { Moon, Search, Sun } from "lucide-react";
import { Link, useLocation } from "wouter";
import { useHasRules } from "../api/has_rules";
import { countsQuery } from "../api/runs";
import { useFeatures } from "../api/session";
import { Button } from "../parts/button";
import { Mark } from "./mark";
import { Who } from "./who";
import { isAt, SECTIONS } from "./sections";
import { chooseTheme, isDark, useTheme } from "./theme";
import styles from "./top_bar.module.css";

export function TopBar({ onSearch }: { onSearch: () => void }) {
  const [where] = useLocation();
  const has = useFeatures();
  const hasRules = useHasRules();
  const views = useQuery(countsQuery()).data?.views;
  const waiting = views?.waiting ?? 0; // approvals are among them
  return (
    <header className={styles["bar"]}>
      <Link href="/runs" className={styles["brand"] ?? ""} aria-label="Detent">
        <Mark />
        <b>Detent</b>
      </Link>
      <nav className={styles["sections"]} aria-label="Main">
        {SECTIONS.filter((one) => has(one.feature) && (!one.withRules || hasRules || isAt(where, one.to))).map(({ to, word, icon: Icon }) => (
          <Link key={to} href={to} className={styles["section"] ?? ""} aria-current={isAt(where, to) ? "page" : undefined}>
            <Icon className="icon" aria-hidden />
            {word}
            {to === "/inbox" && waiting > 0 && (
              <span className={styles["count"]}>
                {waiting}
                <span className="unseen"> waiting for an answer</span>
              </span>
            )}
          </Link>
        ))}
      </nav>
      <button type="button" className={styles["find"]} onClick={onSearch}>
        <Search className="icon" aria-hidden />
        <span>Search or jump to…</span>
        <kbd aria-hidden>Ctrl K</kbd>
      </button>
      <ThemeButton />
      <Who />
    </header>
  );
}

function ThemeButton() {
  const theme = useTheme();
  const dark = isDark(theme);
  return (
    <Button
      kind="ghost"
      square
      aria-label={dark ? "Use the light theme" : "Use the dark theme"}
      onClick={() => chooseTheme(dark ? "light" : "dark")}
    >
      {dark ? <Sun className="icon" aria-hidden /> : <Moon className="icon" aria-hidden />}
    </Button>
  );
}
