/** Waits that are to be answered: a list, and the chosen one beside it. On a phone one after the other. */
import { useInfiniteQuery } from "@tanstack/react-query";
import { ChevronLeft } from "lucide-react";
import { useEffect, useMemo, useRef } from "react";
import { Link } from "wouter";
import type { Wait } from "../api/documents";
import { useRefresh } from "../api/refresh";
import { useNow, useTitle } from "../api/session";
import { waitsQuery } from "../api/waits";
import { several } from "../look/numbers";
import { distance, instant, roughSpan } from "../look/time";
import { List, type ListHandle } from "../parts/list/list";
import { Empty, Failure, isLost, Snippet, Waiting } from "../parts/states";
import { useNarrow } from "../shell/narrow";
import { useKeys } from "../shell/keys";
import { usePlace } from "../shell/place";
import { nameOf } from "./answer";
import { gist } from "./gist";
import { AnswerForm } from "./wait_form";
import styles from "./inbox.module.css";

const ROW = 76;
/** Less than this is left: say it loudly. */
const SOON = 60 * 60_000;

function keyOf(wait: Wait): string {
  return `${wait.run.id}:${wait.step}`;
}

export default function Inbox() {
  useTitle("Inbox");
  useRefresh("inbox", [["waits"]], 1000);
  const pages = useInfiniteQuery(waitsQuery());
  const { data, error, refetch } = pages;
  const waits = useMemo(() => data?.pages.flatMap((page) => page.data) ?? [], [data]);
  // What is there stays when it cannot be read again: a person may be writing an answer.
  if (isLost(error, data)) return <Failure error={error} what="The inbox could not be read" onRetry={() => void refetch()} />;
  if (!data) return <Waiting what="The inbox is loading" />;
  if (waits.length === 0) {
    return (
      <Empty title="Nothing waits for an answer">
        <p>A step that waits appears here until it is answered, by a person or by a program.</p>
        <Snippet label="A step that waits for three days">{`approve:
  wait_for_webhook: {timeout: 3d}`}</Snippet>
      </Empty>
    );
  }
  const more = () => pages.hasNextPage && !pages.isFetching && void pages.fetchNextPage();
  return <Waits waits={waits} hasMore={pages.hasNextPage} onEnd={more} />;
}

function Waits({ waits, hasMore, onEnd }: { waits: Wait[]; hasMore: boolean; onEnd: () => void }) {
  const place = usePlace();
  const wanted = place.get("wait");
  const at = waits.findIndex((one) => keyOf(one) === wanted);
  const chosen = waits[at];
  const list = useRef<ListHandle>(null);
  const form = useRef<HTMLDivElement>(null);
  const choose = (i: number) => {
    const next = waits[Math.max(0, Math.min(waits.length - 1, i))];
    if (!next) return;
    place.set({ wait: keyOf(next) }, { replace: wanted !== "" });
    list.current?.reveal(waits.indexOf(next));
  };
  const enter = () => form.current?.querySelector<HTMLElement>("input, select, textarea, button")?.focus();
  useKeys("Inbox", [
    { key: "j", says: "Next wait", run: () => choose(at + 1) },
    { key: "k", says: "Previous wait", run: () => choose(at - 1) },
    { key: "Enter", says: "Go to its answer", run: () => (chosen ? enter() : choose(0)) },
  ]);
  /** The next one takes the place of what was answered. */
  const answered = () => {
    const next = waits[at + 1] ?? waits[at - 1];
    place.set({ wait: next ? keyOf(next) : null }, { replace: true });
  };
  // On a wide page the first one is shown at once. It is put into the URL, so that it stays when another comes before it.
  const isNarrow = useNarrow();
  const first = waits[0];
  useEffect(() => {
    if (!isNarrow && wanted === "" && first) place.set({ wait: keyOf(first) }, { replace: true });
  }, [isNarrow, wanted, first, place]);
  return (
    <div className={`${styles["inbox"]} ${chosen ? styles["open"] : ""}`}>
      <section className={styles["left"]} aria-label="Waits">
        <header>
          <h1>Inbox</h1>
          <span>{several(waits.length, "wait")}{hasMore && " and more"}, the nearest deadline first</span>
        </header>
        <List
          handle={list}
          label="Waits"
          count={waits.length}
          row={ROW}
          onEnd={onEnd}
          render={(i) => {
            const one = waits[i];
            return one && <Row key={keyOf(one)} wait={one} to={place.with({ wait: keyOf(one) })} isAt={i === at} />;
          }}
        />
      </section>
      <section className={styles["right"]} aria-label="Answer" ref={form}>
        {chosen ? (
          <>
            <Link href={place.with({ wait: null })} className={styles["back"] ?? ""}>
              <ChevronLeft className="icon" aria-hidden />
              All waits
            </Link>
            <AnswerForm key={keyOf(chosen)} wait={chosen} onAnswered={answered} />
          </>
        ) : wanted ? (
          <Gone to={place.with({ wait: null })} />
        ) : (
          <p className={styles["none"]}>
            Choose a wait to answer it. <kbd>j</kbd> and <kbd>k</kbd> move, <kbd>Enter</kbd> goes to the answer.
          </p>
        )}
      </section>
    </div>
  );
}

function Gone({ to }: { to: string }) {
  const back = useRef<HTMLAnchorElement>(null);
  useEffect(() => back.current?.focus(), []);
  return (
    <p className={styles["none"]}>
      This wait was answered, ended with its run, or timed out.{" "}
      <Link href={to} ref={back}>
        <u>Show what waits now</u>
      </Link>
    </p>
  );
}

function Row({ wait, to, isAt }: { wait: Wait; to: string; isAt: boolean }) {
  const { run } = wait;
  return (
    <Link href={to} className={`${styles["row"]} ${isAt ? styles["at"] : ""}`} role="listitem" aria-current={isAt ? "true" : undefined}>
      <b>{nameOf(wait)}</b>
      <Deadline until={wait.until} />
      <span>
        {run.workflow}
        {run.hero && `, ${run.hero.type} ${run.hero.id}`}
      </span>
      <small>{gist(wait.input) || <Asked at={wait.created_at} />}</small>
    </Link>
  );
}

function Asked({ at }: { at: string }) {
  return `asked ${distance(instant(at), useNow())}`;
}

/** How much time is left. */
export function Deadline({ until }: { until: string | null }) {
  const left = instant(until) - useNow();
  if (Number.isNaN(left)) return <em className={styles["calm"]}>no limit</em>;
  if (left <= 0) return <em className={styles["late"]}>times out now</em>;
  return <em className={left < SOON ? styles["late"] : styles["calm"]}>{roughSpan(left)} left</em>;
}
