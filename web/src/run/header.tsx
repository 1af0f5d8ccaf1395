/** The head of a run: where it is, one sentence about it, what can be done, and its facts. */
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { ChevronRight, GitCompare, History } from "lucide-react";
import { Fragment, type ReactNode } from "react";
import { Link } from "wouter";
import { read } from "../api/client";
import type { Page } from "../api/documents";
import { currentQuery, type Outline } from "../api/run";
import { useFeatures } from "../api/session";
import { several } from "../look/numbers";
import { triggerOf } from "../look/status";
import { exact, moment, roughSpan, span } from "../look/time";
import { CopyButton } from "../parts/copy";
import { Status } from "../parts/status";
import { TabLinks } from "../parts/tabs";
import { hasEnded } from "./live";
import { shownName } from "./nodes";
import { type Places, type TabName, urlOf } from "./place";
import { type Part, sentenceOf } from "./sentence";
import { Verbs } from "./verbs/verbs";
import styles from "./header.module.css";

interface Props {
  id: string;
  outline: Outline;
  /** The entry after which the views show the run; null for the newest. */
  seq: number | null;
  onNewest: () => void;
  state: string;
  now: number;
  places: Places;
}

export function Header({ id, outline, seq, onNewest, state, now, places }: Props) {
  const { run } = outline;
  const isRule = useQuery(currentQuery(run.workflow_id)).data?.form === "rule";
  return (
    <header className={styles["header"]}>
      <nav className={styles["crumbs"]} aria-label="Breadcrumb">
        <Link href="/runs">Runs</Link>
        <ChevronRight className="icon small" aria-hidden />
        <Link href={`/${isRule ? "rules" : "workflows"}/${encodeURIComponent(run.workflow)}`}>{run.workflow}</Link>
        <ChevronRight className="icon small" aria-hidden />
        <code>{id}</code>
        <CopyButton text={id} what="the id of the run" />
        {seq !== null && (
          <span className={styles["past"]} role="status">
            <History className="icon small" aria-hidden />
            After entry {seq} of {outline.seq}
            <button type="button" onClick={onNewest}>
              Back to {hasEnded(run.status) ? "its end" : "live"}
            </button>
          </span>
        )}
      </nav>
      <div className={styles["line"]}>
        <Status of={state} pill />
        <h1>
          <Sentence id={id} parts={sentenceOf(outline, now)} places={places} />
        </h1>
        <Verbs id={id} outline={outline} places={places} />
      </div>
      <div className={styles["below"]}>
        <Facts outline={outline} now={now} />
        <Tabs id={id} outline={outline} places={places} hasEvent={isRule} />
      </div>
    </header>
  );
}

function Sentence({ id, parts, places }: { id: string; parts: Part[]; places: Places }) {
  return parts.map((part, i) =>
    typeof part === "string" ? (
      <Fragment key={i}>{part}</Fragment>
    ) : (
      <Link key={i} href={urlOf(id, { ...places.place, step: part.step, part: null })} className={styles["step"] ?? ""}>
        {shownName(part.step)}
      </Link>
    ),
  );
}

function Tabs({ id, outline, places, hasEvent }: { id: string; outline: Outline; places: Places; hasEvent: boolean }) {
  const { at, step } = places.place;
  const keep = { at, step };
  const hasFamily = outline.run.parent || outline.steps.some((one) => one.child_run_id);
  const resources = useLinked(id, outline);
  const tab = (name: TabName, word: string, count?: number) => ({ name, word, to: urlOf(id, { ...keep, tab: name }), ...(count ? { count } : {}) });
  const tabs = [
    tab("graph", "Graph"),
    ...(hasEvent || places.place.tab === "event" ? [tab("event", "Event")] : []),
    tab("steps", "Steps", outline.steps.length),
    tab("data", "Data"),
    tab("journal", "Journal", outline.seq),
    tab("log", "Log"),
    ...(hasFamily || places.place.tab === "family" ? [tab("family", "Family")] : []),
    ...(resources > 0 || places.place.tab === "resources" ? [tab("resources", "Resources", resources)] : []),
  ];
  return <TabLinks tabs={tabs} current={places.place.tab} label="Views of this run" />;
}

/** How many resources the run has linked, as far as the first page of them knows. */
function useLinked(id: string, outline: Outline): number {
  const has = useFeatures();
  // A link is written before its step ends: what has ended says whether to look again.
  const over = outline.steps.filter((one) => one.finished_at !== null).length;
  const { data } = useQuery({
    queryKey: ["resources", "linked", id, over],
    queryFn: async ({ signal }) => (await read<Page<unknown>>("/api/v1/resources", { run: id, limit: 100 }, signal)).data.length,
    enabled: over > 0 && has("resources"),
    placeholderData: keepPreviousData,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 30_000,
  });
  return data ?? 0;
}

