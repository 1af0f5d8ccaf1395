import type { Backfill, Firing, Json, Trigger } from "./documents.js";
import type { BodyOf, Http, QueryOf } from "./http.js";
import { from, pages } from "./paging.js";

const ALL = "/api/v1/triggers";
const ONE = "/api/v1/triggers/{trigger}";

/** Which triggers. */
export type TriggerFilter = Omit<QueryOf<"get", typeof ALL>, "cursor">;
/** A trigger to be: its workflow, its type, and the fields of that type in `config`. */
export type NewTrigger = BodyOf<"post", typeof ALL>;
/** What of a trigger is changed. */
export type TriggerChange = BodyOf<"put", typeof ONE>;

/** What can be asked about triggers and their firings. */
export class Triggers {
  readonly #http: Http;

  constructor(http: Http) {
    this.#http = http;
  }

  /** A trigger of a workflow. */
  async create(trigger: NewTrigger): Promise<Trigger> {
    return (await this.#http.call("post", ALL, { body: trigger })).data;
  }

  async get(trigger: string): Promise<Trigger> {
    return (await this.#http.call("get", ONE, { path: { trigger } })).data;
  }

  list(which: TriggerFilter = {}): AsyncIterable<Trigger> {
    return pages((cursor) => this.#http.call("get", ALL, { query: { ...which, ...from(cursor) } }));
  }

  /** Change what is given, keep the rest. */
  async update(trigger: string, change: TriggerChange): Promise<Trigger> {
    return (await this.#http.call("put", ONE, { path: { trigger }, body: change, repeatable: false })).data;
  }

  async delete(trigger: string): Promise<Trigger> {
    return (await this.#http.call("delete", ONE, { path: { trigger } })).data;
  }

  /** Fire it now, whatever its schedule. */
  async fire(trigger: string, body?: Json): Promise<Firing> {
    const sent = body === undefined ? {} : { body };
    return (await this.#http.call("post", `${ONE}/fire`, { path: { trigger }, body: sent })).data;
  }

  /** Let it fire no more until it is resumed. `note` tells others why. */
  async pause(trigger: string, note?: string): Promise<Trigger> {
    const body = note === undefined ? {} : { note };
    return (await this.#http.call("post", `${ONE}/pause`, { path: { trigger }, body, repeatable: true })).data;
  }

  /** Let it fire again. */
  async resume(trigger: string): Promise<Trigger> {
    return (await this.#http.call("post", `${ONE}/resume`, { path: { trigger }, repeatable: true })).data;
  }

  /** When it will fire next. */
  async next(trigger: string, count = 10): Promise<Date[]> {
    const answer = await this.#http.call("get", `${ONE}/next`, { path: { trigger }, query: { count } });
    return answer.data.map((instant) => new Date(instant));
  }

  /** When a schedule would fire. */
  async preview(schedule: QueryOf<"get", "/api/v1/schedules/preview">): Promise<Date[]> {
    const answer = await this.#http.call("get", "/api/v1/schedules/preview", { query: schedule });
    return answer.data.map((instant) => new Date(instant));
  }

  /** Fire the slots of a range that has passed. Unless `dryRun` is false they are only listed. */
  async backfill(trigger: string, range: { from: Date; to: Date; dryRun?: boolean }): Promise<Backfill> {
    const [since, until] = [range.from.toISOString(), range.to.toISOString()];
    const body = { from: since, to: until, dry_run: range.dryRun ?? true };
    return (await this.#http.call("post", `${ONE}/backfill`, { path: { trigger }, body, patience: 60 })).data;
  }

  /** Every time it fired, newest first. */
  firings(trigger: string, which: { state?: string } = {}): AsyncIterable<Firing> {
    const path = { trigger };
    const query = which as QueryOf<"get", "/api/v1/triggers/{trigger}/firings">;
    return pages((cursor) => this.#http.call("get", `${ONE}/firings`, { path, query: { ...query, ...from(cursor) } }));
  }

  /** One firing, with the request that was received. */
  async firing(trigger: string, firing: string): Promise<Firing> {
    return (await this.#http.call("get", `${ONE}/firings/{firing}`, { path: { trigger, firing } })).data;
  }

  /** Replay a firing. */
  async replay(trigger: string, firing: string): Promise<Firing> {
    return (await this.#http.call("post", `${ONE}/firings/{firing}/replay`, { path: { trigger, firing } })).data;
  }
}
