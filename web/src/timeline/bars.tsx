/** The bars of the rows that are seen, in one SVG. */
import { memo } from "react";
import { span } from "../look/time";
import type { Axis } from "./fold";
import { type Piece, pieces } from "./pieces";
import type { Segment } from "./segments";
import styles from "./timeline.module.css";

export const ROW = 27;
const MIDDLE = ROW / 2 - 0.5;
const WORDS: Readonly<Record<Segment["kind"], string>> = {
  queued: "in the queue",
  work: "worked",
  try: "failed and was tried again",
  backoff: "pause before the next try",
  sleep: "asleep",
  wait: "waited",
  child: "its run went on",
  skipped: "skipped",
};

/** The pixel of an instant. What is planned may lie behind now. */
type Place = (time: number, planned?: boolean) => number;

interface BarProps {
  name: string;
  bar: readonly Segment[];
  y: number;
  x: Place;
  width: number;
  /** What begins after this is faint. */
  at: number;
  selected: boolean;
}

export const Bar = memo(function Bar({ name, bar, y, x, width, at, selected }: BarProps) {
  return (
    <g transform={`translate(0,${y})`} data-bar={name}>
      {selected && <rect className={styles["chosen"]} width={width} height={ROW} />}
      <line className={styles["rule"]} x2={width} y1={ROW - 0.5} y2={ROW - 0.5} />
      {pieces(bar, x, at).map((piece) => (
        <Drawn key={piece.key} piece={piece} x={x} width={width} later={piece.one.from > at} />
      ))}
    </g>
  );
});

function Drawn({ piece, x, width, later }: { piece: Piece; x: Place; width: number; later: boolean }) {
  const { one, last } = piece;
  const left = Math.max(-6, x(one.from));
  const right = Math.min(width + 6, x(one.to, one.open));
  if (right < -4 || left > width + 4) return null;
  const names = (name: string | undefined) => `${name} ${later ? styles["later"] : ""}`;
  const tip = <title>{tipOf(piece)}</title>;
  const room = Math.max(2.5, right - left);
  if (one.kind === "skipped") {
    const d = `M${left - 2.4},${MIDDLE + 2.4}l4.8,-4.8m1,2.4a3.4,3.4 0 1 0 -6.8,0a3.4,3.4 0 1 0 6.8,0`;
    return (
      <path className={names(styles["skip"])} d={d}>
        {tip}
      </path>
    );
  }
  if (one.kind === "backoff" || one.kind === "sleep") {
    return (
      <line className={names(styles[one.kind])} x1={left} x2={Math.max(right, left + 2)} y1={MIDDLE} y2={MIDDLE}>
        {tip}
      </line>
    );
  }
  if (one.kind === "queued") {
    return (
      <rect className={names(styles["queued"])} x={left} width={room} y={MIDDLE - 3} height="6" rx="2">
        {tip}
      </rect>
    );
  }
  const isSoft = one.kind === "try" || one.kind === "child";
  const number = last === null ? one.attempt : `${one.attempt}–${last}`;
  return (
    <>
      <rect
        className={names(`${one.kind === "child" ? styles["inner"] : styles[one.kind]} t-${one.tone}`)}
        x={left + 0.5}
        width={Math.max(2, room - 1)}
        y={MIDDLE - 7}
        height="14"
        rx={Math.min(3, room / 2)}
      >
        {tip}
      </rect>
      {number !== null && room > (last === null ? 14 : 44) && (
        <text x={left + room / 2} y={MIDDLE + 3.6} className={names(isSoft ? `${styles["number"]} t-${one.tone}` : styles["onWork"])}>
          {number}
        </text>
      )}
    </>
  );
}

function tipOf({ one, last }: Piece): string {
  const took = one.kind === "skipped" ? "" : ` ${span(one.to - one.from)}`;
  if (last !== null) return `Tries ${one.attempt} to ${last}: each failed and was tried again,${took}`;
  return `${one.attempt === null ? "" : `Try ${one.attempt}: `}${WORDS[one.kind]}${took}`;
}

/** Stripes for waits, and the folds behind everything. */
export function Ground({ axis, x, height }: { axis: Axis; x: Place; height: number }) {
  return (
    <>
      <defs>
        <pattern id="waits" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
          <rect width="6" height="6" className={styles["stripeGround"]} />
          <rect width="1.6" height="6" className={styles["stripe"]} />
        </pattern>
      </defs>
      {axis.pieces
        .filter((piece) => piece.folded)
        .map((piece) => (
          <rect
            key={piece.from}
            className={styles["fold"]}
            x={x(piece.from)}
            width={Math.max(0, x(piece.to) - x(piece.from))}
            height={height}
          />
        ))}
    </>
  );
}
