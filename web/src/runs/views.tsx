/** Saved views: those of the server with their numbers, and those that this browser keeps. */
import { useQuery } from "@tanstack/react-query";
import { Bookmark } from "lucide-react";
import { lazy, Suspense, useState } from "react";
import type { ViewName } from "../api/documents";
import { countsQuery } from "../api/runs";
import { capped } from "../look/numbers";
import { Button } from "../parts/button";
import { usePreference } from "../shell/preferences";
import { type Chip, fromUrl, toUrl, valueOf } from "./query";
import styles from "./views.module.css";

const loadSaving = () => import("./save_view");
const SaveView = lazy(() => loadSaving().then((all) => ({ default: all.SaveView })));

const VIEWS: { name: ViewName; word: string; tone?: string; quiet?: boolean }[] = [
  { name: "all", word: "All" },
  { name: "running", word: "Running" },
  { name: "waiting", word: "Waiting" },
  { name: "person", word: "Needs a person", tone: "wait" },
  { name: "failing", word: "Failing", tone: "fail" },
  { name: "stuck", word: "Stuck", tone: "hold" },
  { name: "paused", word: "Paused", tone: "hold", quiet: true },
];

/** A view that this browser keeps. */
export interface Own {
  word: string;
  search: string;
}

function read(kept: string): Own[] {
  try {
    const found: unknown = JSON.parse(kept);
    return Array.isArray(found) ? found.filter((one): one is Own => typeof one?.word === "string" && typeof one?.search === "string") : [];
  } catch {
    return [];
  }
}

interface Props {
  chips: readonly Chip[];
  onChips: (chips: Chip[]) => void;
}

export function Views({ chips, onChips }: Props) {
  const { data } = useQuery(countsQuery());
  const [kept, keep] = usePreference("views", "[]");
  const own = read(kept);
  const now = toUrl(chips);
  const view = valueOf(chips, "view") ?? "all";
  const isOwn = own.some((one) => one.search === now);
  return (
    <>
      <div className={styles["views"]} role="group" aria-label="Saved views">
        {VIEWS.filter((one) => !one.quiet || (data?.views[one.name] ?? 0) > 0 || view === one.name).map(({ name, word, tone }) => {
          const number = data?.views[name];
          return (
            <button
              key={name}
              type="button"
              aria-pressed={!isOwn && view === name}
              className={tone && number ? `t-${tone}` : undefined}
              onClick={() => onChips(name === "all" ? [] : [{ name: "view", value: name }])}
            >
              {word}
              {number !== undefined && <span>{capped(number, data?.capped_at ?? Number.POSITIVE_INFINITY)}</span>}
            </button>
          );
        })}
        {own.map((one) => (
          <button key={one.word} type="button" aria-pressed={one.search === now} onClick={() => onChips(fromUrl(one.search))}>
            {one.word}
          </button>
        ))}
      </div>
      <SaveButton own={own} search={now} onKeep={(next) => keep(JSON.stringify(next))} />
    </>
  );
}

function SaveButton(props: { own: Own[]; search: string; onKeep: (own: Own[]) => void }) {
  const [wanted, setWanted] = useState(false);
  const near = () => void loadSaving();
  const button = (
    <Button kind="ghost" square aria-label="Save this view" aria-haspopup="dialog" onPointerEnter={near} onFocus={near} onClick={() => setWanted(true)}>
      <Bookmark className="icon" aria-hidden />
    </Button>
  );
  if (!wanted) return button;
  return (
    <Suspense fallback={button}>
      <SaveView {...props} button={button} />
    </Suspense>
  );
}
