/** The graph of a workflow: nodes near, one canvas far away, a map, and keys. */
import { Background, BackgroundVariant, Position, ReactFlow, ReactFlowProvider, useReactFlow } from "@xyflow/react";
import "@xyflow/react/dist/base.css";
import { Maximize, Minus, Plus, Sparkles } from "lucide-react";
import { type KeyboardEvent, memo, type ReactNode, useEffect, useLayoutEffect, useMemo, useRef, useState } from "react";
import { EdgeOfStep, type StepEdge } from "./edge";
import { FAR, Far } from "./far";
import { type Box, firstView, shown, wholeView } from "./first_view";
import { type Layout, layout, type Link, SIZE, smooth } from "./layout";
import { Overview } from "./map";
import { type GraphEdge, type GraphStep, hotSteps } from "./model";
import { NodeOfStep, type StepNode } from "./node";
import { States, StatesContext } from "./states";
import { type Stored, withStored } from "./stored";
import { wrapped } from "./wrap";
import styles from "./graph.module.css";

const NODE_TYPES = { step: NodeOfStep };
const EDGE_TYPES = { step: EdgeOfStep };
const NONE: never[] = [];
const NO_DATA = {};
const PORT = { width: 1, height: 1, y: SIZE.height / 2 };
const PORTS = [
  { ...PORT, type: "target" as const, position: Position.Left, x: 0 },
  { ...PORT, type: "source" as const, position: Position.Right, x: SIZE.width },
];
const CALM = 180;

export interface GraphProps {
  steps: readonly GraphStep[];
  edges: readonly GraphEdge[];
  selected: string | null;
  onSelect: (name: string) => void;
  /** Where a person has put steps. They win over the layout until the graph is tidied up. */
  stored?: Stored;
  /** Called when a person drops the stored places. */
  onTidy?: () => void;
  children?: ReactNode;
}

export function Graph({ steps, edges, selected, onSelect, stored, onTidy, children }: GraphProps) {
  const box = useRef<HTMLDivElement>(null);
  const [size, setSize] = useState<Box | null>(null);
  useLayoutEffect(() => {
    const el = box.current;
    if (el) setSize({ width: el.clientWidth, height: el.clientHeight });
  }, []);
  const [dropped, setDropped] = useState<Stored | null>(null);
  const places = stored === dropped ? undefined : stored;
  const shape = useShape(steps, edges, places);
  const tidy = useLatest(() => {
    setDropped(stored ?? null);
    onTidy?.();
  });
  const [states] = useState(() => new States(steps, edges));
  useLayoutEffect(() => states.put(steps, edges), [states, steps, edges]);
  const choose = useLatest(onSelect);
  return (
    <div className={styles["box"]} ref={box}>
      {size && (
        <StatesContext value={states}>
          <ReactFlowProvider>
            <Canvas shape={shape} states={states} selected={selected} onSelect={choose} onTidy={tidy} size={size} box={box}>
              {children}
            </Canvas>
          </ReactFlowProvider>
        </StatesContext>
      )}
    </div>
  );
}

/** A function that stays the same and calls the newest one. */
function useLatest<A extends unknown[]>(call: (...values: A) => void): (...values: A) => void {
  const latest = useRef(call);
  useLayoutEffect(() => {
    latest.current = call;
  });
  return useRef((...values: A) => latest.current(...values)).current;
}

/** The names and edges of a graph and where they are. It is the same object as long as they are: a change of state does
 * not move anything. */
interface Shape {
  names: readonly string[];
  links: readonly Link[];
  at: Layout;
  stored: Stored | undefined;
  /** Whether stored places decide where something is. */
  isOwn: boolean;
}

function useShape(steps: readonly GraphStep[], edges: readonly GraphEdge[], stored: Stored | undefined): Shape {
  const known = useRef<Shape | null>(null);
  return useMemo(() => {
    const before = known.current;
    const isSame =
      before?.stored === stored &&
      before?.names.length === steps.length &&
      before.links.length === edges.length &&
      before.names.every((name, i) => name === steps[i]?.name) &&
      before.links.every(([source, target], i) => source === edges[i]?.source && target === edges[i]?.target);
    if (isSame) return before;
    const names = steps.map((one) => one.name);
    const links = edges.map((one) => [one.source, one.target] as const);
    const plain = layout(names, links);
    const own = stored ? withStored(plain, links, stored) : plain;
    known.current = { names, links, at: own === plain ? wrapped(plain) : own, stored, isOwn: own !== plain };
    return known.current;
  }, [steps, edges, stored]);
}

interface CanvasProps {
  shape: Shape;
  states: States;
  selected: string | null;
  onSelect: (name: string) => void;
  onTidy: () => void;
  size: Box;
  box: React.RefObject<HTMLDivElement | null>;
  children: ReactNode;
}

