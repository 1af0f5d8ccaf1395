import { ConnectionFailed, Unavailable } from "./errors.js";
import { type Http, lost, pause } from "./http.js";
import type { components } from "./schema.js";

/** One entry of a run's journal. */
export type Entry = components["schemas"]["EntryDocument"];
/** What is heard while a run is followed: its entries in order, and at last its end. */
export type Heard =
  | { event: "entry"; id: number; data: Entry }
  | { event: "end"; data: { run_id: string; status: string } };

/** One frame of Server-Sent Events. */
export interface Frame {
  event: string;
  id: string | undefined;
  data: string;
}

/** How a run is followed. */
export interface FollowOptions {
  /** The `seq` of the last entry that is known; only those behind it are told. */
  after?: number;
  signal?: AbortSignal;
}

// The server says that it is still there every 15 seconds.
const LONGEST_SILENCE = 45;
const LONGEST_PAUSE = 10;

/** The entries of a run as they are written, until it ends. A lost connection is opened again where it broke. */
export async function* follow(http: Http, run: string, options: FollowOptions = {}): AsyncGenerator<Heard, void, void> {
  let after = options.after ?? 0;
  let failures = 0;
  while (true) {
    try {
      for await (const frame of connection(http, run, after, options.signal)) {
        failures = 0;
        const heard = told(frame);
        if (heard === undefined) continue;
        if (heard.event === "entry") after = heard.id;
        yield heard;
        if (heard.event === "end") return;
      }
    } catch (error) {
      const comesBack = error instanceof ConnectionFailed || error instanceof Unavailable || isAbort(error);
      if (options.signal?.aborted || !comesBack) throw error;
    }
    failures += 1;
    await pause(Math.min(0.25 * 2 ** failures, LONGEST_PAUSE), options.signal);
  }
}

async function* connection(http: Http, run: string, after: number, signal?: AbortSignal): AsyncGenerator<Frame> {
  const silence = new AbortController();
  const stop = () => silence.abort(signal?.reason);
  signal?.addEventListener("abort", stop, { once: true });
  if (signal?.aborted) stop();
  let timer = setTimeout(() => silence.abort(), LONGEST_SILENCE * 1000);
  try {
    const headers = { accept: "text/event-stream", "last-event-id": String(after) };
    const response = await http.open("/api/v1/runs/{run}/stream", { run }, headers, silence.signal);
    const parser = new Parser();
    const decoder = new TextDecoder();
    const reader = (response.body ?? new ReadableStream<Uint8Array>()).getReader();
    while (true) {
      const { done, value } = await reader.read().catch((cause: unknown) => {
        throw lost("the stream", cause);
      });
      if (done) return;
      clearTimeout(timer);
      timer = setTimeout(() => silence.abort(), LONGEST_SILENCE * 1000);
      yield* parser.feed(decoder.decode(value, { stream: true }));
    }
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", stop);
    silence.abort();
  }
}

/** Reads Server-Sent Events, in whatever pieces they arrive. */
export class Parser {
  #rest = "";
  #event = "";
  #id: string | undefined;
  #data: string[] = [];

  /** The frames that this piece completes. */
  *feed(piece: string): Generator<Frame> {
    const lines = (this.#rest + piece).split(/\r\n|\n|\r(?!$)/);
    this.#rest = lines.pop() ?? "";
    for (const line of lines) {
      if (line === "") yield* this.#complete();
      else this.#field(line);
    }
  }

  *#complete(): Generator<Frame> {
    if (this.#data.length > 0) {
      yield { event: this.#event || "message", id: this.#id, data: this.#data.join("\n") };
    }
    this.#event = "";
    this.#data = [];
  }

  #field(line: string): void {
    const colon = line.indexOf(":");
    if (colon === 0) return;
    const name = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (name === "event") this.#event = value;
    else if (name === "id") this.#id = value;
    else if (name === "data") this.#data.push(value);
  }
}

function told(frame: Frame): Heard | undefined {
  if (frame.event === "entry") return { event: "entry", id: Number(frame.id), data: JSON.parse(frame.data) as Entry };
  if (frame.event === "end") return { event: "end", data: JSON.parse(frame.data) as { run_id: string; status: string } };
  return undefined; // what a newer Detent tells beside these
}

function isAbort(error: unknown): boolean {
  return error instanceof Error && error.name === "AbortError";
}
