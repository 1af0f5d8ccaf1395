/** Who asks, what the server is, and what time it is there. */
import { useQuery } from "@tanstack/react-query";
import { useEffect, useSyncExternalStore } from "react";
import { read } from "./client";
import type { Me, One } from "./documents";
import { has, type Operation, POLICY } from "./policy";
import { tellTabs } from "./tabs";

let ahead = 0;

/** The time of the server, in milliseconds. */
export function now(): number {
  return Date.now() + ahead;
}

/** Who this page speaks for. `undefined` until it is known. */
export function useMe(): Me | undefined {
  const { data } = useQuery({
    queryKey: ["me"],
    queryFn: async ({ signal }) => {
      const asked = Date.now();
      const me = (await read<One<Me>>("/api/v1/me", {}, signal)).data;
      // The answer was written about in the middle of the way there and back.
      ahead = Date.parse(me.server_time) - (asked + Date.now()) / 2;
      tellTabs(me);
      return me;
    },
    staleTime: 10 * 60_000,
  });
  return data;
}

/** Says whether the server has a feature. While that is not known, it has. */
export function useFeatures(): (feature: string | undefined) => boolean {
  const me = useMe();
  return (feature) => feature === undefined || me === undefined || me.features.includes(feature);
}

/** Why the caller may not do something: which scope it lacks. `undefined` if it may, and while that is not known. */
export function useDenied(operation: Operation | undefined): string | undefined {
  const me = useMe();
  if (operation === undefined || me === undefined) return undefined;
  if (isLimited(me, operation)) return `This needs a caller that may start all workflows; ${me.caller.name} may start only ${me.workflows?.join(", ")}.`;
  if (has(me.scopes, POLICY[operation])) return undefined;
  return `This needs the scope ${POLICY[operation]}, which ${me.role ? `the role ${me.role}` : me.caller.name} does not have.`;
}

/** Whether the caller may start some workflows only, and this steers runs of any. */
function isLimited(me: Me, operation: Operation): boolean {
  return me.workflows !== null && POLICY[operation] === POLICY.trigger_workflow && operation !== "trigger_workflow";
}

/** Says whether the caller may do something. While that is not known, it may not: nothing is asked in vain. */
export function useMay(): (operation: Operation) => boolean {
  const me = useMe();
  return (operation) => me !== undefined && !isLimited(me, operation) && has(me.scopes, POLICY[operation]);
}

/** One clock for all that count up or down: it ticks once a second while anything shows a time. */
class Ticker {
  readonly #watchers = new Set<() => void>();
  #timer: ReturnType<typeof setInterval> | undefined;
  now = now();

  watch = (changed: () => void): (() => void) => {
    this.#watchers.add(changed);
    // Nothing has ticked while nothing was watched.
    if (this.#timer === undefined) this.now = now();
    this.#timer ??= setInterval(() => this.#tick(), 1000);
    return () => {
      this.#watchers.delete(changed);
      if (this.#watchers.size > 0) return;
      clearInterval(this.#timer);
      this.#timer = undefined;
    };
  };

  #tick(): void {
    if (document.hidden) return;
    this.now = now();
    for (const changed of this.#watchers) changed();
  }
}

const ticker = new Ticker();

/** The time of the server, once a second. */
export function useNow(): number {
  return useSyncExternalStore(ticker.watch, () => ticker.now);
}

/** The title of the browser's tab. */
export function useTitle(title: string): void {
  useEffect(() => {
    document.title = title ? `${title} · Detent` : "Detent";
  }, [title]);
}
