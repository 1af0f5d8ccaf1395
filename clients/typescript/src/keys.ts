import type { CreatedKey, Key } from "./documents.js";
import type { BodyOf, Http } from "./http.js";
import { from, pages } from "./paging.js";

const ALL = "/api/v1/keys";
const ONE = "/api/v1/keys/{key}";

/** A key to create: its name, a role or scopes, the workflows that it may start, and its end. */
export type NewKey = BodyOf<"post", typeof ALL>;
/** How long the old key stays valid, and the end of the new one. */
export type Rotation = BodyOf<"post", "/api/v1/keys/{key}/rotate">;

/** What can be asked about keys of the API. */
export class Keys {
  readonly #http: Http;

  constructor(http: Http) {
    this.#http = http;
  }

  /** The keys by id, also those that have expired or were revoked. */
  list(): AsyncIterable<Key> {
    return pages((cursor) => this.#http.call("get", ALL, { query: from(cursor) }));
  }

  /** What a key may do. */
  async get(key: string): Promise<Key> {
    return (await this.#http.call("get", ONE, { path: { key } })).data;
  }

  /** Create a key. Its `key` is never shown again. */
  async create(wish: NewKey): Promise<CreatedKey> {
    return (await this.#http.call("post", ALL, { body: wish })).data;
  }

  /** Create a key that may do the same; the old one stays valid for a while. */
  async rotate(key: string, wish: Rotation = {}): Promise<CreatedKey> {
    return (await this.#http.call("post", `${ONE}/rotate`, { path: { key }, body: wish })).data;
  }

  /** Revoke a key: every node refuses it within two seconds. */
  async revoke(key: string): Promise<Key> {
    return (await this.#http.call("delete", ONE, { path: { key } })).data;
  }
}
