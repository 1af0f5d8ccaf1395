/** Whether the server knows who asks. While it does not, the page asks nothing but to sign in. */
import { useSyncExternalStore } from "react";

/** `era` rises with every sign-in: an answer to an earlier one says nothing about this one. `person` rises when it was not
 * the same caller as before. */
interface State {
  isOut: boolean;
  era: number;
  person: number;
}

let state: State = { isOut: false, era: 0, person: 0 };
const watchers = new Set<() => void>();

function change(next: State): void {
  state = next;
  for (const changed of watchers) changed();
}

/** Be told when a person signs in, or has to. */
export function watchSignIn(changed: () => void): () => void {
  watchers.add(changed);
  return () => watchers.delete(changed);
}

export function signInState(): State {
  return state;
}

/** The server does not know who asks, in the era of that request. */
export function markOut(era: number): void {
  if (era === state.era && !state.isOut) change({ ...state, isOut: true });
}

/** The server knows who asks. */
export function markIn(isSame: boolean): void {
  change({ isOut: false, era: state.era + 1, person: state.person + (isSame ? 0 : 1) });
}

export function useSignIn(): State {
  return useSyncExternalStore(watchSignIn, signInState);
}