function Facts({ outline, now }: { outline: Outline; now: number }) {
  const { run } = outline;
  const begun = Date.parse(outline.begun_at ?? run.started_at ?? run.start_at ?? "");
  const ended = Date.parse(run.finished_at ?? "");
  const trigger = triggerOf(run.trigger);
  const Trigger = trigger.icon;
  const labels = Object.entries(run.labels ?? {});
  const queued = Date.parse(firstStart(outline)) - begun;
  return (
    <dl className={styles["facts"]}>
      {!Number.isNaN(begun) && (
        <Fact word={run.started_at ? "Started" : "Starts"}>
          <time title={`${exact(begun, "local")}\n${exact(begun, "utc")}`}>{moment(begun, "local", Date.now())}</time>
        </Fact>
      )}
      {!Number.isNaN(begun) && run.started_at && (
        <Fact word={Number.isNaN(ended) ? "Runs for" : "Took"}>{Number.isNaN(ended) ? roughSpan(now - begun) : span(ended - begun)}</Fact>
      )}
      {queued >= NOTABLE && <Fact word="Queued">{span(queued)}</Fact>}
      <Version outline={outline} />
      <Fact word="Trigger">
        <Trigger className="icon small" aria-hidden />
        {trigger.word}
      </Fact>
      {run.hero && (
        <Fact word="About">
          <Link href={`/heroes/${encodeURIComponent(run.hero.type)}/${encodeURIComponent(run.hero.id)}`} className={styles["under"] ?? ""}>
            {run.hero.type} {run.hero.id}
          </Link>
        </Fact>
      )}
      {labels.length > 0 && (
        <Fact word="Labels" title={labels.map(([name, value]) => `${name}:${value}`).join("\n")}>
          {labels.slice(0, 2).map(([name, value]) => `${name}:${value}`).join(", ")}
          {labels.length > 2 && ` and ${several(labels.length - 2, "other")}`}
        </Fact>
      )}
      {run.parent && (
        <Fact word="Started by">
          <Link href={urlOf(run.parent.run_id, { step: run.parent.step })} className={styles["under"] ?? ""}>
            {run.parent.step ?? "a run"}
          </Link>
        </Fact>
      )}
      {run.origin && (
        <Fact word={ORIGINS[run.origin.kind] ?? "Made from"}>
          <Link href={urlOf(run.origin.run_id, {})} className={`${styles["under"]} mono`}>
            …{run.origin.run_id.slice(-6)}
          </Link>
        </Fact>
      )}
      {!hasEnded(run.status) && run.expires_at && (
        <Fact word="Expires">
          <time title={exact(Date.parse(run.expires_at), "local")}>{moment(Date.parse(run.expires_at), "local", now)}</time>
        </Fact>
      )}
      {run.principal && (
        <Fact word="For" title={[run.principal.user_id, run.principal.email].filter(Boolean).join("\n")}>
          {run.principal.display_name ?? run.principal.user_id}
        </Fact>
      )}
      {run.via && <Fact word="Asked by">{run.via}</Fact>}
      {run.correlation_id && (
        <Fact word="Correlation" title={run.correlation_id}>
          <span className={styles["cut"]}>{run.correlation_id}</span>
          <CopyButton text={run.correlation_id} what="the correlation id" />
        </Fact>
      )}
      {run.node && <Fact word="Node">{run.node}</Fact>}
    </dl>
  );
}

/** A queue that took less than this is not worth a word, in milliseconds. */
const NOTABLE = 100;

/** When its first step began to work; empty if none did. */
function firstStart({ steps }: Outline): string {
  return steps.reduce((least, { started_at: at }) => (at !== null && (least === "" || at < least) ? at : least), "");
}

const ORIGINS: Readonly<Record<string, string>> = { retry: "Retries", rerun: "Repeats", fork: "Forked from" };

function Version({ outline }: { outline: Outline }) {
  const { run } = outline;
  const { data } = useQuery(currentQuery(run.workflow_id));
  const current = data?.current_version ?? null;
  const base = `/workflows/${encodeURIComponent(run.workflow)}`;
  return (
    <Fact word="Version">
      <Link href={`${base}/versions/${run.version}`}>{run.version}</Link>
      {current !== null && current !== run.version && (
        <Link href={`${base}/versions/${current}?compare=${run.version}`} className={styles["hint"] ?? ""}>
          <GitCompare className="icon small" aria-hidden />
          current is {current}
        </Link>
      )}
    </Fact>
  );
}

function Fact({ word, title, children }: { word: string; title?: string; children: ReactNode }) {
  return (
    <div title={title}>
      <dt>{word}</dt>
      <dd>{children}</dd>
    </div>
  );
}
