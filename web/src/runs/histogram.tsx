/** Runs by time and state. Trouble is nearest to the axis; what is planned is outlined, right of now. Drag to choose a
 * stretch; the list then shows only that. */
import { type CSSProperties, memo, useRef, useState } from "react";
import { BANDS, type Histogram as Document } from "../api/documents";
import { count } from "../look/numbers";
import type { Clock } from "../look/time";
import { exact, minute, moment } from "../look/time";
import { type Bar, bars, snapped, ticks } from "./bars";
import styles from "./histogram.module.css";

const W = 1000;
const H = 92;
/** Free room above the highest bar. */
const TOP = 6;

export const BAND_LOOKS: Record<string, { word: string; tone: string }> = {
  completed: { word: "Completed", tone: "ok" },
  running: { word: "Running", tone: "run" },
  waiting: { word: "Waiting", tone: "wait" },
  attention: { word: "Retrying or paused", tone: "hold" },
  failed: { word: "Failed", tone: "fail" },
  cancelled: { word: "Cancelled", tone: "idle" },
  scheduled: { word: "Scheduled", tone: "planned" },
};

interface Props {
  data: Document;
  hidden: ReadonlySet<string>;
  chosen: [number, number] | undefined;
  now: number;
  clock: Clock;
  /** On a phone: fewer words on the axis. */
  narrow: boolean;
  onChoose: (stretch: [number, number] | undefined) => void;
}

