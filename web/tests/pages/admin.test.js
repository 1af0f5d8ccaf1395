// Signing in, what each role may do, and the administration, on a server that asks who calls.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { api, BASE, judged, looked, openBrowser, picture, tabTo, until, withoutMouse } from "../browser.js";
import { approval, save, start } from "../shop.js";

/** What a browser notes when the server refuses. */
const REFUSED = ["status of 401", "status of 429"];
const ROLES = ["viewer", "operator", "editor", "admin"];
const keys = {};
let browser;
let page;
let run;

before(async () => {
  for (const role of ROLES) keys[role] = (await api("POST", "/keys", { name: role, role })).key;
  await api("POST", "/users", { name: "ada", role: "operator", display_name: "Ada Lovelace", password: "correct horse battery" });
  await save(approval);
  run = (await start("discount-approval", { customer: "Ada", discount: 25 })).run_id;
  browser = await openBrowser();
});
after(async () => await browser?.close());

const cover = () => page.getByRole("dialog", { name: "Sign in" });
/** Goes to a view as a person does who follows a link. */
const go = (path) => page.evaluate((place) => history.pushState(null, "", place), path);

async function signIn(key) {
  await cover().waitFor();
  await cover().getByRole("tab", { name: "API key" }).click();
  await cover().getByLabel("API key").fill(key);
  await page.keyboard.press("Enter");
  await cover().waitFor({ state: "detached" });
}

async function signOut() {
  await page.getByRole("button", { name: /^You are/ }).click();
  await page.getByRole("menuitem", { name: "Sign out" }).waitFor();
  await picture(page, "who");
  await page.getByRole("menuitem", { name: "Sign out" }).click();
  await cover().waitFor();
}

/** Whether a button works; one that does not says which scope is missing. */
async function works(button, scope) {
  await button.first().waitFor();
  if ((await button.first().getAttribute("aria-disabled")) === null) return true;
  await until("it says why", async () => {
    await page.locator("#main").focus();
    await button.first().focus();
    return (await page.getByRole("tooltip").filter({ hasText: scope }).count()) > 0;
  });
  return false;
}

test("a person signs in by keyboard, is told what was wrong, and goes on where they were", async () => {
  page = await browser.page({ path: "/workflows?status=active", size: "phone" });
  const mouse = await withoutMouse(page);
  await cover().getByLabel("Name").waitFor();
  await judged(page, "sign in on a phone", REFUSED);
  await picture(page, "sign-in-phone");
  await tabTo(page, cover().getByRole("tab", { name: "Password" }), "Shift+Tab");
  await page.keyboard.press("ArrowRight");
  await tabTo(page, cover().getByLabel("API key"));
  await page.keyboard.type("dk_aaaaaaaa_wrong");
  await page.keyboard.press("Enter");
  await cover().getByRole("alert").getByText("not valid").waitFor();
  await picture(page, "sign-in-refused");
  await page.keyboard.press("Control+a");
  await page.keyboard.type(keys.viewer);
  await page.keyboard.press("Enter");
  await page.getByRole("link", { name: "discount-approval" }).first().waitFor();
  assert.equal(new URL(page.url()).search, "?status=active");
  await mouse.assertUnused();
  await page.setViewportSize({ width: 1280, height: 800 });
});

