/** The states of the steps and edges that a graph shows. Each node and each edge listens to its own, so that a change
 * costs what it changes: the canvas with its thousand places hears of none. */
import { createContext, useCallback, useContext, useSyncExternalStore } from "react";
import type { GraphEdge, GraphStep } from "./model";

export class States {
  readonly #watchers = new Set<() => void>();
  #byName = new Map<string, GraphStep>();
  #steps: readonly GraphStep[];
  #edges: readonly GraphEdge[];

  constructor(steps: readonly GraphStep[], edges: readonly GraphEdge[]) {
    this.#steps = steps;
    this.#edges = edges;
    this.#index();
  }

  /** Show these from now on. */
  put(steps: readonly GraphStep[], edges: readonly GraphEdge[]): void {
    const isNew = this.#steps !== steps;
    this.#steps = steps;
    this.#edges = edges;
    if (isNew) this.#index();
    for (const changed of this.#watchers) changed();
  }

  watch = (changed: () => void): (() => void) => {
    this.#watchers.add(changed);
    return () => this.#watchers.delete(changed);
  };
  steps = (): readonly GraphStep[] => this.#steps;
  edges = (): readonly GraphEdge[] => this.#edges;
  step = (name: string): GraphStep | undefined => this.#byName.get(name);

  #index(): void {
    this.#byName = new Map(this.#steps.map((step) => [step.name, step]));
  }
}

export const StatesContext = createContext<States>(new States([], []));

/** One step as it is now. */
export function useStep(name: string): GraphStep | undefined {
  const states = useContext(StatesContext);
  const read = useCallback(() => states.step(name), [states, name]);
  return useSyncExternalStore(states.watch, read);
}

/** One edge as it is now, by its place in the list of all. */
export function useEdge(index: number): GraphEdge | undefined {
  const states = useContext(StatesContext);
  const read = useCallback(() => states.edges()[index], [states, index]);
  return useSyncExternalStore(states.watch, read);
}

/** All steps as they are now. */
export function useSteps(): readonly GraphStep[] {
  const states = useContext(StatesContext);
  return useSyncExternalStore(states.watch, states.steps);
}

/** All edges as they are now. */
export function useAllEdges(): readonly GraphEdge[] {
  const states = useContext(StatesContext);
  return useSyncExternalStore(states.watch, states.edges);
}
