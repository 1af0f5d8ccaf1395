import { ConnectionFailed, DetentError, refusalOf, Unavailable } from "./errors.js";
import type { paths } from "./schema.js";

/** The methods that Detent's routes have. */
export type Method = "get" | "post" | "put" | "patch" | "delete";
/** The paths that have a method. */
export type PathOf<M extends Method> = {
  [P in keyof paths]: paths[P] extends { [K in M]: { responses: unknown } } ? P : never;
}[keyof paths];
type Operation<M extends Method, P extends keyof paths> = paths[P] extends { [K in M]: infer O } ? O : never;
type Parameters<O, In extends "query" | "header" | "path"> = O extends { parameters: { [K in In]?: infer V } }
  ? Exclude<V, undefined>
  : never;
type Json<R> = R extends { content: { "application/json": infer B } } ? B : never;
/** The body that an operation takes. */
export type BodyOf<M extends Method, P extends keyof paths> =
  Operation<M, P> extends { requestBody?: infer B } ? Json<Exclude<B, undefined>> : never;
/** What an operation answers with when it succeeds. */
export type AnswerOf<M extends Method, P extends keyof paths> =
  Operation<M, P> extends { responses: infer R } ? Json<R[keyof R & (200 | 201 | 202)]> : never;
/** The query of an operation. */
export type QueryOf<M extends Method, P extends keyof paths> = Parameters<Operation<M, P>, "query">;

/** The parts of a request beside its method and path. */
export interface Parts<M extends Method, P extends keyof paths> {
  /** What stands in the braces of the path. */
  path?: Parameters<Operation<M, P>, "path">;
  query?: QueryOf<M, P>;
  headers?: Parameters<Operation<M, P>, "header"> | Record<string, string>;
  /** Sent as JSON. */
  body?: BodyOf<M, P>;
  /** Sent as it is, in place of `body`. */
  text?: string;
  /** Whether the same request may be sent again when its answer is lost. GET, PUT and DELETE may. */
  repeatable?: boolean;
  /** How many seconds the server may keep its answer back, beside the usual time. */
  patience?: number;
  signal?: AbortSignal | undefined;
}

/** How to reach a Detent. */
export interface Options {
  /** Where it answers, such as `http://127.0.0.1:8080`. */
  baseUrl: string;
  /** The key of the API, `dk_...`; that of the variable DETENT_KEY if nothing is said. */
  key?: string;
  /** Sent with every request. */
  headers?: Record<string, string>;
  /** Seconds after which a request without an answer is given up; 30 if nothing is said. */
  timeout?: number;
  /** How often a request is sent again after a lost connection or a 503; 3 if nothing is said. */
  retries?: number;
  /** What is used to send requests; the platform's own `fetch` if nothing is said. */
  fetch?: typeof fetch;
}

const LONGEST_PAUSE = 10;

/** Sends requests, and sends them again where that is safe. */
export class Http {
  readonly #base: string;
  readonly #headers: Record<string, string>;
  readonly #timeout: number;
  readonly #retries: number;
  readonly #fetch: typeof fetch;

  constructor(options: Options) {
    this.#base = options.baseUrl.replace(/\/+$/, "");
    this.#headers = identified(options.headers ?? {}, options.key ?? variable("DETENT_KEY"));
    this.#timeout = options.timeout ?? 30;
    this.#retries = options.retries ?? 3;
    this.#fetch = options.fetch ?? globalThis.fetch.bind(globalThis);
  }

  /** The answer to a request, or a DetentError. */
  async call<M extends Method, P extends PathOf<M>>(
    method: M,
    path: P,
    parts: Parts<M, P> = {},
  ): Promise<AnswerOf<M, P>> {
    const response = await this.send(method, path, parts);
    return (response.status === 204 ? undefined : await response.json()) as AnswerOf<M, P>;
  }

