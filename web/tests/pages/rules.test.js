// Rules, entities and alerts: what each does, and how it looks.
import assert from "node:assert/strict";
import { after, afterEach, before, test } from "node:test";
import { api, BASE, judged, looked, openBrowser, picture, tabTo, triedAgain, until, withoutMouse } from "../browser.js";
import { startService } from "../service.js";
import { ODD } from "../shop.js";

const MANY = 120;
const text = { type: "string" };
let browser;
let service;

before(async () => {
  [browser, service] = await Promise.all([openBrowser(), startService()]);
});
afterEach(async () => {
  await browser?.closePages();
});
after(async () => {
  await browser?.close();
  await service?.stop();
});

const place = (page) => new URL(page.url());
const only = (...conditions) => ({ field_conditions: conditions });
const is = (field_name, operator, value) => ({ field_name, operator, ...(value === undefined ? {} : { value }) });
const alert = (name, severity, title, more = {}) => ({ name, action_type: "create_alert", action_config: { alert_type: "orders", severity, title, message: "Order {{number}} of {{customer}}, {{total}} in all", ...more } });
const chain = (n) => Array.from({ length: n }, (_, i) => ({ source_action_id: i ? `temp:${i - 1}` : null, target_action_id: `temp:${i}`, edge_type: i ? "sequence" : "start" }));

/** Goes somewhere as a link does, without loading the page again. */
async function visit(page, path) {
  await page.evaluate((to) => {
    history.pushState(null, "", to);
  }, path);
}

const order = {
  name: "order",
  title: "Order",
  fields: {
    type: "object",
    required: ["number", "status"],
    properties: {
      number: { type: "integer", description: "What customers call it by." },
      status: { enum: ["new", "paid", "packed", "shipped", "lost"] },
      total: { type: "number", minimum: 0 },
      customer: { ...text, maxLength: 200 },
      email: { type: "string", format: "email" },
      items: { type: "array", items: { type: "object", properties: { sku: text, count: { type: "integer" } } } },
    },
  },
};

/** A rule with a branch, whose nodes a person has put somewhere. */
function shipped() {
  return {
    name: "Order status notification",
    description: "Tells the customer and the team when an order has shipped",
    is_active: true,
    entity: "order",
    trigger_type: "on_update",
    trigger_conditions: only(is("status", "changed_to", "shipped")),
    actions: [
      { name: "Is it large?", action_type: "condition", action_config: { expression: "total > 500" } },
      alert("Tell the team", "high", "Order {{number}} has shipped"),
      { name: "Tell the warehouse", action_type: "call", action_config: { url: `${service.url}/shipped`, body: { order: "{{number}}" } } },
      { name: "Ask for a review", action_type: "delay", action_config: { duration: "3d" } },
    ],
    edges: [
      { source_action_id: null, target_action_id: "temp:0", edge_type: "start" },
      { source_action_id: "temp:0", target_action_id: "temp:1", edge_type: "true_branch" },
      { source_action_id: "temp:0", target_action_id: "temp:2", edge_type: "false_branch" },
      { source_action_id: "temp:2", target_action_id: "temp:3", edge_type: "sequence" },
    ],
    canvas_layout: { node_positions: { trigger: { x: 40, y: 160 }, "temp:0": { x: 270, y: 160 }, "temp:1": { x: 510, y: 80 }, "temp:2": { x: 510, y: 240 }, "temp:3": { x: 750, y: 240 } } },
  };
}

/** What happened to orders, the oldest first. */
function changes() {
  const people = ["Ada Lovelace", "Alan Turing", "Grace Hopper", "Edsger Dijkstra"];
  const ways = [["packed", "shipped"], ["new", "paid"], ["paid", "packed"], ["packed", "lost"]];
  return Array.from({ length: 40 }, (_, i) => {
    const [was, now] = ways[i % 4];
    const record = { number: 8800 + i, total: 90 + ((i * 137) % 900), customer: people[i % 4], email: "someone@example.org" };
    return { entity: "order", operation: "update", id: String(8800 + i), event_id: `order-${8800 + i}`, before: { ...record, status: was }, after: { ...record, status: now }, actor: "shop" };
  });
}

