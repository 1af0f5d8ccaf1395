/** The whole graph in one small canvas; a drag in it moves the view. */
import { useReactFlow, useStore } from "@xyflow/react";
import { type PointerEvent, useLayoutEffect, useRef } from "react";
import { type Palette, usePalette } from "../look/palette";
import { lookOf } from "../look/status";
import type { Layout, Size } from "./layout";
import { useSteps } from "./states";
import styles from "./graph.module.css";

const WIDTH = 128;
const HEIGHT = 40;
const PAD = 4;

/** What is drawn of the steps so far, and in which tone each. */
interface Picture {
  at: Layout;
  colour: Palette;
  canvas: HTMLCanvasElement;
  tones: Map<string, string>;
}

function blank(canvas = document.createElement("canvas")): HTMLCanvasElement {
  const d = devicePixelRatio;
  canvas.width = WIDTH * d;
  canvas.height = HEIGHT * d;
  canvas.getContext("2d")?.setTransform(d, 0, 0, d, 0, 0);
  return canvas;
}

export function Overview({ at, size }: { at: Layout; size: Size }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const picture = useRef<Picture | null>(null);
  const [tx, ty, zoom] = useStore((s) => s.transform);
  const width = useStore((s) => s.width);
  const height = useStore((s) => s.height);
  const flow = useReactFlow();
  const colour = usePalette();
  const steps = useSteps();
  const k = Math.min((WIDTH - 2 * PAD) / Math.max(1, at.width), (HEIGHT - 2 * PAD) / Math.max(1, at.height));
  const left = (WIDTH - at.width * k) / 2;
  const top = (HEIGHT - at.height * k) / 2;
  // Steps are drawn when their colour changes; a moving view only copies that picture.
  useLayoutEffect(() => {
    const known = picture.current;
    const behind = known?.at === at && known.colour === colour ? known : { at, colour, canvas: blank(known?.canvas), tones: new Map<string, string>() };
    picture.current = behind;
    const c = behind.canvas.getContext("2d");
    if (!c) return;
    for (const step of steps) {
      const tone = step.state === null ? "control" : lookOf(step.state).tone;
      const p = at.at.get(step.name);
      if (!p || behind.tones.get(step.name) === tone) continue;
      behind.tones.set(step.name, tone);
      c.fillStyle = colour(tone);
      c.fillRect(left + p.x * k, top + p.y * k, Math.max(1.5, size.width * k), Math.max(1.5, size.height * k));
    }
  }, [at, steps, size, colour, k, left, top]);
  useLayoutEffect(() => {
    const el = canvas.current;
    const c = el?.getContext("2d");
    if (!el || !c || !picture.current) return;
    const d = devicePixelRatio;
    if (el.width !== WIDTH * d) el.width = WIDTH * d;
    if (el.height !== HEIGHT * d) el.height = HEIGHT * d;
    c.setTransform(d, 0, 0, d, 0, 0);
    c.clearRect(0, 0, WIDTH, HEIGHT);
    c.drawImage(picture.current.canvas, 0, 0, WIDTH, HEIGHT);
    const x0 = Math.max(1, left - (tx / zoom) * k);
    const y0 = Math.max(1, top - (ty / zoom) * k);
    const x1 = Math.min(WIDTH - 1, left + ((width - tx) / zoom) * k);
    const y1 = Math.min(HEIGHT - 1, top + ((height - ty) / zoom) * k);
    if (x1 <= x0 || y1 <= y0) return;
    c.strokeStyle = colour("text");
    c.lineWidth = 1.25;
    c.beginPath();
    c.roundRect(x0, y0, x1 - x0, y1 - y0, 3);
    c.stroke();
  }, [steps, at, colour, tx, ty, zoom, width, height, k, left, top]);
  const go = (event: PointerEvent) => {
    const box = event.currentTarget.getBoundingClientRect();
    const x = (event.clientX - box.left - left) / k;
    const y = (event.clientY - box.top - top) / k;
    void flow.setCenter(x, y, { zoom });
  };
  return (
    <canvas
      ref={canvas}
      className={styles["map"]}
      role="img"
      aria-label="Map of the graph"
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId);
        go(event);
      }}
      onPointerMove={(event) => event.buttons > 0 && go(event)}
    />
  );
}
