/** Steps x the last 50 runs: how each step ended in each run. One cell is chosen by mouse or arrows, and told below. */
import { useQuery } from "@tanstack/react-query";
import { type KeyboardEvent, memo, useId, useMemo, useRef } from "react";
import { Link, useLocation } from "wouter";
import { base } from "../api/client";
import { now } from "../api/session";
import { type Cell, type Grid, gridQuery } from "../api/workflows";
import { several } from "../look/numbers";
import { lookOf } from "../look/status";
import { instant, minute, span } from "../look/time";
import { List, type ListHandle } from "../parts/list/list";
import { Empty, Failure, isLost, Snippet, Waiting } from "../parts/states";
import { Status } from "../parts/status";
import { Time } from "../parts/time";
import { usePlace } from "../shell/place";
import { figuresOf, oldestFirst, saidCell, stateOfCell, versionStarts } from "./grid";
import type { TabProps } from "./page";
import styles from "./grid_tab.module.css";

const RUNS = 50;
const ROW = 26;
const CELL = 16;

export default function GridTab({ workflow }: TabProps) {
  const { data, error, refetch } = useQuery(gridQuery(workflow.name, RUNS));
  if (isLost(error, data)) return <Failure error={error} what="The grid could not be shown" onRetry={() => void refetch()} />;
  if (!data) return <Waiting what="The grid is loading" />;
  if (data.runs.length === 0) {
    return (
      <Empty title="No run yet">
        <p>The last 50 runs appear here, one column each.</p>
        <Snippet label="Start one">{`curl -X POST ${base}api/v1/workflows/${workflow.name}/trigger -d '{}'`}</Snippet>
      </Empty>
    );
  }
  return <Cells grid={data} />;
}

function Cells({ grid: newestFirst }: { grid: Grid }) {
  const grid = useMemo(() => oldestFirst(newestFirst), [newestFirst]);
  const { runs, steps, cells } = grid;
  const place = usePlace();
  const [, go] = useLocation();
  const list = useRef<ListHandle>(null);
  const id = useId();
  const row = Math.max(0, steps.indexOf(place.get("step")));
  const wanted = runs.findIndex((one) => one.id === place.get("run"));
  const column = wanted < 0 ? runs.length - 1 : wanted;
  const choose = (r: number, c: number) => {
    const step = steps[Math.max(0, Math.min(steps.length - 1, r))];
    const run = runs[Math.max(0, Math.min(runs.length - 1, c))];
    place.set({ step: step ?? null, run: run?.id ?? null }, { replace: true });
    list.current?.reveal(Math.max(0, r));
  };
  const longest = useMemo(() => Math.max(1, ...cells.map((one) => figuresOf(one).typical ?? 0)), [cells]);
  const open = () => go(`/runs/${runs[column]?.id ?? ""}?step=${encodeURIComponent(steps[row] ?? "")}`);
  const onKeyDown = (event: KeyboardEvent) => {
    const move = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1], Home: [0, -RUNS], End: [0, RUNS] }[event.key];
    if (event.key === "Enter") open();
    else if (move) choose(row + (move[0] ?? 0), column + (move[1] ?? 0));
    else return;
    event.preventDefault();
  };
  const chosen = cells[row]?.[column] ?? null;
  const run = runs[column];
  const step = steps[row] ?? "";
  return (
    <div className={styles["tab"]}>
      <div className={styles["scroll"]}>
        <div
          className={styles["grid"]}
          role="grid"
          aria-label={`Steps of the last ${several(runs.length, "run")}`}
          aria-rowcount={steps.length}
          aria-colcount={runs.length}
          aria-activedescendant={`${id}-cell`}
          tabIndex={0}
          onKeyDown={onKeyDown}
        >
          <div className={styles["heads"]} role="presentation">
            <span className={styles["since"]}>
              {runs[0] && (
                <>
                  {several(runs.length, "run")} since <b>{minute(instant(runs[0].accepted_at), "local", now())}</b>
                </>
              )}
            </span>
            <Heads runs={runs} column={column} />
            <span>Failed</span>
            <span>Typical</span>
            <span />
          </div>
          <List
            handle={list}
            role="rowgroup"
            label="Steps"
            className={styles["rows"] ?? ""}
            count={steps.length}
            row={ROW}
            render={(i) => (
              <Row
                key={steps[i]}
                name={steps[i] ?? ""}
                cells={cells[i] ?? []}
                at={i === row ? column : -1}
                longest={longest}
                atId={`${id}-cell`}
                onChoose={(c) => choose(i, c)}
                onOpen={open}
              />
            )}
          />
        </div>
      </div>
      {run && (
        <p className={styles["said"]} aria-live="polite">
          <b>{step}</b> <Status of={chosen ? stateOfCell(chosen) : "pending"} bare /> {saidCell(chosen)} in{" "}
          <Link href={`/runs/${run.id}?step=${encodeURIComponent(step)}`}>
            <code>…{run.id.slice(-6)}</code>
          </Link>
          , version {run.version}, {lookOf(run.status).word.toLowerCase()}, <Time at={run.accepted_at} />
          <span className={styles["legend"]}>
            <kbd>Enter</kbd> opens it
          </span>
        </p>
      )}
    </div>
  );
}

