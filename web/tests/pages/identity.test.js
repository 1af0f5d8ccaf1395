// Signing in and out by every way, what each role sees, and credentials that a person connects.
import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { api, BASE, judged, openBrowser, picture, tabTo, triedAgain, until, withoutMouse } from "../browser.js";
import { approval, ended, report, save, start } from "../shop.js";
import { coverOf, enter, go, keysOfRoles, REFUSED, ROLES, saysWhy, sessionOf, signIn, signOut, works } from "../sign_in.js";

/** The provider of accounts; a browser sees it as another site. */
const ACCOUNTS = process.env.DETENT_ACCOUNTS;
const AGREES = ACCOUNTS.replace("127.0.0.1", "localhost");
const EXPECTED = [...REFUSED, "foreign request: http://localhost"];
const EXECUTE = "workflows:execute";
const MANAGE = "workflows:manage";
const SCOPES = { viewer: [], operator: [EXECUTE], editor: [EXECUTE, MANAGE], admin: [EXECUTE, MANAGE] };
/** What the server refused to a page that had asked. */
const forbidden = [];
let browser;
let keys;
let page;
let alert;
let failed;
let run;

beforeEach(async () => await page?.context().clearCookies());

before(async () => {
  keys = await keysOfRoles();
  await api("POST", "/users", { name: "ada", role: "operator", display_name: "Ada Lovelace", password: "correct horse battery" });
  await save(approval);
  await save({ ...approval, description: "Asks a person before any discount" }, "?draft=true");
  await save(report);
  await save({ name: "broken", tasks: { ask: { url: "http://127.0.0.1:9/", retries: 0 } } });
  run = (await start("discount-approval", { customer: "Ada", discount: 25 })).run_id;
  failed = (await start("broken")).run_id;
  await api("POST", "/entities", { name: "order", title: "Order" });
  const tell = { name: "Tell", action_type: "create_alert", action_config: { alert_type: "orders", severity: "high", title: "A big order", message: "Look at it" } };
  await api("POST", "/rules", { name: "Big orders", entity: "order", trigger_type: "on_create", is_active: true, actions: [tell], edges: [{ source_action_id: null, target_action_id: "temp:0", edge_type: "start" }] });
  await api("POST", "/events/entity?wait=60s", { entity: "order", operation: "create", id: "17", after: { total: 9000 } });
  alert = (await until("there is an alert", async () => (await api("GET", "/alerts"))[0])).id;
  await ended(failed);
  browser = await openBrowser();
});
after(async () => await browser?.close());

const cover = () => coverOf(page);
const opened = async (options) => {
  const made = await browser.page(options);
  made.on("response", (response) => response.status() === 403 && forbidden.push(response.url()));
  return made;
};
/** Opens a path in the page of all tests, as a person who has signed in before. No test needs what another one left. */
async function at(path, proof) {
  if (!page || page.isClosed()) page = await opened({ path: "/login" });
  if (proof) await enter(page, proof);
  await page.goto(new URL(path, BASE).href);
  page.forget();
}

test("a server that cannot say how to sign in is asked again", async () => {
  await at("/login");
  await page.route("**/api/v1/login-methods", (route) => route.fulfill({ status: 500, json: { error: "internal", message: "the disk is full" } }));
  await page.goto(new URL("/runs", BASE).href);
  await cover().getByRole("alert").getByText("the disk is full").waitFor();
  await picture(page, "sign-in-failed");
  await page.unroute("**/api/v1/login-methods");
  await triedAgain(cover(), cover().getByLabel("Name"));
  assert.deepEqual(page.odd([...REFUSED, "500"]), []);
  await page.close();
});

test("a person signs in by keyboard on a phone, is told what was wrong, and goes on where they were", async () => {
  page = await opened({ path: "/workflows?status=active", size: "phone", theme: "dark" });
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
  await page.emulateMedia({ colorScheme: "light", reducedMotion: "reduce" });
});

