/** The one event stream of this tab. Parts of the page listen to topics; this opens, closes and opens it again.
 *
 * A browser has six connections to a server for all its tabs. So there is one stream for all topics, and none while the
 * tab is hidden. */
import { useEffect, useRef, useSyncExternalStore } from "react";
import { address, read } from "./client";
import type { Me, One } from "./documents";
import { has } from "./policy";
import { signInState, watchSignIn } from "./sign_in";

/** What is heard. `open` comes whenever the stream begins again: what was missed is not told, so ask again. */
export interface Heard {
  event: string;
  data: { topic?: string } & Record<string, unknown>;
}

interface Listener {
  /** Asked whenever the stream is opened, so that a cursor in it is the newest: `run:run_1@57`. */
  topic: () => string;
  heard: (heard: Heard) => void;
}

export type Connection =
  | { state: "idle" }
  | { state: "connecting" }
  | { state: "live" }
  | { state: "lost"; again: number };

const EVENTS = ["runs", "entries", "counts", "inbox", "alerts", "firings"] as const;
const PAUSES = [1000, 2000, 5000, 15_000];
/** Topics that come and go together, as when a page is left for another, open it once. */
const SETTLE = 30;
const TOGETHER = 16;
const HIDDEN_FOR = 10_000;

/** The topic without its cursor. */
export function plain(topic: string): string {
  return topic.replace(/@\d+$/, "");
}

/** Whether an event is meant for a topic. Events of counts, inbox and alerts name no topic. */
export function isFor(heard: Heard, topic: string): boolean {
  if (heard.event === "open") return true;
  if (heard.data.topic !== undefined) return plain(heard.data.topic) === plain(topic);
  return plain(topic) === heard.event;
}

class Live {
  readonly #listeners = new Set<Listener>();
  readonly #watchers = new Set<() => void>();
  #source: EventSource | undefined;
  #opened = "";
  #failures = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #hiding: ReturnType<typeof setTimeout> | undefined;
  #queue: Heard[] = [];
  #telling: ReturnType<typeof setTimeout> | undefined;
  #connection: Connection = { state: "idle" };

  constructor() {
    document.addEventListener("visibilitychange", () => this.#onVisibility());
    addEventListener("online", () => this.#open());
    watchSignIn(() => (signInState().isOut ? this.#close("idle") : this.retry()));
  }

  get connection(): Connection {
    return this.#connection;
  }

  /** Be told when the state of the connection changes. */
  watch(changed: () => void): () => void {
    this.#watchers.add(changed);
    return () => this.#watchers.delete(changed);
  }

  /** Listen to a topic until the returned function is called. */
  listen(listener: Listener): () => void {
    this.#listeners.add(listener);
    this.#settle();
    return () => {
      this.#listeners.delete(listener);
      this.#settle();
    };
  }

  /** Open it again at once, as when a person asks for it. */
  retry(): void {
    this.#failures = 0;
    this.#opened = "";
    this.#open();
  }

  #settle(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#open(), SETTLE);
  }

  #topics(): string[] {
    return [...new Set([...this.#listeners].map((one) => one.topic()).filter(Boolean))];
  }

  #open(): void {
    clearTimeout(this.#timer);
    if (document.hidden || signInState().isOut) return;
    const topics = this.#topics();
    const names = topics.map(plain).sort().join(",");
    if (names === "") return this.#close("idle");
    if (names === this.#opened && this.#source) return;
    this.#source?.close();
    this.#opened = names;
    // A comma parts topics, so each is escaped by itself before the whole is.
    const source = new EventSource(address("/api/v1/stream", { topics: topics.map(encodeURIComponent).join(",") }));
    this.#source = source;
    if (this.#connection.state !== "lost") this.#say({ state: "connecting" });
    source.onopen = () => {
      this.#failures = 0;
      this.#say({ state: "live" });
      this.#tell({ event: "open", data: {} });
    };
    source.onerror = () => this.#fail(source);
    for (const event of EVENTS) {
      source.addEventListener(event, (message) => {
        const data: unknown = JSON.parse((message as MessageEvent<string>).data);
        if (typeof data === "object" && data !== null) this.#tell({ event, data: data as Heard["data"] });
      });
    }
  }

  #fail(source: EventSource): void {
    if (source !== this.#source) return;
    if (source.readyState === EventSource.CLOSED) void this.#look();
    source.close();
    this.#source = undefined;
    const pause = PAUSES[Math.min(this.#failures, PAUSES.length - 1)] ?? 15_000;
    this.#failures += 1;
    this.#say({ state: "lost", again: Date.now() + pause });
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#open(), pause);
  }

  /** The server refused, and the browser does not say why. Another question learns whether a person has to sign in; a
   * caller that may not read has no stream. */
  async #look(): Promise<void> {
    try {
      const { data } = await read<One<Me>>("/api/v1/me");
      if (!has(data.scopes, "workflows:read")) this.#close("idle");
    } catch {
      // The next try tells.
    }
  }

  #close(state: "idle"): void {
    clearTimeout(this.#timer);
    this.#source?.close();
    this.#source = undefined;
    this.#opened = "";
    this.#say({ state });
  }

  #onVisibility(): void {
    clearTimeout(this.#hiding);
    if (!document.hidden) this.#open();
    else this.#hiding = setTimeout(() => document.hidden && this.#close("idle"), HIDDEN_FOR);
  }

  /** Everything that arrives within a moment is told together: React then renders once. It is a timer, since asking for
   * an animation frame makes the browser draw one, whether something changed or not. */
  #tell(heard: Heard): void {
    this.#queue.push(heard);
    this.#telling ??= setTimeout(() => {
      this.#telling = undefined;
      const queue = this.#queue;
      this.#queue = [];
      for (const one of queue) {
        for (const listener of [...this.#listeners]) if (isFor(one, listener.topic())) listener.heard(one);
      }
    }, TOGETHER);
  }

  #say(connection: Connection): void {
    this.#connection = connection;
    for (const changed of this.#watchers) changed();
  }
}

export const live = new Live();

/** Listen to a topic while a component is mounted. An empty topic listens to nothing. */
export function useLive(topic: string, heard: (heard: Heard) => void): void {
  const latest = useRef({ topic, heard });
  latest.current = { topic, heard };
  const name = plain(topic);
  useEffect(() => {
    if (name === "") return;
    return live.listen({ topic: () => latest.current.topic, heard: (one) => latest.current.heard(one) });
  }, [name]);
}

/** The state of the connection. */
export function useConnection(): Connection {
  return useSyncExternalStore(
    (changed) => live.watch(changed),
    () => live.connection,
  );
}
