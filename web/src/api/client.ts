/** The one client of the API. Everything that asks the server goes through here. */
import { DetentError, Http } from "detent-client";
import { markOut, signInState } from "./sign_in";

/** Where this page is served, with a slash at the end: `http://host/` or `http://host/prefix/`. */
export const base = new URL("./", document.baseURI).href;

/** The path of `base` without its last slash, for the router: `` or `/prefix`. */
export const basePath = new URL(base).pathname.replace(/\/$/, "");

/** The page names its routes itself, so that it does not load what it never asks. The header says that it is this page
 * that asks: with the cookie of a session the server takes no change without it. */
export const HEADERS = { "x-detent": "1" };
const client = new Http({ baseUrl: base, retries: 2, headers: HEADERS });

/** Ask, unless the page waits for a person to sign in. An answer that the server does not know who asks makes it wait. */
export async function asked<T>(ask: () => Promise<T>): Promise<T> {
  const { isOut, era } = signInState();
  if (isOut) throw new DetentError("sign in first", { status: 401 });
  try {
    return await ask();
  } catch (error) {
    if (error instanceof DetentError && error.status === 401) markOut(era);
    throw error;
  }
}

export type Query = Record<string, string | number | boolean | readonly (string | number)[] | undefined>;

/** The address of a route of the API, for links and streams. */
export function address(path: string, query: Query = {}): string {
  const url = new URL(path.replace(/^\//, ""), base);
  for (const [name, value] of Object.entries(query)) {
    for (const one of Array.isArray(value) ? value : [value]) {
      if (one !== undefined && one !== "") url.searchParams.append(name, String(one));
    }
  }
  return url.href;
}

/** The answer of a route. `T` is a type of `documents.ts`: the caller says what the route answers with. */
export async function read<T>(path: string, query: Query = {}, signal?: AbortSignal): Promise<T> {
  return asked(async () => (await client.call("get", path as never, { query: query as never, signal })) as T);
}

/** The answer of a route, and its tag for `If-Match`. */
export async function readTagged<T>(path: string, signal?: AbortSignal): Promise<{ answer: T; etag: string }> {
  const response = await asked(() => client.send("get", path as never, { signal }));
  return { answer: (await response.json()) as T, etag: response.headers.get("etag") ?? "" };
}

/** Send a body to a route, or a `text` as it is. With `repeatable` it may be sent again when its answer is lost.
 * `patience` are further seconds that the server may take. */
export async function write<T>(
  method: "post" | "put" | "patch" | "delete",
  path: string,
  body?: unknown,
  options: { headers?: Record<string, string>; repeatable?: boolean; query?: Query; text?: string; patience?: number } = {},
): Promise<T> {
  const { headers, repeatable, query, text, patience } = options;
  const parts = {
    ...(body === undefined ? {} : { body: body as never }),
    ...(headers === undefined ? {} : { headers }),
    ...(repeatable === undefined ? {} : { repeatable }),
    ...(query === undefined ? {} : { query: query as never }),
    ...(text === undefined ? {} : { text }),
    ...(patience === undefined ? {} : { patience }),
  };
  const response = await asked(() => client.send(method as "post", path as never, parts as never));
  return (response.status === 204 ? undefined : await response.json()) as T;
}

/** A path with its values escaped: ``path`/api/v1/runs/${id}` ``. */
export function path(texts: TemplateStringsArray, ...values: (string | number)[]): string {
  return texts.reduce((whole, text, i) => whole + encodeURIComponent(String(values[i - 1])) + text);
}

/** What to tell a person about an error: what happened, and what to do if the server said so. */
export function saying(error: unknown): string {
  if (error instanceof DetentError) {
    const where = error.problems.map((one) => [one.field, one.message].filter(Boolean).join(": "));
    const what = error.status === 403 ? `You may not do this: ${error.message}` : error.message;
    return [what, ...where].filter(Boolean).join(". ");
  }
  return error instanceof Error ? error.message : String(error);
}

/** Whether the server does not know the route: it is older than this page. */
export function isMissing(error: unknown): boolean {
  return error instanceof DetentError && (error.status === 404 || error.status === 405);
}

/** Whether the server refuses the request itself, so that asking again would not help. It helps after a sign-in (401) and
 * a pause (429). */
export function isRefusal(error: unknown): boolean {
  return error instanceof DetentError && error.status >= 400 && error.status < 500 && error.status !== 401 && error.status !== 429;
}
