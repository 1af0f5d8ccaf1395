import {
  type Bulk,
  type DryRun,
  type Evaluation,
  type Hierarchy,
  hasEnded,
  type Item,
  type Json,
  type Move,
  type Moves,
  type RetryPreview,
  type Run,
  type RunSummary,
  type Started,
  type Why,
} from "./documents.js";
import { ConnectionFailed } from "./errors.js";
import type { BodyOf, Http, QueryOf } from "./http.js";
import { newId } from "./ids.js";
import { from, type Page, pages } from "./paging.js";
import type { components } from "./schema.js";
import { type FollowOptions, follow, type Heard } from "./stream.js";

const ALL = "/api/v1/runs";
const ONE = "/api/v1/runs/{run}";
const START = "/api/v1/workflows/{workflow}/trigger";
const EXECUTE = "/api/v1/workflows/{workflow}/execute";
const LONGEST_POLL = 30;
const MOST_LINES = 500;

/** A line that an attempt of a step has logged. */
export type LogLine = components["schemas"]["LogLine"];
/** Which lines, and whether to go on until the run has ended. */
export type LogOptions = Pick<QueryOf<"get", "/api/v1/runs/{run}/logs">, "step" | "attempt" | "level"> & { follow?: boolean };

/** Which runs, and in which order. */
export type RunFilter = Omit<QueryOf<"get", typeof ALL>, "cursor">;
/** Some runs, where the next page begins, and how far a search has looked that stopped before. */
export type RunPage = Page<RunSummary> & { searched_until?: string | null };
/** Which runs are meant, by the fields of a list's filter. */
export type BulkFilter = BodyOf<"post", "/api/v1/runs/bulk">["filter"];
/** What is wished for many runs. */
export type BulkAction = BodyOf<"post", "/api/v1/runs/bulk">["action"];

/** Which version a retry runs: that of the run, or the current one. */
export type RetryVersion = "same" | "current";
/** How many runs are steered; `version` is for a retry. */
export type BulkOptions = { dryRun?: boolean; limit?: number; version?: RetryVersion };
/** To which version runs are moved; `names` are the new names of renamed steps. */
export type MoveOptions = { version?: number; names?: Record<string, string>; dryRun?: boolean };

/** How a run is started. */
export interface StartOptions {
  /** The same request id never starts twice: the run that was started first comes back. One is made up if none is
   * given, so that a lost answer is asked for again without a second start. */
  requestId?: string;
  /** Keep the answer back until the run has ended, at most so many seconds (up to 60). */
  wait?: number;
  /** When it begins: an instant, or a time from now such as `10m`. */
  startAt?: Date | string;
  labels?: Record<string, string>;
  /** What the run is about. */
  hero?: { type: string; id: string };
  /** The version that it runs, a number or `draft`, whichever is current. */
  version?: number | "draft";
  signal?: AbortSignal;
}

/** How a dry run is answered. An answer is a value, or a mapping that says more, such as `{ $status: 503 }`. */
export interface DryRunOptions {
  /** The answers to effects, by step. */
  answers?: Record<string, Json>;
  /** A past run whose results are answers too. */
  fromRun?: string;
  hero?: { type: string; id: string };
  /** A number or `draft`; the current version by default. */
  version?: number | "draft";
}

/** Start a run of a workflow. When this returns, it is on disk and will come to an end. */
export async function start(http: Http, workflow: string, body: Json, options: StartOptions): Promise<Started> {
  const { wait, startAt, labels, hero, version } = options;
  const query: QueryOf<"post", typeof START> = {};
  if (wait !== undefined) query.wait = `${wait}s`;
  if (startAt !== undefined) query.start_at = startAt instanceof Date ? startAt.toISOString() : startAt;
  if (labels !== undefined) query.label = Object.entries(labels).map(([key, value]) => `${key}:${value}`);
  if (version !== undefined) query.version = String(version);
  if (hero !== undefined) query.hero = `${hero.type}:${hero.id}`;
  const answer = await http.call("post", START, {
    path: { workflow },
    query,
    body: body ?? {},
    ...named(options.requestId),
    patience: wait ?? 0,
    signal: options.signal,
  });
  return answer.data as Started;
}

/** What a run of a workflow would do. Nothing is started and nothing is written. Effects are answered from `answers`, by
 * step, then from the run `fromRun`, then by examples. */