/** Where buttons are, and which scope each needs. */
const OFFERS = () => [
  ["/runs", { "Start a run": EXECUTE }],
  [`/runs/${run}?step=approve-discount`, { "Answer…": EXECUTE, Pause: EXECUTE, "Cancel…": EXECUTE, "Skip…": EXECUTE }],
  [`/runs/${failed}`, { "Retry…": EXECUTE, "Run again…": EXECUTE, "Run again from here…": EXECUTE, "Fork with output…": EXECUTE }],
  ["/workflows/discount-approval", { "Start a run…": EXECUTE, "Publish…": MANAGE }],
  ["/triggers/schedules", { "Fill the past…": EXECUTE, "Fire now…": EXECUTE, "Pause…": MANAGE }],
  ["/rules", { "New rule…": MANAGE }],
  ["/rules/big-orders", { "Edit…": MANAGE }],
  ["/entities", { "Add an entity…": MANAGE }],
  ["/entities/order", { "Edit…": MANAGE, "Delete the entity…": MANAGE }],
  [`/alerts?alert=${alert}`, { "Acknowledge it": EXECUTE, "Resolve it": EXECUTE }],
  ["/catalog", { "Import a service…": MANAGE }],
  ["/connectors/confluence", { "Disable…": MANAGE }],
  ["/actions/core.echo", { "Disable…": MANAGE }],
  ["/templates/nightly-report-to-email", { "Make a draft of it": MANAGE }],
  ["/inbox", { "Yes, approved": EXECUTE, "No, not approved": EXECUTE }],
];

async function worksAsItMay(role) {
  const said = new Set(SCOPES[role]);
  for (const [path, buttons] of OFFERS()) {
    await go(page, path);
    for (const [name, scope] of Object.entries(buttons)) {
      const [main, given] = [page.locator("#main"), { name, exact: true }];
      const button = main.getByRole("button", given).or(main.getByRole("link", given));
      assert.equal(await works(button), SCOPES[role].includes(scope), `${name} at ${path} as ${role}`);
      if (said.has(scope)) continue;
      said.add(scope);
      await saysWhy(page, button, scope);
    }
  }
}

/** What a menu offers, and what the views of the system and of the administration are. */
async function viewsOf() {
  await go(page, "/workflows/discount-approval");
  await page.getByRole("button", { name: "More that can be done" }).click();
  const disable = page.getByRole("menuitem", { name: "Disable…" });
  await disable.waitFor();
  const manages = (await disable.getAttribute("aria-disabled")) === null;
  if (!manages) await disable.getByText(MANAGE).waitFor();
  await page.keyboard.press("Escape");
  await go(page, "/system");
  await page.getByRole("link", { name: "Dead letters" }).first().waitFor();
  const nodes = await page.getByRole("link", { name: "Nodes and queues" }).count();
  await go(page, "/admin");
  const views = page.getByRole("navigation", { name: "Views of the administration" }).getByRole("link");
  await views.first().waitFor();
  return { manages, nodes, views: await views.allTextContents() };
}

test("each role can do what it may, reads which scope the rest needs, and no request of it is refused", async () => {
  const seen = {};
  await at("/runs", { key: keys.viewer });
  for (const role of ROLES) {
    if (role !== "viewer") {
      await signOut(page);
      await signIn(page, keys[role]);
    }
    await page.getByRole("button", { name: new RegExp(`^You are .*${role}$`) }).waitFor();
    if (role !== "instance-admin") await worksAsItMay(role);
    seen[role] = await viewsOf();
    if (role === "viewer") await judged(page, "what a viewer may not", REFUSED);
  }
  const all = ["Keys", "People", "Sessions", "Secrets", "Credentials", "Audit"];
  assert.deepEqual(seen, {
    viewer: { manages: false, nodes: 0, views: ["Sessions"] },
    operator: { manages: false, nodes: 0, views: ["Sessions"] },
    editor: { manages: true, nodes: 0, views: ["Sessions"] },
    admin: { manages: true, nodes: 0, views: all },
    "instance-admin": { manages: true, nodes: 1, views: [...all, "Tenants"] },
  });
  assert.deepEqual(forbidden, []);
  assert.deepEqual(page.odd(REFUSED), []);
});

