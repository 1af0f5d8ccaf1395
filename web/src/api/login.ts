/** Signing in and out. It speaks for a caller that the server does not know yet, so it asks by itself. */
import { type components, refusalOf } from "detent-client";
import { cache } from "./cache";
import { address, HEADERS } from "./client";
import type { Me, One } from "./documents";
import { markIn, markOut, signInState } from "./sign_in";
import { callerOf, tellTabs } from "./tabs";

/** How a person can sign in here. */
export type LoginMethods = components["schemas"]["LoginMethods"];
export type Proof = { key: string } | { name: string; password: string };

async function send(method: string, path: string, body?: unknown): Promise<Response> {
  const json = body === undefined ? {} : { body: JSON.stringify(body) };
  const headers = { ...HEADERS, accept: "application/json", ...(body === undefined ? {} : { "content-type": "application/json" }) };
  const response = await fetch(address(path), { method, headers, ...json });
  if (!response.ok) throw await refusalOf(response);
  return response;
}

export async function loginMethods(): Promise<LoginMethods> {
  return ((await (await send("GET", "/api/v1/login-methods")).json()) as One<LoginMethods>).data;
}

/** Begin a session. What the same person was doing goes on; another one begins with an empty page. */
export async function signIn(proof: Proof): Promise<void> {
  await send("POST", "/login", proof);
  tellTabs(await enter());
}

/** Go on as the person whose session this browser has by now. */
export async function enter(): Promise<Me> {
  const me = ((await (await send("GET", "/api/v1/me")).json()) as One<Me>).data;
  const before = cache.getQueryData<Me>(["me"]);
  const isSame = before !== undefined && callerOf(before) === callerOf(me);
  if (!isSame) cache.clear();
  cache.setQueryData(["me"], me);
  markIn(isSame);
  if (isSame) await cache.invalidateQueries();
  return me;
}

/** End the session of this browser. */
export async function signOut(): Promise<void> {
  await send("POST", "/logout");
  tellTabs(null);
  cache.clear();
  markOut(signInState().era);
}