test("each role can do what it may, and reads why not for the rest", async () => {
  const seen = {};
  for (const role of ROLES) {
    if (role !== "viewer") {
      await signOut();
      await signIn(keys[role]);
    }
    await page.getByRole("button", { name: new RegExp(`^You are .*${role}$`) }).waitFor();
    await go(`/runs/${run}`);
    const executes = await works(page.getByRole("button", { name: "Answer…" }), "workflows:execute");
    assert.equal(await works(page.getByRole("button", { name: "Pause" }), "workflows:execute"), executes);
    if (!executes) await picture(page, "denied");
    await go("/workflows/discount-approval");
    await page.getByRole("button", { name: "More that can be done" }).click();
    const disable = page.getByRole("menuitem", { name: "Disable…" });
    await disable.waitFor();
    const manages = (await disable.getAttribute("aria-disabled")) === null;
    if (!manages) await disable.getByText("workflows:manage").waitFor();
    await page.keyboard.press("Escape");
    await go("/admin");
    const views = page.getByRole("navigation", { name: "Views of the administration" }).getByRole("link");
    await views.first().waitFor();
    const tabs = await views.allTextContents();
    seen[role] = { executes, manages, tabs };
    await go("/system");
    await page.getByRole("link", { name: "Dead letters" }).first().waitFor();
    assert.equal(await page.getByRole("link", { name: "Nodes and queues" }).count(), 0);
    if (role === "viewer") await judged(page, "what a viewer may not", REFUSED);
  }
  assert.deepEqual(seen, {
    viewer: { executes: false, manages: false, tabs: ["Sessions"] },
    operator: { executes: true, manages: false, tabs: ["Sessions"] },
    editor: { executes: true, manages: true, tabs: ["Sessions"] },
    admin: { executes: true, manages: true, tabs: ["Keys", "People", "Sessions", "Secrets", "Credentials", "Audit"] },
  });
  // An address that the role may not see says so, and asks nothing.
  assert.deepEqual(page.odd(REFUSED), []);
});

test("a key is created, shown once, used and revoked", async () => {
  await go("/admin/keys");
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
  await go("/admin/people");
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

  await go("/admin/secrets");
  await page.getByText("No secret yet").waitFor();
  await page.getByRole("button", { name: "Set a secret…" }).click();
  await dialog.getByLabel("Name").fill("STRIPE_KEY");
  await dialog.getByLabel("Value").fill("sk_live_canary_7731");
  await dialog.getByLabel(/^Hosts/).fill("api.stripe.com");
  await dialog.getByRole("button", { name: "Set it" }).click();
  const secret = page.getByRole("row").filter({ hasText: "STRIPE_KEY" });
  await secret.getByText("api.stripe.com").waitFor();
  await secret.getByText("key admin").waitFor();
  assert.ok(!(await page.content()).includes("canary"), "no value is shown");

  await go("/admin/credentials");
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
  await go("/admin/audit?object=STRIPE_KEY");
  const rows = page.getByRole("list", { name: "Audit" }).getByRole("listitem");
  await rows.filter({ hasText: "Set secret" }).click();
  const detail = page.getByRole("complementary", { name: "Row of the audit" });
  await detail.getByText("key admin").waitFor();
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

test("a session that is ended elsewhere asks to sign in, and what was written stays", async () => {
  await go("/admin/secrets");
  await page.getByRole("button", { name: "Set STRIPE_KEY again…" }).click();
  await page.getByLabel("New value").fill("half written");
  const sessions = await api("GET", "/sessions?all=true");
  for (const one of sessions) await api("DELETE", `/sessions/${one.id}`);
  await signIn(keys.admin);
  assert.equal(await page.getByLabel("New value").inputValue(), "half written");
  await page.keyboard.press("Escape");
  assert.deepEqual(page.odd(REFUSED), []);
  // Another person begins with a page of their own.
  await signOut();
  await cover().getByRole("tab", { name: "Password" }).click();
  await cover().getByLabel("Name").fill("ada");
  await cover().getByLabel("Password").fill("wrong horse battery");
  await page.keyboard.press("Enter");
  await cover().getByRole("alert").getByText("not correct").waitFor();
  await cover().getByLabel("Password").fill("correct horse battery");
  await page.keyboard.press("Enter");
  await page.getByText("You may not see this").waitFor();
  await page.getByRole("button", { name: "You are Ada Lovelace" }).waitFor();
  await go("/admin/sessions");
  await page.getByText("this browser").waitFor();
  await signOut();
  await signIn(keys.admin);
  await page.close();
});

test("each view of the administration is readable in both themes and on a phone", async () => {
  for (const name of ["keys", "people", "sessions", "secrets", "credentials"]) {
    await looked(browser, `/admin/${name}`, `admin-${name}`, (view) => view.getByRole("table", { name }).waitFor());
  }
  await looked(browser, "/admin/audit", "admin-audit", (view) => view.getByRole("list", { name: "Audit" }).getByRole("listitem").first().waitFor());
});
