/** Everything about one order, user, or whatever runs are about: its runs, and what happened in them in the order of time. */
import { useInfiniteQuery } from "@tanstack/react-query";
import type { CSSProperties } from "react";
import { Link } from "wouter";
import { base } from "../api/client";
import { heroTimelineQuery, type TimelineEntry } from "../api/heroes";
import { useRefresh } from "../api/refresh";
import { runsQuery } from "../api/runs";
import { useTitle } from "../api/session";
import { several } from "../look/numbers";
import { lookOf } from "../look/status";
import { exact, moment, span } from "../look/time";
import { Button } from "../parts/button";
import { CopyButton } from "../parts/copy";
import { Crumbs } from "../parts/crumbs";
import { Empty, Failure, isLost, Snippet, Waiting } from "../parts/states";
import { Tick } from "../parts/field";
import { usePlace } from "../shell/place";
import { useClock } from "../shell/preferences";
import { RunRows } from "../workflows/run_rows";
import { happened } from "./happened";
import styles from "./hero.module.css";

export default function Hero({ params }: { params: Record<string, string | undefined> }) {
  const type = params["type"] ?? "";
  const id = params["id"] ?? "";
  const hero = `${type}:${id}`;
  useTitle(`${type} ${id}`);
  useRefresh(`runs:hero=${encodeURIComponent(hero)}`, [
    ["heroes", "timeline", hero],
    ["runs", "list", { hero }],
  ]);
  const runs = useInfiniteQuery(runsQuery({ hero }));
  const { data, error, refetch } = runs;
  if (isLost(error, data)) return <Failure error={error} what={`The runs about ${type} ${id} could not be listed`} onRetry={() => void refetch()} />;
  if (!data) return <Waiting what="The runs are loading" />;
  const rows = data.pages.flatMap((page) => page.data);
  if (rows.length === 0) {
    return (
      <Empty title={`No run is about ${type} ${id}`}>
        <Snippet label="Start one that is">{`curl -X POST '${base}api/v1/workflows/hello/trigger?hero=${type}:${id}' -d '{}'`}</Snippet>
      </Empty>
    );
  }
  return (
    <div className={styles["page"]}>
      <header className={styles["head"]}>
        <Crumbs way={[["About", "/heroes"], [type, `/heroes?type=${encodeURIComponent(type)}`]]}>
          <span>{id}</span>
        </Crumbs>
        <div>
          <h1>
            {type} {id}
          </h1>
          <CopyButton text={hero} what="its name" />
          <p>
            {several(rows.length, "run")}
            {runs.hasNextPage && " and more"}, {several(new Set(rows.map((one) => one.workflow)).size, "workflow")}
          </p>
        </div>
      </header>
      <section className={styles["runs"]} aria-label="Runs" style={{ "--rows": rows.length } as CSSProperties}>
        <RunRows runs={rows} label={`Runs about ${type} ${id}`} about="hero" onEnd={() => runs.hasNextPage && !runs.isFetching && void runs.fetchNextPage()} />
      </section>
      <Timeline hero={hero} />
    </div>
  );
}

/** Entries that tell how it was done and not what. */
const MECHANICS: ReadonlySet<string> = new Set(["started", "adopted", "paged", "opened"]);

function Timeline({ hero }: { hero: string }) {
  const place = usePlace();
  const all = place.get("entries") === "all";
  const timeline = useInfiniteQuery(heroTimelineQuery(hero));
  const { data, error, refetch } = timeline;
  if (isLost(error, data)) return <Failure error={error} what="What happened could not be read" onRetry={() => void refetch()} />;
  if (!data) return <Waiting what="What happened is loading" />;
  const entries = data.pages.flatMap((page) => page.data).filter((one) => all || !MECHANICS.has(one.kind));
  return (
    <section className={styles["timeline"]} aria-label="What happened">
      <header>
        <h2>What happened</h2>
        <Tick label="Every entry" checked={all} onTick={(on) => place.set({ entries: on ? "all" : null }, { replace: true })} />
      </header>
      <ol>
        {entries.map((entry, i) => (
          <Entry key={`${entry.run_id} ${entry.seq}`} entry={entry} before={entries[i - 1]} />
        ))}
      </ol>
      {timeline.hasNextPage && (
        <Button disabled={timeline.isFetching} onClick={() => void timeline.fetchNextPage()}>
          Show what came later
        </Button>
      )}
    </section>
  );
}

/** A gap of this length and more is said. */
const GAP = 60_000;

function Entry({ entry, before }: { entry: TimelineEntry; before: TimelineEntry | undefined }) {
  const [clock] = useClock();
  const { state, text, isLoud } = happened(entry);
  const look = lookOf(state);
  const Icon = look.icon;
  const at = Date.parse(entry.at);
  const gap = before ? at - Date.parse(before.at) : 0;
  const shown = clock === "utc" ? "utc" : "local";
  return (
    <>
      {gap >= GAP && <li className={styles["gap"]}>{span(gap)} later</li>}
      <li className={`${styles["entry"]} t-${look.tone}`}>
        <time dateTime={entry.at} title={exact(at, shown)}>
          {moment(at, shown, Date.now())}
        </time>
        <Icon className="icon" role="img" aria-label={look.word} />
        <span className={isLoud ? styles["loud"] : undefined}>{text}</span>
        <Link href={`/runs/${entry.run_id}${entry.step ? `?step=${encodeURIComponent(entry.step)}` : ""}`}>
          {entry.workflow} <code>…{entry.run_id.slice(-6)}</code>
        </Link>
      </li>
    </>
  );
}