test("views with nothing in them say what would fill them, and the bar has no section for them", async () => {
  const page = await browser.page({ path: "/workflows" });
  await page.getByText("No workflow yet").waitFor();
  assert.equal(await page.getByRole("navigation", { name: "Main" }).getByText("Rules").count(), 0);
  for (const [path, words] of [
    ["/rules", "No rule yet"],
    ["/rules?search=zzz", "No rule matches"],
    ["/entities", "No entity yet"],
    ["/alerts", "No open alert"],
    ["/alerts?severity=low", "No alert matches"],
    ["/rules/none", "There is no such rule"],
    ["/entities/none", "There is no such entity"],
  ]) {
    await visit(page, path);
    await page.getByText(words).waitFor();
  }
  assert.deepEqual(page.odd(["404"]), []);
});

test("an entity is added with a schema, and one that is not a schema is refused in words", async () => {
  const page = await browser.page({ path: "/entities?do=new" });
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Name").fill("order");
  await dialog.getByLabel("Title").fill("Order");
  await dialog.getByLabel("JSON Schema of a record").fill("{");
  await dialog.getByText("This is not JSON").waitFor();
  await dialog.getByLabel("JSON Schema of a record").fill('{"type": "banana"}');
  await dialog.getByRole("button", { name: "Add it" }).click();
  await dialog.getByRole("alert").getByText("Nothing was saved").waitFor();
  await dialog.getByLabel("JSON Schema of a record").fill(JSON.stringify(order.fields));
  await dialog.getByRole("button", { name: "Add it" }).click();
  await page.getByRole("heading", { name: "Order", exact: true }).waitFor();
  await page.getByText("What customers call it by.", { exact: true }).waitFor();
  assert.equal(place(page).pathname, "/entities/order");
  await page.getByRole("navigation", { name: "Main" }).getByText("Rules").waitFor();
  assert.deepEqual(page.odd(["400"]), []);
});

test("a rule that is written as JSON shows each problem with its place, and is saved when it has none", async () => {
  const page = await browser.page({ path: "/rules?do=new" });
  const dialog = page.getByRole("dialog");
  const field = dialog.getByLabel("Rule as JSON");
  const rule = shipped();
  const wrong = { ...rule, trigger_conditions: only(is("status", "becomes", "shipped")), actions: [{ ...rule.actions[1], action_config: { severity: "loud", title: "x" } }], edges: chain(1) };
  await field.fill(JSON.stringify(wrong));
  await dialog.getByRole("button", { name: "Validate" }).click();
  const problems = dialog.getByRole("list", { name: "Problems" }).getByRole("listitem");
  await problems.filter({ hasText: "trigger_conditions.field_conditions[0]" }).first().waitFor();
  await problems.filter({ hasText: "actions[0].action_config" }).first().waitFor();
  await judged(page, "problems of a rule", ["400"]);
  await field.fill(JSON.stringify(rule, null, 2));
  await dialog.getByRole("button", { name: "Validate" }).click();
  await dialog.getByText("It can be saved").waitFor();
  await dialog.getByRole("button", { name: "Save it" }).click();
  await page.getByRole("heading", { name: rule.name }).waitFor();
  assert.equal(place(page).pathname, "/rules/order-status-notification");
  await page.getByText("When order is updated and status changed to 'shipped'").waitFor();
  assert.deepEqual(page.odd(["400"]), []);
});

test("the graph has the trigger and the actions where they were put", async () => {
  const page = await browser.page({ path: "/rules/order-status-notification" });
  const node = (name) => page.locator(`.react-flow__node[data-id="${name}"]`);
  await node(":trigger").getByText("order updated").waitFor();
  const at = async (name) => (await node(name).boundingBox()).y;
  assert.ok((await at("tell-the-team")) < (await at("is-it-large")));
  assert.ok((await at("tell-the-warehouse")) > (await at("is-it-large")));
  await node("tell-the-team").click();
  await page.getByRole("complementary", { name: "Action Tell the team" }).getByText("if true").waitFor();
  assert.equal(place(page).searchParams.get("step"), "tell-the-team");
  await page.getByRole("button", { name: "Tidy up" }).click();
  assert.deepEqual(page.odd(), []);
});

