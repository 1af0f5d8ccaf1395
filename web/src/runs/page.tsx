/** The list of runs: what is asked for is in the URL, everything else follows from it. */
import { useQuery } from "@tanstack/react-query";
import { Play, Radio } from "lucide-react";
import { lazy, Suspense, useCallback, useMemo, useRef, useState } from "react";
import { useLocation, useSearch } from "wouter";
import { isMissing } from "../api/client";
import { histogramQuery, reachQuery } from "../api/runs";
import { now, useNow, useTitle } from "../api/session";
import { instant, type Clock, moment } from "../look/time";
import { Button } from "../parts/button";
import { Failure, Waiting } from "../parts/states";
import { useKeys } from "../shell/keys";
import { useClock, usePreference } from "../shell/preferences";
import { Histogram } from "./histogram";
import { Legend } from "./legend";
import styles from "./page.module.css";
import { type Chip, fromUrl, toFilter, toUrl, USUAL_WINDOW, usualWindow, valueOf, windowOf, withChip, without, withoutTimes } from "./query";
import { QueryBar } from "./query_bar";
import { Table } from "./table";
import { useRuns } from "./use_runs";
import { Views } from "./views";

// What most visits do not need is loaded when it is.
const BulkBar = lazy(() => import("./bulk").then((all) => ({ default: all.BulkBar })));
const StartDialog = lazy(() => import("../workflows/start").then((all) => ({ default: all.StartDialog })));
const Failing = lazy(() => import("./failing").then((all) => ({ default: all.Failing })));
const NoRuns = lazy(() => import("./nothing").then((all) => ({ default: all.NoRuns })));
const NoMatch = lazy(() => import("./nothing").then((all) => ({ default: all.NoMatch })));

/** A filter that counts from now is asked again so often. */
const DRIFT = 60_000;

export default function RunsPage() {
  const search = useSearch();
  const [where, go] = useLocation();
  const chips = useMemo(() => fromUrl(search), [search]);
  const drift = Math.floor(useNow() / DRIFT);
  const filter = useMemo(() => toFilter(chips, now()), [chips, valueOf(chips, "since") ? drift : 0]);
  const [liveWish, setLiveWish] = usePreference("live", "on");
  const isLive = liveWish === "on";
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const [all, setAll] = useState(false);
  const [isStarting, setStarting] = useState(false);
  const input = useRef<HTMLInputElement>(null);
  const list = useRuns(filter, isLive);
  useTitle("Runs");

  const setChips = useCallback(
    (next: readonly Chip[]) => {
      const query = toUrl(next);
      setAll(false);
      setChosen(new Set());
      go(query ? `${where}?${query}` : where);
    },
    [go, where],
  );
  const onFilter = useCallback((name: "label" | "hero" | "workflow", value: string) => setChips(withChip(chips, { name, value })), [chips, setChips]);
  const onChosen = useCallback((next: ReadonlySet<string>) => {
    setChosen(next);
    setAll(false);
  }, []);
  const clear = () => onChosen(new Set());
  useKeys("Runs", [
    { key: "/", says: "Filter", run: () => input.current?.focus() },
    { key: "n", says: "Start a run", run: () => setStarting(true) },
  ]);

  const { query, runs } = list;
  // It stays what it was while a filter is on.
  const usual = useRef<string | undefined>(undefined);
  const oldest = runs.at(-1);
  const isWhole = chips.length === 0 && !query.hasNextPage;
  const reach = useQuery({ ...reachQuery(now()), enabled: !query.isPending && !isWhole && usual.current === undefined });
  if (!query.isPlaceholderData && (chips.length === 0 || usual.current === undefined)) {
    if (isWhole && oldest) usual.current = usualWindow(instant(oldest.started_at ?? oldest.start_at), now());
    else if (reach.data !== undefined) usual.current = usualWindow(reach.data, now());
  }
  const { hasNextPage, isFetchingNextPage, fetchNextPage } = query;
  const onMore = useCallback(() => {
    if (hasNextPage && !isFetchingNextPage) void fetchNextPage();
  }, [hasNextPage, isFetchingNextPage, fetchNextPage]);
  return (
    <div className={styles["page"]}>
      <div className={styles["head"]}>
        <h1>Runs</h1>
        <Views chips={chips} onChips={setChips} />
        <div className={styles["actions"]}>
          <Button aria-pressed={isLive} onClick={() => setLiveWish(isLive ? "off" : "on")}>
            <Radio className={isLive ? `icon ${styles["live"]}` : "icon"} aria-hidden />
            {isLive ? "Live" : "Not live"}
          </Button>
          <Button kind="primary" needs="trigger_workflow" onClick={() => setStarting(true)}>
            <Play className="icon" aria-hidden />
            Start a run
          </Button>
        </div>
      </div>
      <QueryBar chips={chips} filter={filter} onChips={setChips} input={input} />
      {(runs.length > 0 || (chips.length > 0 && !query.isPending)) && <Chart chips={chips} onChips={setChips} usual={usual.current ?? USUAL_WINDOW} />}
      {isAboutFailures(chips) && (
        <Suspense fallback={null}>
          <Failing />
        </Suspense>
      )}
      {query.isPending && <div className={styles["chart"]} />}
      {query.isError && runs.length === 0 ? (
        <div className={styles["state"]}>
          <Failure error={query.error} what="The runs could not be listed" onRetry={() => void query.refetch()} />
        </div>
      ) : query.isPending ? (
        <Waiting what="The runs are loading" />
      ) : runs.length === 0 ? (
        <div className={styles["state"]}>
          <Suspense fallback={null}>
          {chips.length === 0 ? (
            <NoRuns onStart={() => setStarting(true)} />
          ) : (
            <NoMatch
              onClear={() => setChips([])}
              searched={list.searchedUntil && moment(instant(list.searchedUntil), "local", now())}
              more={hasNextPage}
              isLoading={isFetchingNextPage}
              onMore={onMore}
            />
          )}
          </Suspense>
        </div>
      ) : (
        <Table
          runs={runs}
          fresh={list.fresh}
          chosen={chosen}
          onChosen={onChosen}
          onFilter={onFilter}
          onSeen={list.onSeen}
          onTop={list.onTop}
          waiting={list.waiting}
          onShowNew={list.showNew}
          more={hasNextPage}
          isLoading={isFetchingNextPage}
          searchedUntil={list.searchedUntil}
          isPatient={list.isPatient}
          onMore={onMore}
          old={query.isPlaceholderData}
        />
      )}
      <Suspense fallback={null}>
        {(chosen.size > 0 || all) && <BulkBar chosen={chosen} filter={filter} all={all} onAll={setAll} onClear={clear} />}
        {isStarting && <StartDialog choose workflow={valueOf(chips, "workflow")} onClose={() => setStarting(false)} />}
      </Suspense>
    </div>
  );
}

