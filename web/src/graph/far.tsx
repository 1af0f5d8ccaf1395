/** The graph from far away: below this zoom a node cannot be read, so it is drawn and not mounted. */
import { useStoreApi } from "@xyflow/react";
import { useLayoutEffect, useRef } from "react";
import { usePalette } from "../look/palette";
import { lookOf } from "../look/status";
import type { Layout, Size } from "./layout";
import type { GraphEdge, GraphStep } from "./model";
import { useAllEdges, useSteps } from "./states";
import styles from "./graph.module.css";

export const FAR = 0.45;

export interface FarProps {
  at: Layout;
  size: Size;
  selected: string | null;
}

/** All steps and edges in one canvas that follows the view. */
export function Far({ at, size, selected }: FarProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const store = useStoreApi();
  const colour = usePalette();
  const steps = useSteps();
  const edges = useAllEdges();
  useLayoutEffect(() => {
    const el = canvas.current;
    const c = el?.getContext("2d");
    if (!el || !c) return;
    const groups = new Map<string, GraphStep[]>();
    for (const step of steps) {
      const tone = step.state === null ? "control" : lookOf(step.state).tone;
      const members = groups.get(tone);
      if (members) members.push(step);
      else groups.set(tone, [step]);
    }
    const lines = (state: (edge: GraphEdge) => boolean) => {
      c.beginPath();
      at.path.forEach((line, i) => {
        const edge = edges[i];
        if (!edge || !state(edge)) return;
        line.forEach((p, k) => (k ? c.lineTo(p.x, p.y) : c.moveTo(p.x, p.y)));
      });
      c.stroke();
    };
    const draw = () => {
      const { transform, width, height } = store.getState();
      const [x, y, zoom] = transform;
      const d = devicePixelRatio;
      const [w, h] = [Math.round(width * d), Math.round(height * d)];
      if (el.width !== w) el.width = w;
      if (el.height !== h) el.height = h;
      c.setTransform(1, 0, 0, 1, 0, 0);
      c.clearRect(0, 0, w, h);
      c.setTransform(zoom * d, 0, 0, zoom * d, x * d, y * d);
      c.lineWidth = 0.8 / zoom;
      c.strokeStyle = colour("line-2");
      lines((edge) => edge.state !== "taken");
      c.strokeStyle = colour("control");
      lines((edge) => edge.state === "taken");
      for (const [tone, members] of groups) {
        c.fillStyle = colour(tone);
        c.beginPath();
        for (const step of members) {
          const p = at.at.get(step.name);
          if (p) c.rect(p.x, p.y, size.width, size.height);
        }
        c.fill();
      }
      const chosen = selected === null ? undefined : at.at.get(selected);
      if (!chosen) return;
      const gap = 2.5 / zoom;
      c.strokeStyle = colour("text");
      c.lineWidth = 2 / zoom;
      c.strokeRect(chosen.x - gap, chosen.y - gap, size.width + 2 * gap, size.height + 2 * gap);
    };
    let frame = 0;
    const soon = () => {
      frame ||= requestAnimationFrame(() => {
        frame = 0;
        draw();
      });
    };
    draw();
    const stop = store.subscribe((now, before) => {
      if (now.transform !== before.transform || now.width !== before.width || now.height !== before.height) soon();
    });
    return () => {
      stop();
      cancelAnimationFrame(frame);
    };
  }, [at, steps, edges, size, selected, store, colour]);
  return <canvas ref={canvas} className={styles["far"]} aria-hidden data-far />;
}