  /** As `call`, with the whole answer. */
  async send<M extends Method, P extends PathOf<M>>(method: M, path: P, parts: Parts<M, P> = {}): Promise<Response> {
    const url = this.#url(path, parts.path ?? {}, parts.query ?? {});
    const repeatable = parts.repeatable ?? method !== "post";
    for (let attempt = 0; ; attempt += 1) {
      try {
        return await this.#once(method, url, parts);
      } catch (error) {
        const again = repeatable && (error instanceof ConnectionFailed || error instanceof Unavailable);
        if (!again || attempt >= this.#retries || parts.signal?.aborted) throw error;
        await pause(Math.min(error.retryAfter ?? 0.2 * 2 ** attempt, LONGEST_PAUSE), parts.signal);
      }
    }
  }

  /** Opens a stream. It has no time limit of its own: `signal` ends it. */
  async open(path: PathOf<"get">, place: Record<string, string>, headers: HeadersInit, signal: AbortSignal) {
    const url = this.#url(path, place, {});
    return await this.#answered(url, { headers: { ...this.#headers, ...headers }, signal });
  }

  async #once<M extends Method, P extends keyof paths>(method: M, url: string, parts: Parts<M, P>): Promise<Response> {
    const limit = AbortSignal.timeout((this.#timeout + (parts.patience ?? 0)) * 1000);
    const headers: Record<string, string> = { ...this.#headers, ...given(parts.headers as object | undefined) };
    const body = parts.text ?? (parts.body === undefined ? null : JSON.stringify(parts.body));
    if (parts.body !== undefined && parts.text === undefined) headers["content-type"] ??= "application/json";
    const signal = either(limit, parts.signal);
    const response = await this.#answered(url, { method: method.toUpperCase(), headers, body, signal });
    try {
      const read = await response.arrayBuffer();
      // An answer without a body may not be given one, not even an empty one.
      return new Response(response.status === 204 ? null : read, response);
    } catch (cause) {
      throw lost(this.#base, cause);
    }
  }

  async #answered(url: string, init: RequestInit): Promise<Response> {
    let response: Response;
    try {
      response = await this.#fetch(url, init);
    } catch (cause) {
      throw lost(this.#base, cause);
    }
    if (!response.ok) throw await refusalOf(response);
    return response;
  }

  #url(path: string, place: object, query: object): string {
    const names = place as Record<string, string>;
    const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => {
      const value = names[name];
      if (!value) throw new DetentError(`${name} is missing`);
      return encodeURIComponent(value);
    });
    const search = new URLSearchParams();
    for (const [name, value] of Object.entries(query)) {
      for (const one of Array.isArray(value) ? value : [value]) {
        if (one !== undefined && one !== null) search.append(name, String(one));
      }
    }
    const text = search.toString();
    return `${this.#base}${filled}${text ? `?${text}` : ""}`;
  }
}

/** What a failed `fetch` means. Whoever gave up himself gets his own error back. */
export function lost(base: string, cause: unknown): unknown {
  if (!(cause instanceof Error) || cause.name === "AbortError") return cause;
  const reason = (cause.cause instanceof Error ? cause.cause : cause).message;
  return new ConnectionFailed(`there was no answer from ${base}: ${reason}`, { cause });
}

/** Wait, unless the signal says that nobody waits any more. */
export function pause(seconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const done = () => {
      signal?.removeEventListener("abort", stop);
      resolve();
    };
    const timer = setTimeout(done, seconds * 1000);
    const stop = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    signal?.addEventListener("abort", stop, { once: true });
  });
}

/** A signal that follows the first of two. */
function either(one: AbortSignal, other: AbortSignal | undefined): AbortSignal {
  if (other === undefined) return one;
  const both = new AbortController();
  for (const signal of [one, other]) {
    if (signal.aborted) both.abort(signal.reason);
    signal.addEventListener("abort", () => both.abort(signal.reason), { once: true, signal: both.signal });
  }
  return both.signal;
}

function given(headers: object | undefined): Record<string, string> {
  const entries = Object.entries(headers ?? {}).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries.map(([name, value]) => [name.toLowerCase(), String(value)]));
}

/** The headers with a key, unless they name a caller already. */
function identified(headers: Record<string, string>, key: string | undefined): Record<string, string> {
  const named = Object.keys(headers).some((name) => name.toLowerCase() === "authorization");
  return key === undefined || key === "" || named ? headers : { ...headers, authorization: `Bearer ${key}` };
}

/** A variable of the environment, where there is one. */
function variable(name: string): string | undefined {
  const host = globalThis as { process?: { env?: Record<string, string | undefined> } };
  return host.process?.env?.[name];
}