/** Whether the list shows what went wrong, of all workflows. */
function isAboutFailures(chips: readonly Chip[]): boolean {
  return !valueOf(chips, "workflow") && (valueOf(chips, "view") === "failing" || valueOf(chips, "status") === "failed");
}

/** The histogram with its legend. It is left out where the server has none. */
function Chart({ chips, onChips, usual }: { chips: readonly Chip[]; onChips: (chips: readonly Chip[]) => void; usual: string }) {
  const [clock] = useClock();
  const time = useNow();
  const [hidden, setHidden] = useState<ReadonlySet<string>>(new Set());
  const narrow = matchMedia("(max-width: 760px)").matches;
  const { from, to, buckets } = windowOf(chips, time, narrow ? 64 : 104, usual);
  const filter = useMemo(() => withoutTimes(toFilter(chips, 0)), [chips]);
  const { data, error } = useQuery(histogramQuery(filter, from, to, buckets));
  if (isMissing(error)) return null;
  const begin = instant(valueOf(chips, "from"));
  const end = instant(valueOf(chips, "to"));
  const chosen: [number, number] | undefined =
    Number.isNaN(begin) && Number.isNaN(end) ? undefined : [Number.isNaN(begin) ? from : begin, Number.isNaN(end) ? to : end];
  const shownClock: Clock = clock === "utc" ? "utc" : "local";
  const choose = (stretch: [number, number] | undefined) => {
    const rest = without(chips, "from", "to");
    if (!stretch) return onChips(rest);
    onChips([...rest, { name: "from", value: new Date(stretch[0]).toISOString() }, { name: "to", value: new Date(stretch[1]).toISOString() }]);
  };
  return (
    <section className={styles["chart"]} aria-label="Runs over time">
      {data && (
        <>
          <Legend
            data={data}
            hidden={hidden}
            since={valueOf(chips, "since") ?? usual}
            onHide={setHidden}
            onWindow={(since) => onChips(withChip(without(chips, "from", "to"), { name: "since", value: since }))}
          />
          <Histogram data={data} hidden={hidden} chosen={chosen} now={time} clock={shownClock} narrow={narrow} onChoose={choose} />
        </>
      )}
    </section>
  );
}