/** It is rendered when the shape or the choice changes, not when a state does. */
const Canvas = memo(function Canvas({ shape, states, selected, onSelect, onTidy, size, box, children }: CanvasProps) {
  const { names, links, at, isOwn } = shape;
  const flow = useReactFlow();
  const [view] = useState(() => firstView(at, SIZE, hotSteps(states.steps(), selected), size));
  const [far, setFar] = useState(view.zoom < FAR);
  const roving = selected !== null && at.at.has(selected) ? selected : (names[0] ?? "");
  const nodes = useNodes(names, at, selected, roving);
  const lines = useMemo(() => edgesOf(links, at), [links, at]);
  const fit = () => {
    const el = box.current;
    if (el) void flow.setViewport(wholeView(at, { width: el.clientWidth, height: el.clientHeight }), { duration: CALM });
  };
  useEffect(() => {
    const onKey = (event: globalThis.KeyboardEvent) => {
      const typing = event.target instanceof Element && event.target.closest("input, textarea, select, [contenteditable]");
      if (event.key === "f" && !event.ctrlKey && !event.metaKey && !event.altKey && !typing) fit();
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  });
  const onKeyDown = (event: KeyboardEvent) => {
    const node = (event.target as Element).closest<HTMLElement>(".react-flow__node");
    const name = node?.dataset["id"];
    if (name === undefined) return;
    if (event.key === "Enter" || event.key === " ") onSelect(name);
    else {
      const next = neighbour(event.key, name, links, at);
      if (next === null) return;
      onSelect(next);
      const el = box.current;
      if (!el) return;
      const room = { width: el.clientWidth, height: el.clientHeight };
      void flow.setViewport(shown(flow.getViewport(), at, SIZE, next, room));
      requestAnimationFrame(() => focusNode(el, next));
    }
    event.preventDefault();
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the nodes inside are what is focused
    <div className={styles["canvas"]} onKeyDown={onKeyDown}>
      <ReactFlow
        nodes={far ? NONE : nodes}
        edges={far ? NONE : lines}
        nodeTypes={NODE_TYPES}
        edgeTypes={EDGE_TYPES}
        defaultViewport={view}
        onMove={(_, now) => setFar(now.zoom < FAR)}
        onNodeClick={(_, node) => onSelect(node.id)}
        onPaneClick={(event) => {
          if (!far) return;
          const found = nodeAt(at, flow.screenToFlowPosition({ x: event.clientX, y: event.clientY }));
          if (found !== null) onSelect(found);
        }}
        onlyRenderVisibleElements
        nodesDraggable={false}
        nodesConnectable={false}
        elementsSelectable={false}
        edgesFocusable={false}
        disableKeyboardA11y
        deleteKeyCode={null}
        selectionKeyCode={null}
        multiSelectionKeyCode={null}
        zoomOnDoubleClick={false}
        minZoom={0.02}
        maxZoom={2}
      >
        <Background variant={BackgroundVariant.Dots} gap={20} size={1.1} />
        {far && <Far at={at} size={SIZE} selected={selected} />}
        <div className={styles["tools"]} role="toolbar" aria-label="Graph">
          <Overview at={at} size={SIZE} />
          <button type="button" aria-label="Zoom in" onClick={() => void flow.zoomIn({ duration: CALM })}>
            <Plus className="icon" aria-hidden />
          </button>
          <button type="button" aria-label="Zoom out" onClick={() => void flow.zoomOut({ duration: CALM })}>
            <Minus className="icon" aria-hidden />
          </button>
          <button type="button" aria-label="Show everything" title="Show everything (f)" onClick={fit}>
            <Maximize className="icon" aria-hidden />
          </button>
          {isOwn && (
            <button type="button" aria-label="Tidy up" title="Tidy up: drop the places that steps were put at" onClick={onTidy}>
              <Sparkles className="icon" aria-hidden />
            </button>
          )}
        </div>
        {children}
      </ReactFlow>
    </div>
  );
});

/** Nodes of React Flow. One whose place and choice did not change is the same object as before. */
function useNodes(names: readonly string[], at: Layout, selected: string | null, roving: string): StepNode[] {
  const known = useRef(new Map<string, StepNode>());
  return useMemo(() => {
    const before = known.current;
    const now = new Map<string, StepNode>();
    for (const name of names) {
      const position = at.at.get(name);
      if (!position) continue;
      const old = before.get(name);
      const isSelected = name === selected;
      const focusable = name === roving;
      if (old && old.position === position && old.selected === isSelected && old.focusable === focusable) now.set(name, old);
      else {
        now.set(name, {
          id: name,
          type: "step",
          position,
          data: NO_DATA,
          width: SIZE.width,
          height: SIZE.height,
          handles: PORTS as never,
          selected: isSelected,
          focusable,
          ariaRole: "button",
          domAttributes: { "aria-pressed": isSelected },
        });
      }
    }
    known.current = now;
    return [...now.values()];
  }, [names, at, selected, roving]);
}

function edgesOf(links: readonly Link[], at: Layout): StepEdge[] {
  return links.flatMap(([source, target], index) => {
    const points = at.path[index];
    if (!points?.length) return [];
    return [{ id: `${index}:${source}>${target}`, source, target, type: "step", data: { index, line: smooth(points) }, focusable: false }];
  });
}

/** The node to which an arrow key leads: along an edge, or to the next one above or below. */
function neighbour(key: string, from: string, links: readonly Link[], at: Layout): string | null {
  if (key === "ArrowRight") return links.find(([source]) => source === from)?.[1] ?? null;
  if (key === "ArrowLeft") return links.find(([, target]) => target === from)?.[0] ?? null;
  const place = at.at.get(from);
  const way = key === "ArrowDown" ? 1 : key === "ArrowUp" ? -1 : 0;
  if (!place || !way) return null;
  let best: { name: string; far: number } | null = null;
  for (const [name, p] of at.at) {
    const far = (p.y - place.y) * way;
    if (Math.abs(p.x - place.x) < SIZE.width / 2 && far > 0 && (!best || far < best.far)) best = { name, far };
  }
  return best?.name ?? null;
}

function nodeAt(at: Layout, point: { x: number; y: number }): string | null {
  for (const [name, { x, y }] of at.at) {
    if (point.x >= x && point.x <= x + SIZE.width && point.y >= y && point.y <= y + SIZE.height) return name;
  }
  return null;
}

function focusNode(el: HTMLElement, name: string): void {
  for (const node of el.querySelectorAll<HTMLElement>(".react-flow__node")) {
    if (node.dataset["id"] === name) node.focus({ preventScroll: true });
  }
}