test("a rule says which of the last events it matches and which part was false, before it is active", async () => {
  await api("POST", "/rules", {
    name: "Watch large orders",
    is_active: false,
    entity: "order",
    trigger_type: "on_update",
    trigger_conditions: only(is("status", "in", ["shipped", "lost"]), { any: [is("total", "gt", 700), { all: [is("customer", "contains", "Ada"), is("status", "changed")] }] }),
    actions: [alert("Raise", "critical", "Order {{number}} went out"), alert("Note", "low", "Look at order {{number}}")],
    edges: chain(2),
  });
  const receipts = await api("POST", "/events/entity?wait=60s", changes());
  assert.equal(receipts.filter((one) => one.runs?.length === 1).length, 10);
  const page = await browser.page({ path: "/rules/watch-large-orders" });
  await page.getByRole("link", { name: /^Events \d+/ }).click();
  await page.getByText("so often it would have run if it were active").waitFor();
  const mouse = await withoutMouse(page);
  const rows = page.getByRole("list", { name: "Last events" }).getByRole("listitem");
  const index = (await rows.allInnerTexts()).findIndex((one) => one.includes("Does not match") && one.includes("total"));
  for (let i = 0; i <= index; i += 1) await page.keyboard.press("j");
  const detail = page.getByRole("complementary", { name: "Event" });
  await detail.getByRole("list", { name: "Conditions" }).getByRole("listitem").filter({ hasText: "Any of these" }).getByRole("img", { name: "False" }).waitFor();
  await detail.getByText(/^total is \d+$/).waitFor();
  await page.keyboard.press("Escape");
  await detail.waitFor({ state: "detached" });
  await page.keyboard.press("Shift+Tab");
  await tabTo(page, page.getByRole("switch", { name: "Inactive" }), "Shift+Tab");
  await page.keyboard.press("Enter");
  const dialog = page.getByRole("dialog");
  await dialog.getByText(/Of the last 40 events of order, \d+ match/).waitFor();
  await tabTo(page, dialog.getByRole("button", { name: "Activate it" }));
  await page.keyboard.press("Enter");
  await page.getByRole("switch", { name: "Active", exact: true }).waitFor();
  await mouse.assertUnused();
  assert.equal((await api("GET", "/rules/watch-large-orders")).is_active, true);
  assert.deepEqual(page.odd(), []);
});

test("a rule that was changed meanwhile is not overwritten, and an older version is restored", async () => {
  const key = "watch-large-orders";
  const page = await browser.page({ path: `/rules/${key}?do=edit` });
  const dialog = page.getByRole("dialog");
  const field = dialog.getByLabel("Rule as JSON");
  const mine = JSON.parse(await field.inputValue());
  assert.deepEqual(Object.keys(mine).slice(0, 3), ["name", "is_active", "entity"]);
  const theirs = await api("GET", `/rules/${key}`);
  await api("PUT", `/rules/${key}`, { ...theirs, actions: theirs.actions.map((one) => ({ ...one, name: `${one.name} now` })) });
  await field.fill(JSON.stringify({ ...mine, description: "Mine" }));
  await dialog.getByRole("button", { name: "Save a new version" }).click();
  await dialog.getByText("has changed it").waitFor();
  await dialog.getByText("Raise now").first().waitFor();
  await judged(page, "a rule that was changed meanwhile", ["412"]);
  await dialog.getByRole("button", { name: "Close and read it again" }).click();
  await visit(page, `/rules/${key}/versions`);
  await page.getByText("2 actions changed").waitFor();
  await page.getByRole("link", { name: /^Version 1/ }).click();
  await page.getByRole("button", { name: "Restore version 1…" }).click();
  await page.getByRole("button", { name: "Restore version 1", exact: true }).click();
  await until("it is restored", async () => (await api("GET", `/rules/${key}`)).actions[0].name === "Raise");
  assert.deepEqual(page.odd(["412"]), []);
});

