/** The steps of a run over time. Rows are labels in the document and bars in one SVG; only what is seen is mounted. */
import { ChevronRight, ChevronsRightLeft, Radio } from "lucide-react";
import {
  type KeyboardEvent, memo, type PointerEvent, useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState,
} from "react";
import { lookOf } from "../look/status";
import { offset, roughSpan, span } from "../look/time";
import { Bar, Ground, ROW } from "./bars";
import { type Axis, evenAxis, foldedAxis, isMostlyIdle, joined, type Span } from "./fold";
import { Strip } from "./overview";
import { elapsed, type Segment, workSpans } from "./segments";
import { axisEnd, moved, ticks, type Window } from "./ticks";
import styles from "./timeline.module.css";

export interface TimelineRow {
  /** Unique; the name of the step, or a path to a step of a child run. */
  key: string;
  name: string;
  depth: number;
  state: string;
  bar: readonly Segment[];
  /** Whether the steps of its child run are shown; null if it has none. */
  open: boolean | null;
}

interface Props {
  rows: readonly TimelineRow[];
  begin: number;
  /** The end of the run, or now. */
  end: number;
  ended: boolean;
  selected: string | null;
  onSelect: (key: string) => void;
  onToggle: (key: string) => void;
  /** The moment that is looked at; null for the newest. */
  at: number | null;
  onAt: (time: number | null) => void;
  onStep: (way: -1 | 1) => void;
  folded: boolean | null;
  onFolded: (folded: boolean) => void;
}

const WHOLE: Window = { a: 0, b: 1 };
/** Pixels before the beginning, and behind now. */
const LEFT = 6;
const AHEAD = 30;

