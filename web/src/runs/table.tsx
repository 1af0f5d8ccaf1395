/** The list of runs: rows, keys, what is chosen, and how it goes on. */
import { ArrowUp } from "lucide-react";
import { type MouseEvent, useCallback, useEffect, useRef, useState, useSyncExternalStore } from "react";
import { useLocation } from "wouter";
import type { RunSummary } from "../api/documents";
import { now } from "../api/session";
import { several } from "../look/numbers";
import { distance, instant } from "../look/time";
import { Button } from "../parts/button";
import { List, type ListHandle } from "../parts/list/list";
import { useKeys } from "../shell/keys";
import { Row } from "./row";
import styles from "./table.module.css";

const PHONE = matchMedia("(max-width: 760px)");

function useRowHeight(): number {
  const phone = useSyncExternalStore(
    (changed) => {
      PHONE.addEventListener("change", changed);
      return () => PHONE.removeEventListener("change", changed);
    },
    () => PHONE.matches,
  );
  return phone ? 56 : matchMedia("(pointer: coarse)").matches ? 44 : 36;
}

interface Props {
  runs: readonly RunSummary[];
  fresh: ReadonlySet<string>;
  chosen: ReadonlySet<string>;
  onChosen: (chosen: ReadonlySet<string>) => void;
  onFilter: (name: "label" | "hero" | "workflow", value: string) => void;
  onSeen: (ids: readonly string[]) => void;
  onTop: (atTop: boolean) => void;
  /** So many wait above. */
  waiting: number;
  onShowNew: () => void;
  more: boolean;
  isLoading: boolean;
  searchedUntil: string | undefined;
  /** Waits until a person wants more. */
  isPatient: boolean;
  onMore: () => void;
  /** What is shown belongs to the filter before. */
  old: boolean;
}