test("an event is tried: which rules match, and which part of which condition is false, and nothing is started", async () => {
  await api("POST", "/rules", { name: "Lost orders", is_active: false, entity: "order", trigger_type: "on_delete", actions: [alert("Raise", "low", "Gone")], edges: chain(1) });
  const before = (await api("GET", "/runs?limit=1"))[0].id;
  const page = await browser.page({ path: "/rules/watch-large-orders/events" });
  await page.getByRole("button", { name: "Try an event…" }).click();
  const dialog = page.getByRole("dialog");
  const record = (when) => dialog.getByLabel(`Record ${when} the change`);
  assert.equal(JSON.parse(await record("after").inputValue()).number, 8839, "it begins with the newest event");
  await record("before").fill('{"status": "packed", "total": 5}');
  await record("after").fill("{");
  await dialog.getByText("This is not JSON").waitFor();
  await record("after").fill('{"status": "shipped", "total": 5}');
  await record("after").press("Control+Enter");
  await dialog.getByText("1 of 2 rules matches.").waitFor();
  const mine = dialog.getByRole("article", { name: "Watch large orders" });
  await mine.getByText("Does not match").waitFor();
  await mine.getByRole("listitem").filter({ hasText: "total is greater than 700" }).getByRole("img", { name: "False" }).waitFor();
  await mine.getByRole("listitem").filter({ hasText: "status is one of" }).getByRole("img", { name: "True" }).waitFor();
  await dialog.getByRole("article", { name: "Order status notification" }).getByText("Matches", { exact: true }).waitFor();
  await judged(page, "an event that is tried");
  await picture(page, "rule-try");
  await dialog.getByLabel("Operation").selectOption("delete");
  assert.equal(await record("after").count(), 0);
  await dialog.getByRole("button", { name: "Try it" }).click();
  await dialog.getByText("None of 2 rules match.").waitFor();
  await dialog.getByLabel("Entity").fill("ordr");
  await dialog.getByRole("button", { name: "Try it" }).click();
  await dialog.getByText("did you mean 'order'").waitFor();
  await page.keyboard.press("Escape");
  await visit(page, "/rules/lost-orders?do=try");
  assert.equal(await record("before").inputValue(), '{\n  "status": "packed"\n}');
  await dialog.getByRole("button", { name: "Try it" }).click();
  await dialog.getByRole("article", { name: "Lost orders" }).getByText("every such event matches").waitFor();
  assert.equal((await api("GET", "/runs?limit=1"))[0].id, before, "nothing was started");
  assert.deepEqual(page.odd(["400"]), []);
});

test("alerts appear by themselves, are acknowledged and resolved by keyboard, and lead to their rule and run", async () => {
  const big = { entity: "order", operation: "update", id: "9001", before: { number: 9001, status: "packed", total: 4000, customer: "Ada" }, after: { number: 9001, status: "shipped", total: 4000, customer: "Ada" } };
  const page = await browser.page({ path: "/alerts?severity=critical" });
  await page.getByText("No alert matches").waitFor();
  const [{ runs }] = await api("POST", "/events/entity?wait=60s", [big]);
  assert.equal(runs.length, 2);
  const row = page.getByRole("listitem").filter({ hasText: "Order 9001 went out" });
  await row.waitFor();
  const mouse = await withoutMouse(page);
  await page.keyboard.press("j");
  const detail = page.getByRole("complementary", { name: "Alert" });
  await detail.getByText("Order 9001 of Ada").waitFor();
  await page.keyboard.press("a");
  await detail.getByRole("definition").filter({ hasText: "Acknowledged" }).waitFor();
  await page.keyboard.press("r");
  await row.getByText("Resolved").waitFor();
  await mouse.assertUnused();
  const [found] = await api("GET", "/alerts?severity=critical");
  assert.equal(found.status, "resolved");
  await detail.getByRole("link", { name: "Watch large orders" }).waitFor();
  await page.goto(new URL(`/runs/${found.run_id}`, BASE).href);
  await page.getByRole("link", { name: "Event", exact: true }).click();
  await page.getByRole("heading", { name: "order 9001 updated" }).waitFor();
  await page.getByRole("row", { name: /^status "packed" "shipped"/ }).waitFor();
  assert.equal(place(page).pathname, `/runs/${found.run_id}/event`);
  assert.deepEqual(page.odd(), []);
});

test("views that cannot be had say why, and can be tried again", async () => {
  const page = await browser.page({ path: "/workflows" });
  let isBroken = true;
  const refusal = { status: 500, contentType: "application/json", body: JSON.stringify({ error: "internal", message: "the disk is full" }) };
  await page.route(/\/api\/v1\/(rules|entities|alerts)\b/, (route) => (isBroken ? route.fulfill(refusal) : route.continue()));
  for (const [path, words, there] of [
    ["/rules", "The rules could not be listed", "Order status notification"],
    ["/rules/watch-large-orders", "The rule could not be shown", "Watch large orders"],
    ["/entities", "The entities could not be listed", "6 fields"],
    ["/entities/order", "The entity could not be shown", "What customers call it by."],
    ["/alerts", "The alerts could not be listed", "has shipped"],
  ]) {
    isBroken = true;
    await visit(page, path);
    const alerted = page.getByRole("alert").filter({ hasText: words });
    await alerted.getByText("the disk is full").waitFor();
    isBroken = false;
    await triedAgain(page, page.getByText(there));
    await page.reload();
  }
  assert.deepEqual(page.odd(["500"]), []);
});

