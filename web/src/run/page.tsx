/** One run: its head, then graph over timeline, or one of its other views; the chosen step beside them. */
import { useQuery } from "@tanstack/react-query";
import { lazy, Suspense, useCallback, useState } from "react";
import { graphQuery, type GraphDocument, type Outline, outlineQuery } from "../api/run";
import { now as serverNow, useNow, useTitle } from "../api/session";
import { isMissing } from "../api/client";
import { lookOf } from "../look/status";
import { Empty, Failure, Waiting } from "../parts/states";
import { useKeys } from "../shell/keys";
import { GraphTab } from "./graph_tab";
import { Header } from "./header";
import { hasEnded, useRunLive } from "./live";
import { useMoment } from "./moment";
import { type Places, usePlace } from "./place";
import { lastFailure, stateOfRun } from "./sentence";
import styles from "./run.module.css";

// What is first seen is loaded at once, the rest when it is wanted.
const DataTab = lazy(() => import("./data_tab").then((all) => ({ default: all.DataTab })));
const EventTab = lazy(() => import("./event_tab").then((all) => ({ default: all.EventTab })));
const FamilyTab = lazy(() => import("./family_tab").then((all) => ({ default: all.FamilyTab })));
const JournalTab = lazy(() => import("./journal_tab").then((all) => ({ default: all.JournalTab })));
const LogTab = lazy(() => import("./log_tab").then((all) => ({ default: all.LogTab })));
const ResourcesTab = lazy(() => import("./resources_tab").then((all) => ({ default: all.ResourcesTab })));
const StepsTab = lazy(() => import("./steps_tab").then((all) => ({ default: all.StepsTab })));
const StepPanel = lazy(() => import("./panel/panel").then((all) => ({ default: all.StepPanel })));
const VerbDialog = lazy(() => import("./verbs/dialogs").then((all) => ({ default: all.VerbDialog })));

export default function RunPage({ params }: { params: Record<string, string | undefined> }) {
  const id = params["run"] ?? "";
  const places = usePlace(id, params["tab"]);
  const outline = useQuery(outlineQuery(id));
  const graph = useQuery(graphQuery(id));
  useRunLive(id, outline.data);
  const error = outline.data ? null : (outline.error ?? (graph.data ? null : graph.error));
  if (error && isMissing(error)) {
    return (
      <Empty title="There is no such run">
        <p>
          No run has the id <code>{id}</code>. It may have been deleted when its time was over.
        </p>
      </Empty>
    );
  }
  if (error) {
    const again = () => {
      void outline.refetch();
      void graph.refetch();
    };
    return <Failure error={error} what={`The run ${id} could not be shown`} onRetry={again} />;
  }
  if (!outline.data || !graph.data) return <Waiting what="The run is loading" />;
  return <Loaded key={id} id={id} outline={outline.data} graph={graph.data} places={places} />;
}

interface LoadedProps {
  id: string;
  outline: Outline;
  graph: GraphDocument;
  places: Places;
}

function Loaded({ id, outline: newest, graph: newestGraph, places }: LoadedProps) {
  const { place, go } = places;
  const look = useMoment(id, newest, newestGraph, places);
  const now = useRunTime(newest);
  // What went wrong is what a failed run is opened for; after that, only a person chooses.
  const [first] = useState(() => (isNarrow() || place.tab !== "graph" ? null : (firstChoice(newest) ?? null)));
  const [closed, setClosed] = useState(false);
  const chosen = place.step ?? (closed ? null : first);
  const step = look.outline.steps.some((one) => one.name === chosen) ? chosen : null;
  const state = stateOfRun(newest);
  useTitle(`${lookOf(state).word} ${newest.run.workflow}`);
  const select = useCallback((name: string | null) => {
    if (name === null) setClosed(true);
    go({ step: name, part: null });
  }, [go]);
  useKeys("Run", [
    { key: "[", says: "Go back by one entry of the journal", run: () => look.step(-1) },
    { key: "]", says: "Go on by one entry", run: () => look.step(1) },
    { key: ".", says: "Back to the newest state", run: () => look.seek(null) },
    { key: "j", says: "Next step", run: () => move(1) },
    { key: "k", says: "Previous step", run: () => move(-1) },
    { key: "Escape", says: "Close the step", run: () => (step === null ? false : select(null)) },
  ]);
  const move = (way: -1 | 1) => {
    const names = look.outline.steps.map((one) => one.name);
    const next = names[step === null ? 0 : names.indexOf(step) + way];
    if (next !== undefined) go({ step: next, part: null }, true);
  };
  const withPanel = step !== null && place.tab !== "journal" && place.tab !== "log" && place.tab !== "family" && place.tab !== "data" && place.tab !== "resources" && place.tab !== "event";
  return (
    <div className={styles["run"]}>
      <Header id={id} outline={newest} seq={look.seq} onNewest={() => look.seek(null)} state={state} now={now} places={places} />
      <div className={styles["content"]} data-panel={withPanel || undefined}>
        <div className={styles["view"]}>
          <Suspense fallback={<Waiting what="The view is loading" />}>
            {place.tab === "graph" && <GraphTab look={look} newest={newest} now={now} selected={step} onSelect={select} places={places} />}
            {place.tab === "steps" && <StepsTab look={look} now={now} selected={step} onSelect={select} places={places} />}
            {place.tab === "data" && <DataTab id={id} look={look} places={places} />}
            {place.tab === "journal" && <JournalTab id={id} outline={newest} places={places} />}
            {place.tab === "log" && <LogTab id={id} outline={newest} places={places} />}
            {place.tab === "family" && <FamilyTab id={id} />}
            {place.tab === "event" && <EventTab id={id} />}
            {place.tab === "resources" && <ResourcesTab id={id} />}
          </Suspense>
        </div>
        {withPanel && (
          <Suspense fallback={<Waiting what="The step is loading" />}>
            <StepPanel key={step} id={id} look={look} newest={newest} graph={newestGraph} step={step} now={now} places={places} onClose={() => select(null)} />
          </Suspense>
        )}
      </div>
      <Suspense>
        {place.verb !== null && <VerbDialog id={id} outline={newest} graph={newestGraph} places={places} />}
      </Suspense>
    </div>
  );
}

/** The time of the server while the run is open; its end after that. */
function useRunTime(outline: Outline): number {
  const now = useNow();
  const ended = Date.parse(outline.run.finished_at ?? "");
  if (hasEnded(outline.run.status) && !Number.isNaN(ended)) return ended;
  // A tick can be much older than what the stream just told, as when the tab was hidden.
  return Math.max(now, serverNow() - 2000);
}

function firstChoice(outline: Outline): string | undefined {
  return outline.run.status === "failed" || outline.run.status === "timeout" ? lastFailure(outline.steps)?.name : undefined;
}

function isNarrow(): boolean {
  return matchMedia("(max-width: 760px)").matches;
}
