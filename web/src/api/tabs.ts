/** The tabs of one browser share one session. When a person signs in or out in one of them, the others follow at once. */
import { cache } from "./cache";
import type { Me } from "./documents";
import { markOut, signInState } from "./sign_in";

const channel = new BroadcastChannel("detent-session");

/** Whom a tab speaks for, as one word. */
export function callerOf({ caller }: Me): string {
  return JSON.stringify([caller.tenant, caller.name]);
}

/** Tell the other tabs whom this one speaks for; nothing after it has signed out. */
export function tellTabs(me: Me | null): void {
  if (me === null || me.via === "session") channel.postMessage(me === null ? "" : callerOf(me));
}

/** Follow the other tabs. What was written here stays below the cover until another person signs in. */
export function followTabs(): void {
  channel.addEventListener("message", ({ data: caller }: MessageEvent<string>) => {
    if (caller === "") return markOut(signInState().era);
    const me = cache.getQueryData<Me>(["me"]);
    if (!signInState().isOut && me !== undefined && callerOf(me) === caller) return;
    // A refusal leaves the cover where it is.
    void import("./login").then(({ enter }) => enter()).catch(() => undefined);
  });
}