test("every view of rules, light, dark and on a phone", async () => {
  await api("POST", "/entities", { name: "customer", title: "Customer" });
  await api("POST", "/rules", { name: "Morning digest", description: "Sends what is open to the team", trigger_type: "scheduled", cron_expression: "0 7 * * 1-5", timezone: "Europe/Zurich", actions: [alert("Digest", "low", "Good morning", { message: "Nothing is open" })], edges: chain(1) });
  await api("POST", "/rules", { name: "Welcome a new customer", entity: "customer", trigger_type: "on_create", actions: [alert("Welcome", "low", "A new customer", { message: "Say hello" })], edges: chain(1) });
  await api("POST", "/rules", { name: "Close an account by hand", is_active: false, trigger_type: "manual", actions: [alert("Close", "medium", "An account was closed", { message: "{{id}}" })], edges: chain(1) });
  const [found] = await api("GET", "/alerts?severity=high");
  const events = await api("GET", "/rules/watch-large-orders/recent-matches");
  const event = events.find((one) => !one.matches && one.reason.startsWith("not true: total")).id;
  const VIEWS = [
    ["rules", "/rules", async (page, size) => {
      await page.getByRole("link", { name: "Watch large orders" }).waitFor();
      if (size === "usual") await page.getByRole("img", { name: /^Last \d+ runs?/ }).first().waitFor();
    }],
    ["rule", "/rules/order-status-notification?step=tell-the-team", async (page) => {
      await page.locator('.react-flow__node[data-id="tell-the-team"]').waitFor();
      await page.getByRole("img", { name: /^Last \d+ runs?/ }).waitFor();
    }, true],
    ["rule-events", `/rules/watch-large-orders/events?event=${event}`, (page) => page.getByRole("list", { name: "Conditions" }).waitFor()],
    ["rule-versions", "/rules/watch-large-orders/versions/2", (page) => page.getByText("2 actions changed").waitFor()],
    ["entity", "/entities/order", (page) => page.getByText("What customers call it by.", { exact: true }).waitFor()],
    ["entity-events", `/entities/order/events?event=${event}`, (page) => page.getByRole("complementary", { name: "Event" }).waitFor()],
    ["alerts", `/alerts?status=all&alert=${found.id}`, (page) => page.getByRole("button", { name: "Resolve it" }).waitFor()],
    ["run-event", `/runs/${found.run_id}/event`, (page) => page.getByRole("rowheader", { name: "status" }).waitFor()],
  ];
  for (const [name, path, ready, again] of VIEWS) await looked(browser, path, name, ready, again);
});

test("a long list of rules holds a few rows and loads the rest, narrowed by what the URL says", async () => {
  const one = (i) => ({ name: i ? `Rule ${String(i).padStart(3, "0")}` : `${ODD} ${"with a long name ".repeat(8)}`, entity: "customer", trigger_type: i ? "on_delete" : "on_update", actions: [alert("Raise", "low", ODD, { message: ODD })], edges: chain(1) });
  for (let i = 0; i < MANY; i += 1) await api("POST", "/rules", one(i));
  const page = await browser.page({ path: "/rules?entity=customer" });
  await page.getByRole("link", { name: "Rule 001" }).waitFor();
  assert.ok((await page.getByRole("row").count()) < 60, "not all rows are mounted");
  const last = page.getByText(ODD).first();
  await until("the end is reached", async () => {
    await page.getByRole("rowgroup", { name: "Rules" }).last().evaluate((box) => box.scrollTo(0, box.scrollHeight));
    return (await last.count()) > 0;
  });
  await api("POST", "/events/entity?wait=60s", { entity: "customer", operation: "update", id: ODD, before: { note: ODD }, after: { note: 1 } });
  await visit(page, "/alerts?severity=low");
  await page.getByRole("listitem").filter({ hasText: "with a long name" }).getByText(ODD, { exact: true }).waitFor();
  await visit(page, "/entities/customer/events");
  await page.getByText(`customer ${ODD} updated`).waitFor();
  await visit(page, "/rules?entity=customer");
  await page.getByRole("link", { name: "Rule 001" }).waitFor();
  await page.keyboard.press("/");
  await page.keyboard.type("welcome");
  await page.getByRole("link", { name: "Welcome a new customer" }).waitFor();
  await until("only it is left", async () => (await page.getByRole("row").count()) === 2);
  assert.deepEqual([...place(page).searchParams], [["entity", "customer"], ["search", "welcome"]]);
  await page.getByRole("link", { name: "Inactive" }).click();
  await page.getByText("No rule matches").waitFor();
  assert.deepEqual(page.odd(), []);
});