export function Timeline(props: Props) {
  const { rows, begin, end, ended, selected, onSelect, at, onAt, onStep, folded, onFolded } = props;
  const body = useRef<HTMLDivElement>(null);
  const pane = useRef<HTMLDivElement>(null);
  const [size, setSize] = useState({ width: 0, height: 300 });
  const [window, setWindow] = useState<Window>(WHOLE);
  const [top, setTop] = useState(0);
  useLayoutEffect(() => {
    const el = body.current;
    if (!el) return;
    const measure = () => setSize({ width: pane.current?.clientWidth ?? 0, height: el.clientHeight });
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(el);
    return () => observer.disconnect();
  }, []);

  const bars = useMemo(() => rows.map((row) => row.bar), [rows]);
  const until = ended ? Math.max(end, begin + 1) : axisEnd(begin, end);
  const busy = useBusy(bars);
  const isFolded = folded ?? isMostlyIdle(busy, begin, until);
  // Behind the end there is room for the playhead, and for what is planned.
  const room = Math.max(1, size.width - LEFT - (ended ? LEFT : AHEAD));
  const spans = isFolded ? busy : null;
  const axis: Axis = useMemo(
    () => (spans ? foldedAxis(spans, begin, until, Math.min(0.1, 58 / room)) : evenAxis(begin, until)),
    [spans, begin, until, room],
  );
  const x = useCallback(
    (time: number, planned = false) => {
      // What is planned lies behind the axis; what happened since the clock last ticked does not.
      if (planned && time > until) return size.width + AHEAD;
      return LEFT + ((axis.at(Math.min(time, until)) - window.a) / (window.b - window.a)) * room;
    },
    [axis, window, size.width, room, until],
  );
  const timeAt = (place: number) => axis.time(window.a + ((place - LEFT) / room) * (window.b - window.a));
  const seek = (event: PointerEvent) => {
    const time = timeAt(event.clientX - event.currentTarget.getBoundingClientRect().left);
    onAt(time >= end ? null : Math.max(begin, time));
  };
  useWheel(body, pane, room, setWindow);
  useFirstRow(body, rows, size.height);

  const shown = at ?? end;
  const first = Math.max(0, Math.floor(top / ROW) - 2);
  const last = Math.min(rows.length, Math.ceil((top + size.height) / ROW) + 2);
  const inView = rows.slice(first, last);
  const labels = useMemo(() => ticks(axis, window, room, begin), [axis, window, room, begin]);
  const head = x(shown);
  const reveal = (index: number) => {
    const el = body.current;
    if (!el) return;
    if (index * ROW < el.scrollTop) el.scrollTop = index * ROW;
    else if ((index + 1) * ROW > el.scrollTop + el.clientHeight) el.scrollTop = (index + 1) * ROW - el.clientHeight;
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const way = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (!way) return;
    const next = rows.findIndex((row) => row.key === selected) + way;
    const row = rows[Math.max(0, next)];
    if (!row) return;
    event.preventDefault();
    onSelect(row.key);
    reveal(Math.max(0, next));
    requestAnimationFrame(() => body.current?.querySelector<HTMLElement>("[aria-pressed=true]")?.focus({ preventScroll: true }));
  };

  return (
    <section className={styles["timeline"]} aria-label="Timeline">
      <div className={styles["head"]}>
        <div className={styles["title"]}>
          <b>Timeline</b>
          <button
            type="button"
            className={styles["small"]}
            aria-pressed={isFolded}
            onClick={() => onFolded(!isFolded)}
            title="Fold the time in which no step works"
          >
            <ChevronsRightLeft className="icon small" aria-hidden />
            <span>Fold idle time</span>
          </button>
        </div>
        <Strip bars={bars} axis={axis} width={size.width} window={window} onWindow={setWindow} />
      </div>
      <div className={styles["axis"]}>
        <div className={styles["clock"]}>
          <LiveButton at={at} ended={ended} onLive={() => onAt(null)} />
          <span>{at === null && !ended ? roughSpan(shown - begin) : span(shown - begin)}</span>
        </div>
        <div
          className={styles["ticks"]}
          onPointerDown={(event) => {
            event.currentTarget.setPointerCapture(event.pointerId);
            seek(event);
          }}
          onPointerMove={(event) => event.buttons > 0 && seek(event)}
        >
          {axis.pieces
            .filter((piece) => piece.folded)
            .map((piece) => (
              <em key={piece.from} style={{ left: x(piece.from), width: Math.max(0, x(piece.to) - x(piece.from)) }}>
                {foldWord(Math.min(piece.to, end) - piece.from, x(piece.to) - x(piece.from))}
              </em>
            ))}
          {labels
            .filter((tick) => Math.abs(tick.x + LEFT - head) > 40)
            .map((tick) => (
              <span key={tick.after} style={{ left: tick.x + LEFT }}>
                {offset(tick.after)}
              </span>
            ))}
          <i
            className={styles["playhead"]}
            role="slider"
            tabIndex={0}
            aria-label="Time travel"
            aria-valuemin={0}
            aria-valuemax={Math.round(end - begin)}
            aria-valuenow={Math.round(shown - begin)}
            aria-valuetext={at === null ? "the newest state" : `${span(shown - begin)} after the start`}
            style={{ left: head }}
            onKeyDown={(event) => {
              const way = event.key === "ArrowLeft" ? -1 : event.key === "ArrowRight" ? 1 : 0;
              if (way) onStep(way);
              else if (event.key === "Home") onAt(begin);
              else if (event.key === "End") onAt(null);
              else return;
              event.preventDefault();
            }}
          />
        </div>
      </div>
      <div
        className={styles["body"]}
        ref={body}
        role="group"
        aria-label="Steps over time"
        onScroll={(event) => setTop(event.currentTarget.scrollTop)}
        onKeyDown={onKeyDown}
      >
        <div className={styles["labels"]} style={{ height: rows.length * ROW }}>
          {inView.map((row, i) => (
            <Label
              key={row.key}
              row={row}
              top={(first + i) * ROW}
              took={tookOf(row, at ?? end, at !== null)}
              selected={row.key === selected}
              tabbable={row.key === selected || (first + i === first && !inView.some((one) => one.key === selected))}
              onSelect={onSelect}
              onToggle={props.onToggle}
            />
          ))}
        </div>
        <div className={styles["pane"]} ref={pane} style={{ height: size.height }}>
          <svg
            width={size.width}
            height={size.height}
            aria-hidden
            onClick={(event) => {
              const y = event.clientY - event.currentTarget.getBoundingClientRect().top + top;
              const row = rows[Math.floor(y / ROW)];
              if (row) onSelect(row.key);
            }}
          >
            <Ground axis={axis} x={x} height={size.height} />
            <g transform={`translate(0,${-top})`}>
              {inView.map((row, i) => (
                <Bar
                  key={row.key}
                  name={row.key}
                  bar={row.bar}
                  y={(first + i) * ROW}
                  x={x}
                  width={size.width}
                  at={at ?? Infinity}
                  selected={row.key === selected}
                />
              ))}
            </g>
          </svg>
          <i className={styles["line"]} style={{ left: head }} />
        </div>
      </div>
    </section>
  );
}

function LiveButton({ at, ended, onLive }: { at: number | null; ended: boolean; onLive: () => void }) {
  if (ended && at === null) return <span className={styles["endedWord"]}>Took</span>;
  const word = ended ? "To its end" : at === null ? "Live" : "Back to live";
  return (
    <button type="button" className={styles["small"]} onClick={onLive} aria-pressed={at === null} title="The newest state (.)">
      <Radio className={`icon small ${at === null ? styles["isLive"] : ""}`} aria-hidden />
      <span>{word}</span>
    </button>
  );
}

interface LabelProps {
  row: TimelineRow;
  top: number;
  took: string;
  selected: boolean;
  tabbable: boolean;
  onSelect: (key: string) => void;
  onToggle: (key: string) => void;
}