test("an address or a key that opens a dialog says which scope is missing, and asks nothing", async () => {
  await at("/runs", { key: keys.viewer });
  const refusal = page.getByRole("dialog", { name: "You may not do this" });
  const trigger = (await api("GET", `/triggers?workflow=${report.name}`))[0].id;
  const opens = [
    [`/runs/${run}?do=answer`, EXECUTE],
    ["/workflows/discount-approval?do=move&target=1", EXECUTE],
    ["/workflows/discount-approval?do=start", EXECUTE],
    [`/triggers/schedules?do=pause&trigger=${trigger}`, MANAGE],
    ["/rules?do=new", MANAGE],
    ["/rules/big-orders?do=delete", MANAGE],
    ["/entities/order?do=edit", MANAGE],
  ];
  for (const [path, scope] of opens) {
    await go(page, path);
    await refusal.getByText(scope).waitFor();
    await page.keyboard.press("Escape");
    await refusal.waitFor({ state: "detached" });
  }
  await go(page, "/runs");
  await page.getByRole("link", { name: "discount-approval" }).first().waitFor();
  await page.keyboard.press("n");
  await refusal.getByText(EXECUTE).waitFor();
  await picture(page, "not-allowed");
  await page.keyboard.press("Escape");
  await go(page, "/admin/tenants");
  await page.getByText("You may not see this").waitFor();
  // A key that may start one workflow only is offered that one only.
  const limited = await api("POST", "/keys", { name: "starter", scopes: ["workflows:read", EXECUTE], workflows: ["broken"] });
  await signOut(page);
  await signIn(page, limited.key);
  await go(page, `/runs/${run}`);
  assert.equal(await works(page.getByRole("button", { name: "Cancel…" })), false);
  await go(page, "/workflows/discount-approval?do=start");
  await refusal.getByText("may start only broken").waitFor();
  await page.keyboard.press("Escape");
  await go(page, "/runs");
  await page.getByRole("button", { name: "Start a run" }).click();
  const choice = page.getByRole("dialog", { name: "Start a run" }).getByLabel("Workflow");
  await choice.getByRole("option", { name: "broken" }).waitFor({ state: "attached" });
  assert.deepEqual(await choice.getByRole("option").allTextContents(), ["broken"]);
  await page.keyboard.press("Escape");
  assert.deepEqual(forbidden, []);
});

test("a person signs in at the identity provider, and goes on where they were in every tab", async () => {
  await at("/workflows/discount-approval?version=1");
  const other = await opened({ path: "/workflows" });
  await coverOf(other).waitFor();
  await cover().getByRole("link", { name: /^Sign in with 127\.0\.0\.1:\d+$/ }).click();
  await page.getByRole("link", { name: "Refuse" }).click();
  await page.getByRole("alert").getByText("did not confirm the login").waitFor();
  await picture(page, "oidc-refused");
  await page.goto(new URL("/workflows/discount-approval?version=1", BASE).href);
  await picture(page, "sign-in");
  await cover().getByRole("link", { name: /^Sign in with/ }).click();
  await page.getByRole("link", { name: "Agree" }).click();
  await page.getByRole("button", { name: "You are Doug" }).waitFor();
  assert.equal(page.url(), new URL("/workflows/discount-approval?version=1", BASE).href);
  // The groups of the provider make an editor of Doug.
  assert.equal(await works(page.getByRole("button", { name: "Publish…" })), true);
  await other.getByRole("link", { name: "discount-approval" }).first().waitFor();
  await coverOf(other).waitFor({ state: "detached" });
  await other.getByRole("button", { name: "You are Doug" }).waitFor();
  await go(page, "/admin/sessions");
  await page.getByRole("row").filter({ hasText: "this browser" }).getByText("Identity provider").waitFor();
  // Signing out in one tab is signing out in all; another person begins with a page of their own.
  await signOut(other);
  await cover().waitFor();
  await signIn(page, keys.viewer);
  await other.getByRole("button", { name: /^You are .*viewer$/ }).waitFor();
  await other.close();
  assert.deepEqual(page.odd([...EXPECTED, "status of 4"]), []);
});