export async function dryRun(http: Http, workflow: string, body: Json, options: DryRunOptions): Promise<DryRun> {
  const { answers, fromRun, version, hero } = options;
  const envelope = { trigger: body ?? {}, dryRun: true, ...(answers && { answers }), ...(fromRun && { fromRun }) };
  const query: QueryOf<"post", typeof EXECUTE> = {};
  if (version !== undefined) query.version = String(version);
  if (hero !== undefined) query.hero = `${hero.type}:${hero.id}`;
  const parts = { path: { workflow }, query, body: envelope, repeatable: true };
  return (await http.call("post", EXECUTE, parts)).data as DryRun;
}

/** What can be asked about runs. */
export class Runs {
  readonly #http: Http;

  constructor(http: Http) {
    this.#http = http;
  }

  /** A run, with the state, attempts and result of each step. */
  async get(run: string, include: string[] = []): Promise<Run> {
    const query = include.length > 0 ? { include: include.join(",") } : {};
    return (await this.#http.call("get", ONE, { path: { run }, query: query as QueryOf<"get", typeof ONE> })).data;
  }

  /** Every run that matches, newest first. */
  list(which: RunFilter = {}): AsyncIterable<RunSummary> {
    return pages((cursor) => this.#http.call("get", ALL, { query: { ...which, ...from(cursor) } }));
  }

  /** One page of the runs that match. A search that no index helps with may stop before the page is full:
   * `searched_until` says how far it looked, and the page of `next_cursor` goes on from there. */
  async page(which: RunFilter & { cursor?: string } = {}): Promise<RunPage> {
    return await this.#http.call("get", ALL, { query: which });
  }

  /** The run once it has ended; ConnectionFailed if that takes longer than `timeout` seconds. */
  async wait(run: string, options: { timeout?: number; signal?: AbortSignal } = {}): Promise<Run> {
    const until = Date.now() + (options.timeout ?? Number.POSITIVE_INFINITY) * 1000;
    while (true) {
      const wait = Math.max(0, Math.min(LONGEST_POLL, Math.ceil((until - Date.now()) / 1000)));
      const parts = { path: { run }, query: { wait: `${wait}s` }, patience: wait, signal: options.signal };
      const { data } = await this.#http.call("get", ONE, parts);
      if (hasEnded(data.status)) return data;
      if (Date.now() >= until) throw new ConnectionFailed(`the run is still ${data.status} after ${options.timeout} s`);
    }
  }

  /** Its entries as they are written, until it ends. */
  follow(run: string, options: FollowOptions = {}): AsyncGenerator<Heard, void, void> {
    return follow(this.#http, run, options);
  }

  /** End it before its time. */
  async cancel(run: string): Promise<Run> {
    return (await this.#http.call("post", `${ONE}/cancel`, { path: { run } })).data;
  }

  /** Begin nothing new until it is resumed. */
  async pause(run: string): Promise<Run> {
    return (await this.#http.call("post", `${ONE}/pause`, { path: { run } })).data;
  }

  /** Let a paused run go on. */
  async resume(run: string): Promise<Run> {
    return (await this.#http.call("post", `${ONE}/resume`, { path: { run } })).data;
  }

  /** Leave out a step, or the one it is at, and go on behind it. */
  async skip(run: string, step?: string): Promise<Run> {
    const body = step === undefined ? {} : { step };
    return (await this.#http.call("post", `${ONE}/skip`, { path: { run }, body })).data;
  }

  /** Have a step tried again, or the one it is at, after `wait`: seconds, or a text such as "10m". */
  async reattempt(run: string, options: { step?: string; wait?: number | string } = {}): Promise<Run> {
    return (await this.#http.call("post", `${ONE}/reattempt`, { path: { run }, body: options })).data;
  }

  /** Say that it is done: what has not run yet is skipped. */
  async finish(run: string): Promise<Run> {
    return (await this.#http.call("post", `${ONE}/finish`, { path: { run } })).data;
  }

  /** A new run that keeps what went well and does the rest again, in the version of the run or in the current one. */
  async retry(run: string, options: { version?: RetryVersion; requestId?: string } = {}): Promise<Run> {
    const body = options.version === undefined ? {} : { version: options.version };
    return (await this.#http.call("post", `${ONE}/retry`, { path: { run }, body, ...named(options.requestId) })).data;
  }

  /** What a retry would keep, and which steps would run again. Nothing is started. */
  async previewRetry(run: string, options: { version?: RetryVersion } = {}): Promise<RetryPreview> {
    return (await this.#http.call("get", `${ONE}/retry`, { path: { run }, query: options })).data;
  }

  /** Move a run in flight to another version, by default the current one. With `dryRun` it is only checked. */
  async move(run: string, options: MoveOptions = {}): Promise<Move> {
    return (await this.#http.call("post", `${ONE}/move`, { path: { run }, body: moving(options) })).data;
  }

  /** Move every run in flight that matches. Unless `dryRun` is false it is only said which could be moved. */
  async moveAll(filter: BulkFilter, options: MoveOptions & { limit?: number } = {}): Promise<Moves> {
    const limit = options.limit === undefined ? {} : { limit: options.limit };
    return (await this.#http.call("post", `${ALL}/move`, { body: { filter, ...moving(options), ...limit }, patience: 60 }))
      .data;
  }

  /** The parents and children of a run, as a tree from the run that was started first. */
  async hierarchy(run: string, options: { limit?: number } = {}): Promise<Hierarchy> {
    return (await this.#http.call("get", `${ONE}/hierarchy`, { path: { run }, query: options })).data;
  }

  /** The lines that the steps of a run have logged, oldest first. With `follow`, go on until the run has ended. */
  async *logs(run: string, options: LogOptions = {}): AsyncGenerator<LogLine, void, void> {
    const { follow, ...which } = options;
    let after: string | undefined;
    while (true) {
      const wait = follow && after !== undefined ? LONGEST_POLL : 0;
      const place = { ...(after === undefined ? {} : { after }), ...(wait ? { wait: `${wait}s` } : {}) };
      const query = { ...which, limit: MOST_LINES, ...place };
      const page = await this.#http.call("get", `${ONE}/logs`, { path: { run }, query, patience: wait });
      yield* page.data;
      if (page.next_cursor === null || (!follow && page.data.length === 0)) return;
      after = page.next_cursor;
    }
  }

  /** The items of a step that runs for each item of a list, in their order. */
  items(run: string, step: string, which: { status?: string } = {}): AsyncIterable<Item> {
    const path = { run, step };
    return pages((cursor) =>
      this.#http.call("get", `${ONE}/steps/{step}/items`, { path, query: { ...which, ...from(cursor) } }),
    );
  }

  /** A new run from the beginning, with the same input or another. */
  async rerun(run: string, options: { input?: Json; requestId?: string } = {}): Promise<Run> {
    const body = "input" in options ? { input: options.input } : {};
    return (await this.#http.call("post", `${ONE}/rerun`, { path: { run }, body, ...named(options.requestId) })).data;
  }

  /** A new run from one step on; with `output` that step is not run and has this result. */
  async fork(
    run: string,
    body: BodyOf<"post", "/api/v1/runs/{run}/fork">,
    options: { requestId?: string } = {},
  ): Promise<Run> {
    return (await this.#http.call("post", `${ONE}/fork`, { path: { run }, body, ...named(options.requestId) })).data;
  }

  /** Say whether a step whose node died has happened. */
  async resolve(run: string, step: string, body: { happened: boolean; output?: Json }): Promise<Run> {
    return (await this.#http.call("post", `${ONE}/steps/{step}/resolve`, { path: { run, step }, body })).data;
  }

  /** Why it does not go on. */
  async why(run: string): Promise<Why> {
    return (await this.#http.call("get", `${ONE}/why`, { path: { run } })).data;
  }

  /** Try an expression or a template on its data, or on what one of its steps could read. Nothing is changed. */
  async evaluate(run: string, body: BodyOf<"post", "/api/v1/runs/{run}/evaluate">): Promise<Evaluation> {
    return (await this.#http.call("post", `${ONE}/evaluate`, { path: { run }, body })).data;
  }

  /** Do something to every run that matches. Unless `dryRun` is false it is only counted how many there are. */
  async bulk(action: BulkAction, filter: BulkFilter, options: BulkOptions = {}): Promise<Bulk> {
    const limit = options.limit === undefined ? {} : { limit: options.limit };
    const version = options.version === undefined ? {} : { version: options.version };
    const body = { action, filter, dry_run: options.dryRun ?? true, ...limit, ...version };
    return (await this.#http.call("post", `${ALL}/bulk`, { body, patience: 60 })).data;
  }
}

function moving({ version, names, dryRun }: MoveOptions) {
  return {
    ...(version === undefined ? {} : { version }),
    ...(names === undefined ? {} : { names }),
    ...(dryRun === undefined ? {} : { dry_run: dryRun }),
  };
}

/** The header of a request id; with one, a request may be sent again. */
function named(requestId: string | undefined) {
  const key = requestId ?? newId();
  return { headers: { "Idempotency-Key": key }, repeatable: true };
}
