/** The whole run in a strip; the frame in it is what the timeline shows. Drag its ends, move it, or draw another. */
import { type PointerEvent, useEffect, useLayoutEffect, useReducer, useRef } from "react";
import { usePalette } from "../look/palette";
import type { Axis } from "./fold";
import type { Segment } from "./segments";
import { LEAST, type Window } from "./ticks";
import styles from "./timeline.module.css";

const HEIGHT = 22;
const SOON = 1000;
const WHOLE: Window = { a: 0, b: 1 };
type Grip = { share: number; window: Window; how: "begin" | "end" | "move" | "draw" };

interface Props {
  bars: readonly (readonly Segment[])[];
  axis: Axis;
  width: number;
  window: Window;
  onWindow: (window: Window) => void;
}

export function Strip({ bars, axis, width, window, onWindow }: Props) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const grip = useRef<Grip | null>(null);
  const colour = usePalette();
  const latest = useRef(bars);
  latest.current = bars;
  const later = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const [drawn, draw] = useReducer((n: number) => n + 1, 0);
  // A bar or two that changed within a second are not worth a drawing of all of them.
  useEffect(() => {
    later.current ??= setTimeout(() => {
      later.current = undefined;
      draw();
    }, SOON);
  }, [bars]);
  useEffect(() => () => clearTimeout(later.current), []);
  const { length } = bars;
  useLayoutEffect(() => {
    clearTimeout(later.current);
    later.current = undefined;
    const el = canvas.current;
    const c = el?.getContext("2d");
    if (!el || !c || !width) return;
    const d = devicePixelRatio;
    const [w, h] = [Math.round(width * d), Math.round(HEIGHT * d)];
    if (el.width !== w) el.width = w;
    if (el.height !== h) el.height = h;
    c.setTransform(d, 0, 0, d, 0, 0);
    c.clearRect(0, 0, width, HEIGHT);
    c.fillStyle = colour("well");
    for (const piece of axis.pieces) {
      if (piece.folded) c.fillRect(piece.a * width, 0, (piece.b - piece.a) * width, HEIGHT);
    }
    const row = 18 / Math.max(length, 1);
    latest.current.forEach((bar, i) => {
      for (const one of bar) {
        const isWork = one.kind === "work" || one.kind === "try" || one.kind === "child";
        c.fillStyle = colour(isWork ? one.tone : one.kind === "wait" ? "wait" : "idle");
        c.globalAlpha = isWork ? 1 : 0.55;
        const from = axis.at(one.from) * width;
        const to = Math.min(1, axis.at(one.to)) * width;
        c.fillRect(from, 2 + i * row, Math.max(1.5, to - from), Math.max(1, row - 0.4));
      }
    });
    c.globalAlpha = 1;
  }, [length, axis, width, colour, drawn]);
  const shareOf = (event: PointerEvent) => {
    const box = event.currentTarget.getBoundingClientRect();
    return Math.min(1, Math.max(0, (event.clientX - box.left) / Math.max(1, width)));
  };
  const onDown = (event: PointerEvent) => {
    event.currentTarget.setPointerCapture(event.pointerId);
    const share = shareOf(event);
    const near = 8 / Math.max(1, width);
    const isPart = window.b - window.a < 0.99;
    const how =
      Math.abs(share - window.a) < near
        ? "begin"
        : Math.abs(share - window.b) < near
          ? "end"
          : isPart && share > window.a && share < window.b
            ? "move"
            : "draw";
    grip.current = { share, window, how };
  };
  const onMove = (event: PointerEvent) => {
    if (!grip.current) return;
    const { share: from, window: was, how } = grip.current;
    const share = shareOf(event);
    if (how === "begin") onWindow({ a: Math.min(share, was.b - LEAST), b: was.b });
    else if (how === "end") onWindow({ a: was.a, b: Math.max(share, was.a + LEAST) });
    else if (how === "move") {
      const shift = Math.max(-was.a, Math.min(1 - was.b, share - from));
      onWindow({ a: was.a + shift, b: was.b + shift });
    } else if (Math.abs(share - from) > 0.006) onWindow({ a: Math.min(share, from), b: Math.max(share, from) });
  };
  return (
    <div
      className={styles["strip"]}
      onPointerDown={onDown}
      onPointerMove={onMove}
      onPointerUp={() => {
        grip.current = null;
      }}
      onDoubleClick={() => onWindow(WHOLE)}
      title="Drag to look closer; a double click shows everything"
    >
      <canvas ref={canvas} aria-hidden />
      <i className={styles["frame"]} style={{ left: `${window.a * 100}%`, width: `${(window.b - window.a) * 100}%` }} />
    </div>
  );
}