export function Histogram({ data, hidden, chosen, now, clock, narrow, onChoose }: Props) {
  const svg = useRef<SVGSVGElement>(null);
  const [drag, setDrag] = useState<[number, number] | undefined>();
  const [hover, setHover] = useState<number | undefined>();
  const from = Date.parse(data.from);
  const to = Date.parse(data.to);
  const { peak, bars: found } = bars(data, hidden);
  const x = (at: number) => ((at - from) / (to - from)) * W;
  const percent = (at: number) => `${(x(at) / W) * 100}%`;
  const at = (clientX: number) => {
    const box = svg.current?.getBoundingClientRect();
    return box ? from + ((clientX - box.left) / box.width) * (to - from) : from;
  };
  const shown = drag ? snapped(drag[0], drag[1], from, data.bucket_ms, found.length) : chosen;
  const hovered = hover === undefined || drag ? undefined : found[hover];
  const isNowSeen = now > from && now < to;
  return (
    <div className={styles["histogram"]}>
      <svg
        ref={svg}
        viewBox={`0 0 ${W} ${H}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={summary(data, clock, now)}
        onPointerDown={(event) => {
          if (event.button !== 0) return;
          event.currentTarget.setPointerCapture(event.pointerId);
          setDrag([at(event.clientX), at(event.clientX)]);
        }}
        onPointerMove={(event) => {
          const place = at(event.clientX);
          if (drag) setDrag([drag[0], place]);
          setHover(Math.min(found.length - 1, Math.max(0, Math.floor((place - from) / data.bucket_ms))));
        }}
        onPointerLeave={() => setHover(undefined)}
        onPointerCancel={() => setDrag(undefined)}
        onPointerUp={() => {
          if (drag) {
            // A click inside what is chosen frees it; a click elsewhere chooses one bar.
            const isClick = Math.abs(x(drag[0]) - x(drag[1])) < 3;
            const isInside = chosen && drag[0] >= chosen[0] && drag[0] < chosen[1];
            onChoose(isClick && isInside ? undefined : snapped(drag[0], drag[1], from, data.bucket_ms, found.length));
          }
          setDrag(undefined);
        }}
      >
        {[0.5, 1].map((part) => (
          <line key={part} className={styles["grid"]} x1="0" x2={W} y1={H - part * (H - TOP)} y2={H - part * (H - TOP)} />
        ))}
        <Bars bars={found} from={from} bucket={data.bucket_ms} width={W / found.length} chosen={shown} />
        {isNowSeen && <line className={styles["now"]} x1={x(now)} x2={x(now)} y1="0" y2={H} />}
        {shown && (
          <g className={styles["brush"]}>
            <rect x={x(shown[0])} width={Math.max(0, x(shown[1]) - x(shown[0]))} y="0" height={H} />
            <line x1={x(shown[0])} x2={x(shown[0])} y1="0" y2={H} />
            <line x1={x(shown[1])} x2={x(shown[1])} y1="0" y2={H} />
          </g>
        )}
      </svg>
      <div className={styles["axis"]} aria-hidden>
        {ticks(from, to, narrow ? 5 : 9, clock)
          .filter((one) => !isNowSeen || Math.abs(x(one.at) - x(now)) > (narrow ? 95 : 36))
          .filter((one) => x(one.at) > (narrow ? 45 : 16) && x(one.at) < W - (narrow ? 45 : 16))
          .map((one) => (
            <span key={one.at} style={{ left: percent(one.at) }}>
              {one.text}
            </span>
          ))}
        {isNowSeen && (
          <span className={styles["nowWord"]} style={{ left: percent(now) }}>
            now
          </span>
        )}
      </div>
      {peak > 0 && <span className={styles["peak"]}>{count(peak)}</span>}
      {hovered && (hovered.total > 0 || hovered.pieces.length > 0) && (
        <Hint bar={hovered} data={data} clock={clock} now={now} style={{ left: percent(hovered.at + data.bucket_ms / 2) }} />
      )}
    </div>
  );
}

interface BarsProps {
  bars: Bar[];
  from: number;
  bucket: number;
  width: number;
  chosen: [number, number] | undefined;
}

const Bars = memo(function Bars({ bars: list, from, bucket, width, chosen }: BarsProps) {
  return list.map((bar) => {
    if (bar.pieces.length === 0) return null;
    const left = ((bar.at - from) / bucket) * width;
    const dim = chosen && (bar.at + bucket <= chosen[0] + 1 || bar.at >= chosen[1] - 1);
    return (
      <g key={bar.at} className={dim ? styles["dim"] : undefined}>
        {bar.pieces.map((piece) => {
          const top = H - piece.to * (H - TOP);
          const height = (piece.to - piece.from) * (H - TOP);
          return (
            <rect
              key={piece.band}
              className={styles[piece.band]}
              x={left + width * 0.1}
              width={width * 0.8}
              y={top}
              height={Math.max(0.5, height - 0.8)}
            />
          );
        })}
      </g>
    );
  });
});

function Hint({ bar, data, clock, now, style }: { bar: Bar; data: Document; clock: Clock; now: number; style: CSSProperties }) {
  const bucket = data.buckets.find((one) => Date.parse(one.at) === bar.at);
  if (!bucket) return null;
  const names = [...BANDS].reverse();
  return (
    <div className={styles["hint"]} style={style} aria-hidden>
      <b>
        {minute(bar.at, clock, now)} to {minute(bar.at + data.bucket_ms, clock, now)}
      </b>
      {[...names, "scheduled" as const]
        .filter((name) => bucket[name] > 0)
        .map((name) => (
          <span key={name}>
            <i className={styles[name]} />
            {BAND_LOOKS[name]?.word}
            <em>{count(bucket[name])}</em>
          </span>
        ))}
    </div>
  );
}

/** The histogram in words, for who cannot see it. */
function summary(data: Document, clock: Clock, now: number): string {
  const parts = BANDS.filter((band) => data.totals[band] > 0).map((band) => `${count(data.totals[band])} ${BAND_LOOKS[band]?.word.toLowerCase()}`);
  const stretch = `from ${moment(Date.parse(data.from), clock, now)} to ${exact(Date.parse(data.to), clock).slice(0, 16)}`;
  return `Runs ${stretch}: ${parts.join(", ") || "none"}`;
}