function Heads({ runs, column }: { runs: Grid["runs"]; column: number }) {
  const starts = versionStarts(runs);
  return (
    <svg width={runs.length * CELL} height={30} aria-hidden className={styles["columns"]}>
      {starts.map((start, i) => {
        const room = ((starts[i + 1] ?? runs.length) - start) * CELL;
        return (
          <g key={start}>
            {start > 0 && <line x1={start * CELL} x2={start * CELL} y1={2} y2={30} />}
            {room > 24 && (
              <text x={start * CELL + 3} y={11}>
                v{runs[start]?.version}
              </text>
            )}
          </g>
        );
      })}
      {runs.map((run, i) => (
        <rect
          key={run.id}
          className={`t-${lookOf(run.status).tone} ${i === column ? styles["chosen"] : ""}`}
          x={i * CELL + 3}
          y={18}
          width={CELL - 6}
          height={8}
          rx={2}
        >
          <title>{lookOf(run.status).word}</title>
        </rect>
      ))}
    </svg>
  );
}

interface RowProps {
  name: string;
  cells: readonly (Cell | null)[];
  at: number;
  /** What the slowest step takes. */
  longest: number;
  atId: string;
  onChoose: (column: number) => void;
  onOpen: () => void;
}

const Row = memo(
  function Row({ name, cells, at, longest, atId, onChoose, onOpen }: RowProps) {
    const { failed, ended, typical } = figuresOf(cells);
    const columnAt = (event: React.MouseEvent<SVGElement>) =>
      Math.floor((event.clientX - event.currentTarget.getBoundingClientRect().left) / CELL);
    return (
      <div role="row" className={at >= 0 ? `${styles["row"]} ${styles["chosen"]}` : styles["row"]}>
        <span role="rowheader" title={name} className={ended === 0 ? styles["never"] : undefined}>
          {name}
        </span>
        <span role="gridcell" id={at >= 0 ? atId : undefined} aria-label={at >= 0 ? `${name}: ${saidCell(cells[at] ?? null)}` : name}>
          <svg
            width={cells.length * CELL}
            height={ROW}
            aria-hidden
            onClick={(event) => onChoose(columnAt(event))}
            onDoubleClick={onOpen}
          >
            {cells.map((cell, i) => cell && <Mark key={i} cell={cell} x={i * CELL} />)}
            {at >= 0 && <rect className={styles["cursor"]} x={at * CELL + 1} y={3} width={CELL - 2} height={ROW - 6} rx={4} />}
          </svg>
        </span>
        <span role="gridcell" className={failed ? styles["bad"] : styles["soft"]}>
          {failed ? `${failed} of ${ended}` : ""}
        </span>
        <span role="gridcell" className={styles["soft"]}>
          {typical === null ? "" : span(typical)}
        </span>
        <span role="presentation" className={styles["share"]}>
          {typical !== null && <span style={{ width: `${(100 * typical) / longest}%` }} />}
        </span>
      </div>
    );
  },
  (a, b) => a.name === b.name && a.cells === b.cells && a.at === b.at && a.longest === b.longest && a.atId === b.atId,
);

/** The shape tells the state too: a square, a square with a cross, a dash, a ring. */
function Mark({ cell, x }: { cell: Cell; x: number }) {
  const { tone } = lookOf(stateOfCell(cell));
  const [left, top, size] = [x + 3, 8, CELL - 6];
  const middle = top + size / 2;
  return (
    <g className={`t-${tone}`}>
      <title>{saidCell(cell)}</title>
      {cell.s === "k" ? (
        <rect className={styles["dash"]} x={left + 1} y={middle - 1} width={size - 2} height={2} />
      ) : cell.s === "r" || cell.s === "w" ? (
        <circle className={styles["ring"]} cx={left + size / 2} cy={middle} r={size / 2 - 1} />
      ) : (
        <rect className={tone === "ok" ? styles["good"] : styles["full"]} x={left} y={top} width={size} height={size} rx={2} />
      )}
      {tone === "fail" && <path className={styles["cross"]} d={`M${left + 2.5},${top + 2.5}l5,5m0,-5l-5,5`} />}
      {tone === "ok" && (cell.attempts ?? 1) > 1 && <circle className={styles["again"]} cx={left + size} cy={top} r={2.5} />}
    </g>
  );
}