/** The dialog in which a credential is connected, up to the page of the provider. */
async function toProvider(word) {
  await page.getByRole("row").filter({ hasText: "notes" }).getByRole("button", { name: word }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Go to the provider" }).click();
}

test("a person connects a credential, and connects it again when the grant is dead, and the runs go on", async () => {
  await at("/admin/credentials", { key: keys.admin });
  await page.getByRole("button", { name: "Set a credential…" }).click();
  const dialog = page.getByRole("dialog");
  const fields = { Name: "notes", "Address where a person agrees": `${AGREES}/authorize`, "Address for tokens": `${ACCOUNTS}/token`, "Client id": "detent", "Client secret (if any)": "a-client-secret", "Hosts that it may be sent to": new URL(ACCOUNTS).host };
  await dialog.getByLabel("Kind").selectOption("oauth2_code");
  for (const [label, text] of Object.entries(fields)) await dialog.getByLabel(label, { exact: true }).fill(text);
  await dialog.getByRole("button", { name: "Set it" }).click();
  const row = page.getByRole("row").filter({ hasText: "notes" });
  await row.getByText("Not connected").waitFor();
  await save({ name: "sync-notes", tasks: { read: { url: `${ACCOUNTS}/notes`, method: "GET", credential: "notes", retries: 0 } } });
  const waits = async () => {
    const id = (await start("sync-notes")).run_id;
    await until("it waits for the credential", async () => (await api("GET", `/runs/${id}`)).status === "paused");
    return id;
  };
  const first = await waits();
  // The run leads to what it needs.
  await go(page, `/runs/${first}`);
  await page.getByRole("link", { name: /onnect/ }).click();
  await toProvider("Connect…");
  await page.getByRole("link", { name: "Refuse" }).click();
  await page.getByText("The credential is not connected").first().waitFor();
  await page.getByRole("link", { name: "Show the credentials" }).click();
  await row.getByText("Not connected").waitFor();
  await toProvider("Connect…");
  await page.getByRole("link", { name: "Agree" }).click();
  await page.getByRole("heading", { name: "Connected" }).waitFor();
  await picture(page, "credential-connected");
  await page.getByRole("link", { name: "Show the credentials" }).click();
  await row.getByText("Ready").waitFor();
  await ended(first);
  // The account takes its agreement back.
  await fetch(`${ACCOUNTS}/end`);
  const second = await waits();
  await go(page, `/runs/${second}`);
  await page.getByRole("link", { name: /Reconnect/ }).waitFor();
  await picture(page, "run-waits-for-credential");
  await page.getByRole("link", { name: /Reconnect/ }).click();
  await row.getByText("Reconnect", { exact: true }).waitFor();
  await picture(page, "credential-reconnect");
  await toProvider("Reconnect…");
  await page.getByRole("link", { name: "Agree" }).click();
  await page.getByRole("link", { name: "Show the credentials" }).click();
  await row.getByText("Ready").waitFor();
  await ended(second);
  assert.equal((await api("GET", `/runs/${second}`)).status, "completed");
  assert.deepEqual(page.odd([...EXPECTED, "status of 4"]), []);
});

test("a session that ends while a person writes asks to sign in, and what was written stays", async () => {
  await at("/admin/secrets", { key: keys.admin });
  await page.getByRole("button", { name: "Set a secret…" }).click();
  await page.getByLabel("Name").fill("HALF");
  await page.getByLabel("Value").fill("half written");
  const other = await opened({ path: "/inbox" });
  await other.getByText("Answer with another body").click();
  await other.getByLabel("Body, as JSON").fill('{"approved": "not yet"');
  for (const one of await api("GET", "/sessions?all=true")) await api("DELETE", `/sessions/${one.id}`);
  await cover().waitFor();
  await coverOf(other).waitFor();
  // The view under it is read again, in vain.
  await other.evaluate(() => window.dispatchEvent(new Event("visibilitychange")));
  await picture(other, "sign-in-again");
  await signIn(page, keys.admin);
  assert.equal(await page.getByLabel("Value").inputValue(), "half written");
  assert.equal(await page.getByLabel("Name").inputValue(), "HALF");
  // The other tab goes on by itself.
  await coverOf(other).waitFor({ state: "detached" });
  assert.equal(await other.getByLabel("Body, as JSON").inputValue(), '{"approved": "not yet"');
  await other.close();
  await page.getByRole("dialog").getByRole("button", { name: "Set it" }).click();
  await page.getByRole("row").filter({ hasText: "HALF" }).waitFor();
  assert.deepEqual(page.odd(REFUSED), []);
});

test("signing out everywhere ends the sessions of the person in every browser, and of no other", async () => {
  const password = { name: "ada", password: "correct horse battery" };
  const elsewhere = async (proof) => {
    const cookie = `detent=${await sessionOf(proof)}`;
    return async () => (await fetch(new URL("/api/v1/me", BASE), { headers: { cookie } })).status;
  };
  const [laptop, phone, another] = [await elsewhere(password), await elsewhere(password), await elsewhere({ key: keys.admin })];
  await at("/admin/secrets", { key: keys.admin });
  await signOut(page);
  await cover().getByRole("tab", { name: "Password" }).click();
  await cover().getByLabel("Name").fill("ada");
  await cover().getByLabel("Password").fill("wrong horse battery");
  await page.keyboard.press("Enter");
  await cover().getByRole("alert").getByText("not correct").waitFor();
  await cover().getByLabel("Password").fill(password.password);
  await page.keyboard.press("Enter");
  // Another person begins with a page of their own, and may not see the one before.
  await page.getByText("You may not see this").waitFor();
  await page.getByRole("button", { name: "You are Ada Lovelace" }).waitFor();
  await go(page, "/admin/sessions");
  await page.getByRole("button", { name: "Sign out everywhere…" }).click();
  await picture(page, "sign-out-everywhere");
  await page.getByRole("dialog").getByRole("button", { name: "Sign out everywhere" }).click();
  await cover().waitFor();
  for (const asked of [laptop, phone]) await until("that session has ended", async () => (await asked()) === 401);
  assert.equal(await another(), 200);
  assert.deepEqual(page.odd(REFUSED), []);
});
