import type { BulkLetters, DeadLetter } from "./documents.js";
import type { BodyOf, Http, QueryOf } from "./http.js";
import { from, pages } from "./paging.js";

const ALL = "/api/v1/dead-letters";
const ONE = "/api/v1/dead-letters/{letter}";

/** Which dead letters. */
export type LetterFilter = Omit<QueryOf<"get", typeof ALL>, "cursor">;
/** What is done with many of them, and with which. Unless `dry_run` is false they are only counted. */
export type LetterBulk = BodyOf<"post", "/api/v1/dead-letters/bulk">;

/** What can be asked about dead letters. */
export class DeadLetters {
  readonly #http: Http;

  constructor(http: Http) {
    this.#http = http;
  }

  /** What Detent gave up, newest first. */
  list(which: LetterFilter = {}): AsyncIterable<DeadLetter> {
    return pages((cursor) => this.#http.call("get", ALL, { query: { ...which, ...from(cursor) } }));
  }

  /** One of them, with its payload. */
  async get(letter: string): Promise<DeadLetter> {
    return (await this.#http.call("get", ONE, { path: { letter } })).data;
  }

  /** Try again what was given up, once. */
  async requeue(letter: string): Promise<DeadLetter> {
    return (await this.#http.call("post", `${ONE}/requeue`, { path: { letter } })).data;
  }

  /** Delete it. */
  async purge(letter: string): Promise<DeadLetter> {
    return (await this.#http.call("delete", ONE, { path: { letter } })).data;
  }

  /** Requeue or purge many, or count them. */
  async bulk(wish: LetterBulk): Promise<BulkLetters> {
    return (await this.#http.call("post", `${ALL}/bulk`, { body: wish, patience: 60 })).data;
  }
}
