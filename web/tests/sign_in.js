// Signs people in and out, as a person does.
import assert from "node:assert/strict";
import { api, BASE, picture, until } from "./browser.js";

/** What a browser notes when the server refuses. */
export const REFUSED = ["status of 401", "status of 429"];
export const ROLES = ["viewer", "operator", "editor", "admin", "instance-admin"];

/** A key of each role. */
export async function keysOfRoles() {
  const made = await Promise.all(ROLES.map((role) => api("POST", "/keys", { name: role, role })));
  return Object.fromEntries(made.map(({ name, key }) => [name, key]));
}

/** The cookie of a new session. */
export async function sessionOf(proof) {
  const headers = { "x-detent": "1", "content-type": "application/json" };
  const answer = await fetch(new URL("/login", BASE), { method: "POST", headers, body: JSON.stringify(proof) });
  assert.equal(answer.status, 204, await answer.text());
  return answer.headers.get("set-cookie").split(";")[0].split("=")[1];
}

/** Puts a session into the profile of a page, as if its person had signed in before. */
export async function enter(page, proof) {
  await page.context().addCookies([{ name: "detent", value: await sessionOf(proof), url: BASE }]);
}

/** Goes to a view as a person does who follows a link. */
export const go = (page, path) => page.evaluate((place) => history.pushState(null, "", place), path);

/** What covers a page until a person has signed in. */
export const coverOf = (page) => page.getByRole("dialog", { name: "Sign in" });

export async function signIn(page, key) {
  const cover = coverOf(page);
  await cover.getByRole("tab", { name: "API key" }).click();
  await cover.getByLabel("API key").fill(key);
  await page.keyboard.press("Enter");
  await cover.waitFor({ state: "detached" });
}

export async function signOut(page) {
  await page.getByRole("button", { name: /^You are/ }).click();
  const way = page.getByRole("menuitem", { name: "Sign out" });
  await way.waitFor();
  await picture(page, "who");
  await way.click();
  await coverOf(page).waitFor();
}

/** Whether a button works. */
export async function works(button) {
  await button.first().waitFor();
  return (await button.first().getAttribute("aria-disabled")) === null;
}

/** Waits until a button that does not work has said why. */
export async function saysWhy(page, button, words) {
  await until("it says why", async () => {
    await page.locator("#main").focus();
    await button.first().focus();
    return (await page.getByRole("tooltip").filter({ hasText: words }).count()) > 0;
  });
}
