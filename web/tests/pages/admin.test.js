// The administration: keys, people, secrets, credentials, tenants and the audit, on a server that asks who calls.
import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { api, BASE, judged, looked, openBrowser, picture, triedAgain, until } from "../browser.js";
import { approval, save } from "../shop.js";
import { go, keysOfRoles, REFUSED, signIn } from "../sign_in.js";

/** As long as a name may be. */
const LONG = `acme-${"and-its-many-daughters-".repeat(3)}`.slice(0, 63);
let browser;
let page;

beforeEach(() => page?.forget());
before(async () => {
  const keys = await keysOfRoles();
  await save(approval);
  browser = await openBrowser();
  page = await browser.page({ path: "/admin" });
  await signIn(page, keys["instance-admin"]);
});
after(async () => await browser?.close());

test("a key is created, shown once, used and revoked", async () => {
  await go(page, "/admin/keys");
  await page.getByRole("button", { name: "Create a key…" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Name").fill("deploy");
  await dialog.getByLabel("What it may do").selectOption("scopes");
  await dialog.getByLabel("workflows:read").check();
  await dialog.getByLabel("Workflows that it may start").fill("discount-approval");
  await judged(page, "create a key", REFUSED);
  await picture(page, "key-create");
  await dialog.getByRole("button", { name: "Create it" }).click();
  const key = await page.getByRole("dialog", { name: "The key deploy" }).locator("code").first().textContent();
  assert.match(key, /^dk_[a-z0-9]{8}_/);
  await picture(page, "key-made");
  await page.getByRole("button", { name: "I have stored it" }).click();
  const row = page.getByRole("row").filter({ hasText: "deploy" });
  await row.getByText("2 scopes").waitFor();
  const asked = () => fetch(new URL("/api/v1/me", BASE), { headers: { authorization: `Bearer ${key}` } });
  assert.equal((await asked()).status, 200);
  assert.ok(!(await page.content()).includes(key), "it is shown once");
  await row.getByRole("button", { name: "Revoke deploy…" }).click();
  await page.getByRole("button", { name: "Revoke it" }).click();
  await row.getByText("Revoked").waitFor();
  await until("the key is refused", async () => (await asked()).status === 401);
});

test("people are added and changed, secrets set and deleted, and no value is shown", async () => {
  await go(page, "/admin/people");
  await page.getByRole("button", { name: "Add a person…" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Name", { exact: true }).fill("grace");
  await dialog.getByLabel("Role").selectOption("editor");
  await dialog.getByLabel("Password").fill("too short");
  await dialog.getByText("At least 12 characters").waitFor();
  await dialog.getByLabel("Password").fill("a long enough one");
  await dialog.getByRole("button", { name: "Add" }).click();
  const person = page.getByRole("row").filter({ hasText: "grace" });
  await person.getByText("Active").waitFor();
  await person.getByRole("button", { name: "Change grace…" }).click();
  await dialog.getByLabel(/^Disabled/).check();
  await dialog.getByRole("button", { name: "Save" }).click();
  await person.getByText("Disabled").waitFor();

  await go(page, "/admin/secrets");
  await page.getByText("No secret yet").waitFor();
  await page.getByRole("button", { name: "Set a secret…" }).click();
  await dialog.getByLabel("Name").fill("STRIPE_KEY");
  await dialog.getByLabel("Value").fill("sk_live_canary_7731");
  await dialog.getByLabel(/^Hosts/).fill("api.stripe.com");
  await dialog.getByRole("button", { name: "Set it" }).click();
  const secret = page.getByRole("row").filter({ hasText: "STRIPE_KEY" });
  await secret.getByText("api.stripe.com").waitFor();
  await secret.getByText("key instance-admin").waitFor();
  assert.ok(!(await page.content()).includes("canary"), "no value is shown");

  await go(page, "/admin/credentials");
  await page.getByText("No credential yet").waitFor();
  await page.getByRole("button", { name: "Set a credential…" }).click();
  await dialog.getByLabel("Name").fill("crm");
  await dialog.getByLabel("Kind").selectOption("oauth2_code");
  await dialog.getByLabel("Address where a person agrees").fill("https://id.example.com/authorize");
  await dialog.getByLabel("Address for tokens").fill("https://id.example.com/token");
  await dialog.getByLabel("Client id").fill("detent");
  await picture(page, "credential-set");
  await dialog.getByLabel(/^Hosts/).fill("crm.example.com");
  await dialog.getByRole("button", { name: "Set it" }).click();
  const credential = page.getByRole("row").filter({ hasText: "crm" });
  await credential.getByText("Not connected").waitFor();
  await credential.getByRole("button", { name: "Connect…" }).click();
  await dialog.getByRole("button", { name: "Go to the provider" }).waitFor();
  await page.keyboard.press("Escape");
});

test("the audit says who did that, narrowed by filters", async () => {
  await go(page, "/admin/audit?object=STRIPE_KEY");
  const rows = page.getByRole("list", { name: "Audit" }).getByRole("listitem");
  await rows.filter({ hasText: "Set secret" }).click();
  const detail = page.getByRole("complementary", { name: "Row of the audit" });
  await detail.getByText("key instance-admin").waitFor();
  await picture(page, "audit-row");
  assert.ok(!(await page.content()).includes("canary"), "no value is in the audit");
  await page.keyboard.press("Escape");
  await page.getByLabel("Object").fill("");
  await page.getByLabel("Operation").fill("revoke_key");
  await page.keyboard.press("Enter");
  await rows.filter({ hasText: "Revoke key" }).waitFor();
  assert.equal(await rows.count(), 1);
  const [address] = await page.getByRole("link", { name: "Export" }).evaluateAll((all) => all.map((one) => one.href));
  const lines = await page.evaluate(async (url) => (await fetch(url)).text(), address);
  assert.deepEqual(lines.trim().split("\n").map((line) => JSON.parse(line).action), ["revoke_key"]);
  await page.getByLabel("Operation").fill("nothing");
  await page.keyboard.press("Enter");
  await page.getByText("Nothing in the audit matches").waitFor();
});

test("a tenant is created with a key, suspended, resumed, exported and deleted for good", async () => {
  await go(page, "/admin/tenants");
  const dialog = page.getByRole("dialog");
  await page.getByRole("row").filter({ hasText: "yours" }).getByText("default").waitFor();
  await page.getByRole("button", { name: "Create a tenant…" }).click();
  await dialog.getByLabel("Name").fill("Acme Ltd");
  await dialog.getByText("a letter first").waitFor();
  await dialog.getByLabel("Name").fill("default");
  await dialog.getByRole("button", { name: "Create it" }).click();
  await dialog.getByRole("alert").getByText("already").waitFor();
  await dialog.getByLabel("Name").fill(LONG);
  await page.keyboard.press("Enter");
  // A tenant has nothing yet, so its first key is offered.
  await page.getByRole("dialog", { name: `Create a key of ${LONG}` }).getByRole("button", { name: "Create it" }).click();
  const key = await page.getByRole("dialog", { name: /^The key/ }).locator("code").first().textContent();
  await picture(page, "tenant-key");
  await page.getByRole("button", { name: "I have stored it" }).click();
  const asked = async () => {
    const answer = await fetch(new URL("/api/v1/me", BASE), { headers: { authorization: `Bearer ${key}` } });
    return answer.ok ? (await answer.json()).data.caller.tenant : answer.status;
  };
  assert.equal(await asked(), LONG);
  const row = page.getByRole("row").filter({ hasText: LONG });
  const [saved] = await Promise.all([page.waitForEvent("download"), row.getByRole("button", { name: `Export ${LONG}` }).click()]);
  assert.equal(saved.suggestedFilename(), `${LONG}.jsonl`);
  let lines = "";
  for await (const part of await saved.createReadStream()) lines += part;
  const tables = lines.trim().split("\n").map((line) => JSON.parse(line).table);
  assert.ok(tables.includes("tenant") && tables.includes("api_key"), tables.join());
  const act = async (name, word) => {
    await row.getByRole("button", { name: `${name} ${LONG}…` }).click();
    await dialog.getByRole("button", { name: word }).click();
  };
  await row.getByRole("button", { name: `Limits of ${LONG}…` }).click();
  await dialog.getByLabel("Actions that it may also use").fill("slack.* billing.charge");
  await dialog.getByLabel("Hosts that its steps may reach").fill("no host at all!");
  await dialog.getByRole("button", { name: "Save" }).click();
  await dialog.getByRole("alert").getByText("egress").waitFor();
  await dialog.getByLabel("Hosts that its steps may reach").fill("api.example.com");
  await dialog.getByLabel(/^Days/).fill("30");
  await picture(page, "tenant-limits");
  await page.keyboard.press("Enter");
  for (const words of ["slack.*, billing.charge", "api.example.com", "30 days"]) await row.getByText(words).waitFor();
  await act("Suspend", "Suspend it");
  await row.getByText("Suspended").waitFor();
  await until("its key is refused", async () => (await asked()) === 403);
  await act("Resume", "Resume it");
  await row.getByText("Active").waitFor();
  await until("its key is accepted", async () => (await asked()) === LONG);
  await act("Suspend", "Suspend it");
  await row.getByRole("button", { name: `Delete ${LONG}…` }).click();
  assert.equal(await dialog.getByRole("button", { name: "Delete it for good" }).isEnabled(), false);
  await dialog.getByLabel(`Type ${LONG} to delete it`).fill(LONG);
  await judged(page, "delete a tenant", [...REFUSED, "status of 400", "status of 409"]);
  await picture(page, "tenant-delete");
  await dialog.getByRole("button", { name: "Delete it for good" }).click();
  await row.waitFor({ state: "detached" });
  await until("its key is gone", async () => (await asked()) === 401);
  assert.deepEqual(page.odd([...REFUSED, "status of 400", "status of 409"]), []);
});

test("lists that cannot be had say why, and can be tried again", async () => {
  let isBroken = true;
  const refusal = { status: 500, contentType: "application/json", body: JSON.stringify({ error: "internal", message: "the disk is full" }) };
  await page.route(/\/api\/v1\/(secrets|tenants|audit)\b/, (route) => (isBroken ? route.fulfill(refusal) : route.continue()));
  for (const [name, words, there] of [
    ["secrets", "The secrets could not be listed", "STRIPE_KEY"],
    ["tenants", "The tenants could not be listed", "with the installation"],
    ["audit", "The audit could not be", "Set secret"],
  ]) {
    isBroken = true;
    await page.goto(new URL(`/admin/${name}`, BASE).href);
    await page.getByRole("alert").filter({ hasText: words }).getByText("the disk is full").waitFor();
    await picture(page, `admin-${name}-failed`);
    isBroken = false;
    await triedAgain(page, page.locator("#main").getByText(there));
  }
  assert.deepEqual(page.odd(["500"]), []);
  await page.unroute(/\/api\/v1\/(secrets|tenants|audit)\b/);
});

test("each view of the administration is readable in both themes and on a phone", async () => {
  // Names as long as names may be, in every list.
  await api("POST", "/tenants", { name: LONG.replace("acme", "shop") });
  await api("POST", "/keys", { name: "n".repeat(100), role: "viewer" });
  await page.close();
  for (const name of ["keys", "people", "sessions", "secrets", "credentials", "tenants"]) {
    await looked(browser, `/admin/${name}`, `admin-${name}`, (view) => view.getByRole("table", { name }).waitFor());
  }
  await looked(browser, "/admin/audit", "admin-audit", (view) => view.getByRole("list", { name: "Audit" }).getByRole("listitem").first().waitFor());
});
