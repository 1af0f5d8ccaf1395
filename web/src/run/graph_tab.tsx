/** Graph over timeline, on one screen: the playhead of one recolours the other. */
import { QueryObserver, useQueryClient } from "@tanstack/react-query";
import { useCallback, useEffect, useRef, useState } from "react";
import { useLocation } from "wouter";
import { type Outline, outlineQuery, type RunStep } from "../api/run";
import { Graph } from "../graph/view";
import { Split } from "../parts/split/split";
import { type Segment, segments } from "../timeline/segments";
import { Timeline, type TimelineRow } from "../timeline/timeline";
import { hasEnded } from "./live";
import type { Look } from "./moment";
import { Edges, Nodes, shownName, stateOfStep } from "./nodes";
import { type Places, urlOf } from "./place";
import { isOver } from "./travel";
import styles from "./run.module.css";

interface Props {
  look: Look;
  newest: Outline;
  now: number;
  selected: string | null;
  onSelect: (name: string) => void;
  places: Places;
}

export function GraphTab({ look, newest, now, selected, onSelect, places }: Props) {
  const ended = hasEnded(newest.run.status);
  const [made] = useState(() => ({ nodes: new Nodes(), edges: new Edges() }));
  const nodes = made.nodes.of(look.graph, look.outline.steps, look.time ?? now);
  const edges = made.edges.of(look.graph, look.outline.steps);
  const [opened, setOpened] = useState<ReadonlySet<string>>(new Set());
  const [, navigate] = useLocation();
  const rows = useRows(newest.steps, now, opened, look);
  const begin = beginOf(newest);
  const choose = useCallback(
    (key: string) => {
      const [run, step] = key.split("\n");
      if (step === undefined) onSelect(key);
      else navigate(urlOf(run ?? "", { step }));
    },
    [onSelect, navigate],
  );
  const toggle = useCallback((key: string) => {
    setOpened((before) => {
      const next = new Set(before);
      if (!next.delete(key)) next.add(key);
      return next;
    });
  }, []);
  return (
    <div className={styles["both"]} onPointerEnter={look.prepare}>
      <Split
        name="run"
        direction="rows"
        label="Height of the graph"
        initial={50}
        first={
          <section className={styles["canvas"]} aria-label="Graph">
            <Graph steps={nodes} edges={edges} selected={selected} onSelect={onSelect} />
          </section>
        }
        second={
          <Timeline
            rows={rows}
            begin={begin}
            end={Math.max(now, begin)}
            ended={ended}
            selected={selected}
            onSelect={choose}
            onToggle={toggle}
            at={look.time}
            onAt={look.seek}
            onStep={look.step}
            folded={places.place.folded}
            onFolded={(folded) => places.go({ folded }, true)}
          />
        }
      />
    </div>
  );
}

function beginOf(outline: Outline): number {
  const begun = Date.parse(outline.begun_at ?? outline.run.started_at ?? "");
  const first = outline.steps.reduce((least, one) => Math.min(least, Date.parse(one.ready_at ?? "") || least), Infinity);
  const found = Math.min(Number.isNaN(begun) ? Infinity : begun, first);
  return Number.isFinite(found) ? found : Date.parse(outline.now);
}

/** The outlines of several runs, as far as they are known. (`useQueries` does more, and is loaded by every run.) */
function useOutlines(runs: readonly string[]): ReadonlyMap<string, Outline> {
  const queries = useQueryClient();
  const [known, setKnown] = useState<ReadonlyMap<string, Outline>>(new Map());
  const names = runs.join(" ");
  useEffect(() => {
    const stops = names.split(" ").filter(Boolean).map((run) => {
      const observer = new QueryObserver(queries, outlineQuery(run));
      const show = ({ data }: { data: Outline | undefined }) => data && setKnown((before) => new Map(before).set(run, data));
      show(observer.getCurrentResult());
      return observer.subscribe(show);
    });
    return () => stops.forEach((stop) => stop());
  }, [queries, names]);
  return known;
}

/** The rows of the timeline, with those of child runs that are unfolded. Bars of steps that did not change are kept. */
function useRows(steps: readonly RunStep[], now: number, opened: ReadonlySet<string>, look: Look): TimelineRow[] {
  const kept = useRef(new WeakMap<RunStep, { bar: Segment[]; now: number }>());
  const before = useRef(new Map<string, TimelineRow>());
  const children = steps.flatMap((one) => (one.child_run_id && opened.has(one.name) ? [one.child_run_id] : []));
  const inner = useOutlines(children);
  const state = new Map(look.outline.steps.map((one) => [one.name, one]));
  const barOf = (step: RunStep): Segment[] => {
    const known = kept.current.get(step);
    if (known && (known.now === now || isOver(step.status) || step.status === "pending")) return known.bar;
    const bar = segments(step, now);
    kept.current.set(step, { bar, now });
    return bar;
  };
  const rows: TimelineRow[] = [];
  const add = (row: TimelineRow) => {
    const old = before.current.get(row.key);
    const same = old && old.bar === row.bar && old.state === row.state && old.open === row.open && old.depth === row.depth;
    rows.push(same ? old : row);
  };
  for (const step of steps) {
    const open = step.child_run_id ? opened.has(step.name) : null;
    add({ key: step.name, name: shownName(step.name), depth: 0, state: stateOfStep(state.get(step.name) ?? step), bar: barOf(step), open });
    const child = open && step.child_run_id ? inner.get(step.child_run_id) : undefined;
    for (const one of child?.steps ?? []) {
      const key = `${child?.run.id ?? ""}\n${one.name}`;
      add({ key, name: shownName(one.name), depth: 1, state: stateOfStep(one), bar: barOf(one), open: null });
    }
  }
  const known = [...before.current.values()];
  const changed = rows.length !== known.length || rows.some((row, i) => row !== known[i]);
  const last = useRef(rows);
  if (changed) {
    before.current = new Map(rows.map((row) => [row.key, row]));
    last.current = rows;
  }
  return last.current;
}