const Label = memo(function Label({ row, top, took, selected, tabbable, onSelect, onToggle }: LabelProps) {
  const look = lookOf(row.state);
  const Icon = look.icon;
  const quiet = row.state === "skipped" || row.state === "pending" ? styles["quiet"] : "";
  return (
    <div className={`${styles["row"]} t-${look.tone} ${quiet}`} style={{ top }} data-selected={selected || undefined}>
      <button
        type="button"
        className={styles["label"]}
        aria-pressed={selected}
        tabIndex={tabbable ? 0 : -1}
        style={{ paddingLeft: 16 + row.depth * 16 }}
        onClick={() => onSelect(row.key)}
        title={row.name}
      >
        <Icon className={`icon small ${row.state === "running" ? "turning" : ""}`} role="img" aria-label={look.word} />
        <span>{row.name}</span>
        <em>{took}</em>
      </button>
      {row.open !== null && (
        <button
          type="button"
          className={styles["child"]}
          aria-expanded={row.open}
          aria-label={`Steps of the run that ${row.name} started`}
          onClick={() => onToggle(row.key)}
        >
          <ChevronRight className={`icon small ${row.open ? styles["opened"] : ""}`} aria-hidden />
        </button>
      )}
    </div>
  );
});

/** How long a step took; while the past is shown, how long it had taken then. */
function tookOf(row: TimelineRow, end: number, isPast: boolean): string {
  const first = row.bar[0];
  if (isPast && first && first.from >= end) return "";
  const long = elapsed(isPast ? row.bar.filter((one) => one.from < end).map((one) => (one.to > end ? { ...one, to: end } : one)) : row.bar, end);
  return long === null ? "" : long < 0.5 ? "<1 ms" : span(long);
}

/** When steps worked. It is the same list as before while it says the same: what goes on has no end yet. */
function useBusy(bars: readonly (readonly Segment[])[]): readonly Span[] {
  const known = useRef<readonly Span[]>([]);
  return useMemo(() => {
    const found = joined(workSpans(bars), -Infinity, Infinity);
    const before = known.current;
    const isSame = found.length === before.length && found.every((one, i) => one[0] === before[i]?.[0] && one[1] === before[i]?.[1]);
    if (!isSame) known.current = found;
    return known.current;
  }, [bars]);
}

/** A letter of an axis label is so wide, about. */
const LETTER = 6.5;

/** How long a fold is: two units if its band has room for them, else the first, else nothing: `+7 m` for 7 ms lies. */
function foldWord(ms: number, room: number): string {
  const words = ms < 10_000 ? span(ms) : roughSpan(ms);
  const fits = (text: string) => text.length * LETTER <= room;
  return [`+${words}`, `+${words.split(" ").slice(0, 2).join(" ")}`].find(fits) ?? "";
}

/** States that a long list begins at. */
const URGENT: ReadonlySet<string> = new Set(["failed", "timeout", "template_error", "uncertain", "waiting", "scheduled", "running"]);

/** A long run is first shown where something goes on. After that only a person scrolls. */
function useFirstRow(body: React.RefObject<HTMLDivElement | null>, rows: readonly TimelineRow[], height: number): void {
  const done = useRef(false);
  useLayoutEffect(() => {
    const el = body.current;
    if (done.current || !el || !rows.length || !height) return;
    done.current = true;
    const first = rows.findIndex((row) => URGENT.has(row.state));
    if ((first + 1) * ROW > el.clientHeight) el.scrollTop = (first + 1) * ROW - el.clientHeight / 2;
  }, [body, rows, height]);
}

/** Ctrl and wheel looks closer, a sideways wheel moves. It must be able to stop the page from zooming. */
function useWheel(
  body: React.RefObject<HTMLDivElement | null>,
  pane: React.RefObject<HTMLDivElement | null>,
  width: number,
  setWindow: (change: (window: Window) => Window) => void,
): void {
  useEffect(() => {
    const el = body.current;
    if (!el || !width) return;
    const onWheel = (event: WheelEvent) => {
      if (!event.ctrlKey && Math.abs(event.deltaY) >= Math.abs(event.deltaX)) return;
      event.preventDefault();
      const left = pane.current?.getBoundingClientRect().left ?? 0;
      setWindow((now) => {
        const size = now.b - now.a;
        if (!event.ctrlKey) return moved(now, { shift: (event.deltaX / width) * size });
        return moved(now, { zoom: Math.exp(event.deltaY * 0.004), around: now.a + ((event.clientX - left) / width) * size });
      });
    };
    el.addEventListener("wheel", onWheel, { passive: false });
    return () => el.removeEventListener("wheel", onWheel);
  }, [body, pane, width, setWindow]);
}