export function Table(props: Props) {
  const { runs, fresh, chosen, onChosen, onFilter, onTop, waiting, onShowNew, more, isLoading, searchedUntil, isPatient, onMore, old } = props;
  const [, go] = useLocation();
  const row = useRowHeight();
  const list = useRef<ListHandle>(null);
  const [current, setCurrent] = useState<string | undefined>();
  const [anchor, setAnchor] = useState<string | undefined>();
  const order = useRef(runs);
  order.current = runs;
  const selection = useRef(chosen);
  selection.current = chosen;
  const place = (id: string | undefined) => runs.findIndex((one) => one.id === id);

  const choose = useCallback(
    (id: string, range: boolean) => {
      const next = new Set(selection.current);
      const to = order.current.findIndex((one) => one.id === id);
      const from = range ? order.current.findIndex((one) => one.id === anchor) : to;
      const turnOn = !next.has(id);
      const [first, last] = from < 0 ? [to, to] : [Math.min(from, to), Math.max(from, to)];
      for (const one of order.current.slice(first, last + 1)) {
        if (turnOn) next.add(one.id);
        else next.delete(one.id);
      }
      setAnchor(id);
      onChosen(next);
    },
    [anchor, onChosen],
  );
  const open = useCallback(
    (id: string, event: MouseEvent) => {
      if ((event.target as HTMLElement).closest("a, button, input, small") || getSelection()?.toString()) return;
      if (event.ctrlKey || event.metaKey) window.open(new URL(`runs/${id}`, document.baseURI), "_blank", "noopener");
      else go(`/runs/${id}`);
    },
    [go],
  );

  // The keyboard moves the focus itself, so that what is read out is what Enter opens.
  const focusing = useRef(false);
  useEffect(() => {
    if (!focusing.current || !current) return;
    focusing.current = false;
    document.querySelector<HTMLElement>(`#row-${CSS.escape(current)} [data-open]`)?.focus({ preventScroll: true });
  });
  const step = (by: number) => {
    const focused = document.activeElement?.closest("[role=row]")?.id.replace(/^row-/, "");
    const at = place(focused ?? current);
    const next = runs[Math.min(runs.length - 1, Math.max(0, at < 0 ? 0 : at + by))];
    if (!next) return;
    list.current?.reveal(runs.indexOf(next));
    focusing.current = true;
    setCurrent(next.id);
    if (next.id === current) document.querySelector<HTMLElement>(`#row-${CSS.escape(next.id)} [data-open]`)?.focus({ preventScroll: true });
  };
  const showNew = () => {
    list.current?.toTop();
    if (waiting > 0) onShowNew();
  };
  const focusedRun = () => runs.find((one) => document.getElementById(`row-${one.id}`)?.contains(document.activeElement)) ?? runs[place(current)];
  useKeys("List of runs", [
    { key: "j", says: "Next run", run: () => step(1) },
    { key: "k", says: "Previous run", run: () => step(-1) },
    {
      key: "Enter",
      says: "Open it",
      run: () => {
        const run = focusedRun();
        return run ? go(`/runs/${run.id}`) : false;
      },
    },
    {
      key: "x",
      says: "Select it",
      run: () => {
        const run = focusedRun();
        return run ? choose(run.id, false) : false;
      },
    },
    {
      key: "X",
      says: "Select up to here",
      run: () => {
        const run = focusedRun();
        return run ? choose(run.id, true) : false;
      },
    },
    { key: "Escape", says: "Select nothing", run: () => (chosen.size > 0 ? onChosen(new Set()) : false) },
    { key: ".", says: "Show what is new", run: showNew },
  ]);

  const all = runs.length > 0 && runs.every((one) => chosen.has(one.id));
  return (
    <div className={styles["table"]}>
      {waiting > 0 && (
        <Button kind="primary" className={styles["new"] ?? ""} onClick={showNew}>
          <ArrowUp className="icon small" aria-hidden />
          {waiting >= 1000 ? "1,000+ new" : `${waiting} new`}
        </Button>
      )}
      <div className={styles["grid"]} role="grid" aria-label="Runs" aria-rowcount={more ? -1 : runs.length + 1} aria-multiselectable aria-busy={old}>
      <div className={styles["head"]} role="row" aria-rowindex={1}>
        <span role="columnheader" className={styles["tick"]}>
          <input
            type="checkbox"
            aria-label="Select all that are loaded"
            checked={all}
            ref={(element) => {
              if (element) element.indeterminate = chosen.size > 0 && !all;
            }}
            onChange={() => onChosen(all ? new Set() : new Set(runs.map((one) => one.id)))}
          />
        </span>
        <span role="columnheader">Status</span>
        <span role="columnheader">Workflow</span>
        <span role="columnheader">About</span>
        <span role="columnheader">Why</span>
        <span role="columnheader" className={styles["trigger"]}>
          Trigger
        </span>
        <span role="columnheader">Started</span>
        <span role="columnheader" className={styles["right"]}>
          Duration
        </span>
        <span role="columnheader">Run</span>
      </div>
      <List
        handle={list}
        role="rowgroup"
        label="List of runs"
        count={runs.length}
        row={row}
        className={old ? (styles["old"] ?? "") : ""}
        onTop={onTop}
        {...(isPatient ? {} : { onEnd: onMore })}
        onSpan={(first, end) => props.onSeen(runs.slice(first, end).map((one) => one.id))}
        render={(i) => {
          const run = runs[i];
          return (
            run && (
              <Row key={run.id} run={run} index={i} chosen={chosen.has(run.id)} fresh={fresh.has(run.id)} onChoose={choose} onFilter={onFilter} onOpen={open} />
            )
          );
        }}
        after={<Foot runs={runs.length} more={more} isPatient={isPatient} isLoading={isLoading} searchedUntil={searchedUntil} onMore={onMore} />}
      />
      </div>
    </div>
  );
}

function Foot({ runs, more, isPatient, isLoading, searchedUntil, onMore }: { runs: number; more: boolean; isPatient: boolean; isLoading: boolean; searchedUntil: string | undefined; onMore: () => void }) {
  return (
    <div className={styles["foot"]} role="row">
      {searchedUntil && more && isPatient ? (
        <span role="gridcell">
          Searched back to {distance(instant(searchedUntil), now())}.
          <Button onClick={onMore} disabled={isLoading}>
            {isLoading ? "Searching…" : "Search further back"}
          </Button>
        </span>
      ) : (
        <span role="gridcell">{more ? "More is loading…" : `That is all: ${several(runs, "run")}.`}</span>
      )}
    </div>
  );
}
