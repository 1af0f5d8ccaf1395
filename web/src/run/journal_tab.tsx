/** The journal: what happened, in order. An entry leads to the step, and to the run as it was then. */
import { useInfiniteQuery } from "@tanstack/react-query";
import { Download, History } from "lucide-react";
import { useMemo } from "react";
import { Link } from "wouter";
import type { Entry } from "../api/documents";
import { entriesQuery, exportAddress, type Outline } from "../api/run";
import { count } from "../look/numbers";
import { exact, span } from "../look/time";
import { Button, LinkButton } from "../parts/button";
import { download } from "../parts/download";
import { JsonTree } from "../parts/json/tree";
import { List } from "../parts/list/list";
import { Empty, Failure, isLost, Waiting } from "../parts/states";
import { Status } from "../parts/status";
import { usePreference } from "../shell/preferences";
import { entryWords, isMechanics, kindWord, stateOfEntry } from "./entry_words";
import { type Places, urlOf } from "./place";
import styles from "./tabs.module.css";

const ROW = 32;

export function JournalTab({ id, outline, places }: { id: string; outline: Outline; places: Places }) {
  const [mode, setMode] = usePreference("journal", "compact");
  const found = useInfiniteQuery(entriesQuery(id));
  const { hasNextPage, isFetchingNextPage, fetchNextPage } = found;
  const all = useMemo(() => found.data?.pages.flat() ?? [], [found.data]);
  const entries = useMemo(() => (mode === "compact" ? all.filter((one) => !isMechanics(one)) : all), [all, mode]);
  const chosen = all.find((one) => one.seq === places.place.entry);
  const begin = Date.parse(outline.begun_at ?? outline.run.started_at ?? "");
  if (isLost(found.error, found.data)) return <Failure error={found.error} what="The journal could not be shown" onRetry={() => void found.refetch()} />;
  if (!found.data) return <Waiting what="The journal is loading" />;
  return (
    <div className={styles["journal"]} data-detail={chosen !== undefined || undefined}>
      <div className={styles["tab"]}>
        <div className={styles["bar"]}>
          <div className={styles["modes"]} role="group" aria-label="How much is shown">
            {MODES.map(([name, word]) => (
              <button key={name} type="button" aria-pressed={mode === name} onClick={() => setMode(name)}>
                {word}
              </button>
            ))}
          </div>
          <span className={styles["soft"]}>
            {count(entries.length)} of {count(outline.seq)} entries
          </span>
          <Button kind="ghost" onClick={() => download(exportAddress(id, "json"))}>
            <Download className="icon" aria-hidden />
            Download
          </Button>
        </div>
        {mode === "json" ? (
          <JsonTree value={all} label="Journal" />
        ) : entries.length === 0 ? (
          <Empty title="Nothing has happened yet">
            <p>The first entry is written when the first attempt ends.</p>
          </Empty>
        ) : (
          <List
            count={entries.length}
            row={ROW}
            label="Entries"
            onEnd={() => {
              if (hasNextPage && !isFetchingNextPage) void fetchNextPage();
            }}
            render={(i) => {
              const entry = entries[i];
              return entry && <Row key={entry.seq} entry={entry} begin={begin} selected={entry.seq === places.place.entry} onChoose={() => places.go({ entry: entry.seq }, true)} />;
            }}
          />
        )}
      </div>
      {chosen && <Detail id={id} entry={chosen} last={outline.seq} />}
    </div>
  );
}

const MODES = [
  ["compact", "Compact"],
  ["all", "All"],
  ["json", "JSON"],
] as const;

function Row({ entry, begin, selected, onChoose }: { entry: Entry; begin: number; selected: boolean; onChoose: () => void }) {
  const at = Date.parse(entry.at);
  return (
    <div role="listitem" className={styles["entry"]} data-selected={selected || undefined}>
      <button type="button" aria-pressed={selected} onClick={onChoose}>
        <span className={styles["seq"]}>{entry.seq}</span>
        <time title={`${exact(at, "local")}\n${exact(at, "utc")}`}>{Number.isNaN(begin) ? exact(at, "local").slice(11) : `+${span(Math.max(0, at - begin))}`}</time>
        <Status of={stateOfEntry(entry)} bare quiet />
        <b>{entry.step ?? kindWord(entry)}</b>
        <span className={styles["words"]}>
          {entry.step ? `${kindWord(entry)} · ` : ""}
          {entryWords(entry)}
        </span>
      </button>
    </div>
  );
}

function Detail({ id, entry, last }: { id: string; entry: Entry; last: number }) {
  const then = entry.seq >= last ? null : entry.seq;
  return (
    <aside className={styles["detail"]} aria-label={`Entry ${entry.seq}`}>
      <header>
        <h2>Entry {entry.seq}</h2>
        {entry.step && (
          <Link href={urlOf(id, { step: entry.step, at: then })} className={styles["link"] ?? ""}>
            {entry.step}
          </Link>
        )}
        <LinkButton to={urlOf(id, { at: then, step: entry.step })}>
          <History className="icon" aria-hidden />
          Show the run at this moment
        </LinkButton>
      </header>
      <JsonTree key={entry.seq} value={entry} label={`Entry ${entry.seq}`} />
    </aside>
  );
}
