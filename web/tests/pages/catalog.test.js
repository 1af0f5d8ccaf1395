// The catalog, imports, templates, dead letters and resources: what each does, and how it looks.
import assert from "node:assert/strict";
import { after, afterEach, before, test } from "node:test";
import { api, judged, looked, openBrowser, tabTo, triedAgain, until, withoutMouse } from "../browser.js";
import { startService } from "../service.js";
import { ended, ODD, save, start } from "../shop.js";

const LONG = 300;
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
const text = { type: "string" };

/** Goes somewhere as a link does, without loading the page again. */
async function visit(page, path) {
  await page.evaluate((to) => {
    history.pushState(null, "", to);
  }, path);
}

/** An OpenAPI document. The second version needs a region, has lost an operation, and has a new one. */
function document(version) {
  const search = [{ name: "q", in: "query", required: true, schema: text, description: "What is looked for" }];
  if (version > 1) search.push({ name: "region", in: "query", required: true, schema: text });
  const operation = (operationId, parameters = [], summary = "") => ({ operationId, summary, tags: ["orders"], parameters, responses: { 200: {} } });
  const paths = { "/search": { get: operation("searchOrders", search, ODD) } };
  if (version === 1) paths["/notes"] = { post: operation("addNote", [{ name: "text", in: "query", schema: text }], "Add a note") };
  else paths["/refunds"] = { get: operation("listRefunds", [], "List refunds") };
  for (let i = 0; i < LONG; i += 1) paths[`/reports/${i}`] = { get: operation(`getReport${String(i).padStart(3, "0")}`, [], `Read report ${i}`) };
  return { openapi: "3.1.0", info: { title: "Shop", description: "Orders and reports" }, servers: [{ url: `${service.url}/api` }], paths };
}

/** A connector with everything that a page shows of an action. */
function board() {
  const parameters = {
    type: "object",
    required: ["title", "board"],
    additionalProperties: false,
    properties: {
      title: { type: "string", minLength: 1, maxLength: 200, description: "What people read first." },
      board: { type: "string", examples: ["B-17"], description: "The id of a board." },
      priority: { enum: ["low", "normal", "urgent"], default: "normal" },
      people: { type: "array", maxItems: 5, items: { type: "object", required: ["email"], properties: { email: { type: "string", format: "email" }, role: text } } },
      due: { type: "string", format: "date-time" },
    },
  };
  const request = { method: "POST", path: "/items", body: { title: "{{ with.title }}", board: "{{ with.board }}" } };
  const output = { id: "{{ response.body.id }}" };
  const shared = { category: "Planning", tags: ["items", "boards"] };
  return {
    connector: "board",
    version: "1.2.0",
    title: "Project board",
    description: "Items of our project board.",
    documentation_url: "https://board.example/docs",
    base_url: service.url,
    auth: { type: "none" },
    actions: {
      "create-item": { ...shared, title: "Create an item", description: "Adds an item to a board and links it to its run.", parameters, request, output, output_schema: { type: "object", properties: { id: { type: "string", description: "The id of the item." } } }, effect: { kind: "keyed", key: "Idempotency-Key" }, links: [{ system: "board", type: "item", id: "{{ response.body.id }}", url: `${service.url}/items/1` }] },
      "add-item": { ...shared, title: "Add an item", parameters, request, output, deprecated: "call board.create-item instead." },
    },
  };
}

test("views with nothing in them say what would fill them", async () => {
  const page = await browser.page({ path: "/catalog" });
  for (const [path, words] of [
    ["/system/dead-letters", "Nothing was given up"],
    ["/system/resources", "No run has linked anything yet"],
    ["/catalog?search=zzz", "No action matches"],
    ["/catalog/templates?search=zzz", "No template matches"],
    ["/system/resources?system=none", "No run has it"],
    ["/actions/none.none", "There is no such action"],
    ["/connectors/none", "There is no such connector"],
    ["/templates/none", "There is no such template"],
  ]) {
    await visit(page, path);
    await page.getByText(words).waitFor();
  }
  assert.deepEqual(page.odd(["404"]), []);
});

test("views that cannot be had say why, and can be tried again", async () => {
  const page = await browser.page({ path: "/system/storage" });
  let isBroken = true;
  const refusal = { status: 500, contentType: "application/json", body: JSON.stringify({ error: "internal", message: "the disk is full" }) };
  await page.route(/\/api\/v1\/(actions|connectors|templates|dead-letters|resources)\b/, (route) => (isBroken ? route.fulfill(refusal) : route.continue()));
  for (const [path, words, there] of [
    ["/catalog", "The actions could not be listed", "core.echo"],
    ["/catalog/connectors", "The connectors could not be listed", "Slack"],
    ["/catalog/templates", "The templates could not be listed", "Webhook relay"],
    ["/system/dead-letters", "The dead letters could not be listed", "Nothing was given up"],
    ["/system/resources", "The resources could not be listed", "No run has linked anything yet"],
  ]) {
    isBroken = true;
    await visit(page, path);
    await page.getByRole("alert").filter({ hasText: words }).getByText("the disk is full").waitFor();
    isBroken = false;
    await triedAgain(page, page.getByText(there));
  }
  assert.deepEqual(page.odd(["500"]), []);
});

test("a document is imported from a file after a preview, and its actions are found by keyboard", async () => {
  const page = await browser.page({ path: "/catalog" });
  await page.getByRole("link", { name: "Import a service…" }).click();
  await page.getByText("Nothing changes before you have seen it").waitFor();
  const file = { name: "shop-openapi.json", mimeType: "application/json", buffer: Buffer.from(JSON.stringify(document(1))) };
  await page.getByLabel("File with the document").setInputFiles(file);
  assert.equal(await page.getByLabel("Name of the connector").inputValue(), "shop");
  await page.getByRole("button", { name: "Preview the import" }).click();
  await page.getByText(`${LONG + 2} of ${LONG + 2} operations become actions`).waitFor();
  await until("nothing is stored yet", async () => !(await api("GET", "/connectors?limit=200")).some((one) => one.id === "shop"));
  await page.getByRole("button", { name: "Import version 1.0.0" }).click();
  await page.getByRole("heading", { name: "Shop", exact: true }).waitFor();
  assert.equal(place(page).pathname, "/connectors/shop");
  const mouse = await withoutMouse(page);
  await page.keyboard.press("/");
  await page.keyboard.type("report 2");
  await page.getByRole("link", { name: "shop.get-report002" }).waitFor();
  await page.keyboard.press("Tab");
  await tabTo(page, page.getByRole("rowgroup", { name: "Actions" }));
  await page.keyboard.press("j");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "shop.get-report002" }).waitFor();
  await mouse.assertUnused();
  assert.deepEqual(page.odd(), []);
});

test("a long list of actions holds a few rows and loads the rest, narrowed by connector, category and tag", async () => {
  await api("POST", "/connectors", board());
  const page = await browser.page({ path: "/catalog?connector=shop" });
  const rows = page.getByRole("row");
  await page.getByRole("link", { name: "shop.add-note" }).waitFor();
  assert.ok((await rows.count()) < 60, "not all rows are mounted");
  const last = page.getByRole("link", { name: "shop.search-orders" });
  await until("the end is reached", async () => {
    await page.getByRole("rowgroup", { name: "Actions" }).last().evaluate((one) => one.scrollTo(0, one.scrollHeight));
    return (await last.count()) > 0;
  });
  await page.getByText(ODD).first().waitFor();
  await page.getByLabel("Connector", { exact: true }).selectOption("");
  await page.getByLabel("Category", { exact: true }).selectOption("Planning");
  await page.getByLabel("Tag", { exact: true }).selectOption("boards");
  await page.getByRole("link", { name: "board.create-item" }).waitFor();
  await until("only two are left", async () => (await rows.count()) === 3);
  assert.deepEqual([...place(page).searchParams], [["category", "Planning"], ["tag", "boards"]]);
});

test("an action is disabled and enabled, and its step is copied", async () => {
  const page = await browser.page({ path: "/actions/board.create-item" });
  await page.getByText("action: board.create-item").waitFor();
  const example = await page.getByRole("region", { name: "An example step" }).locator("pre").innerText();
  assert.equal(example, "tasks:\n  create-item:\n    action: board.create-item\n    with:\n      title: \"…\"\n      board: B-17");
  await page.getByText("recognises a repeated attempt by Idempotency-Key").waitFor();
  await page.getByRole("button", { name: "Disable…" }).click();
  await page.getByRole("button", { name: "Disable it" }).click();
  await page.getByText("It is disabled: no workflow can be published with it").waitFor();
  assert.equal((await api("GET", "/actions/board.create-item")).enabled, false);
  await judged(page, "a disabled action");
  await page.getByRole("button", { name: "Enable…" }).click();
  await page.getByRole("button", { name: "Enable it" }).click();
  await page.getByRole("button", { name: "Disable…" }).waitFor();
  assert.equal((await api("GET", "/actions/board.create-item")).enabled, true);
});

test("an update from an address says which steps of which workflows break, and then imports it", async () => {
  await save({ name: "find-orders", tasks: { find: { action: "shop.search-orders", with: { q: "x" } }, note: { needs: ["find"], action: "shop.add-note", with: { text: "y" } } } });
  service.answer("/openapi.json", 200, document(2));
  await looked(
    browser,
    `/catalog/import/openapi?name=shop&url=${encodeURIComponent(`${service.url}/openapi.json`)}`,
    "import",
    async (page) => {
      await page.getByRole("button", { name: /^Preview/ }).click();
      await page.getByRole("heading", { name: "shop 1.0.0 → 2.0.0" }).waitFor();
      const broken = page.getByRole("group", { name: "Steps that break" });
      await broken.getByText("2 steps of 1 workflow").waitFor();
      await broken.getByRole("listitem").filter({ hasText: "find-orders find" }).getByText("the parameter 'region' is required now").waitFor();
      await broken.getByRole("listitem").filter({ hasText: "find-orders note" }).getByText("does not exist any more").waitFor();
    },
  );
  const page = await browser.page({ path: `/catalog/import/openapi?name=shop&url=${encodeURIComponent(`${service.url}/openapi.json`)}` });
  await page.getByRole("button", { name: "Preview the import" }).click();
  await page.getByRole("button", { name: "Import it; 2 steps will have to change" }).click();
  await page.getByRole("heading", { name: "Shop", exact: true }).waitFor();
  assert.equal((await api("GET", "/connectors/shop")).version, "2.0.0");
});

test("the tools of an MCP server are imported, and an address that answers nonsense is refused in words", async () => {
  service.reply("/mcp", ({ id, method }) => {
    const result = method === "tools/list" ? { tools: [{ name: "find", description: "Finds documents", inputSchema: { type: "object" } }] } : { serverInfo: { name: "docs", title: "Document search" } };
    return { jsonrpc: "2.0", id, result };
  });
  const page = await browser.page({ path: "/catalog/import/mcp" });
  await page.getByLabel("Name of the connector").fill("docs");
  await page.getByLabel("Address of the MCP server").fill(`${service.url}/charge`);
  await page.getByRole("button", { name: "Preview the import" }).click();
  await page.getByRole("alert").getByText("is not an MCP server that can be used").waitFor();
  await page.getByLabel("Address of the MCP server").fill(`${service.url}/mcp`);
  await page.getByRole("button", { name: "Preview the import" }).click();
  await page.getByText("1 of 1 tool becomes an action").waitFor();
  await page.getByRole("button", { name: "Import version 1.0.0" }).click();
  await page.getByRole("heading", { name: "Document search" }).waitFor();
  await page.getByRole("link", { name: "docs.find" }).waitFor();
  assert.deepEqual(page.odd(["400"]), []);
});

test("a template becomes a draft, after its form has said what is missing", async () => {
  const page = await browser.page({ path: "/catalog/templates" });
  await page.getByLabel("Find a template").fill("relay");
  await page.getByRole("link", { name: /^Webhook relay/ }).click();
  await page.getByLabel("Name of the workflow").fill("relay-orders");
  await page.getByRole("button", { name: "Make a draft of it" }).click();
  await page.getByText("1 field needs an answer.").waitFor();
  const targets = page.locator("form").getByRole("textbox").nth(1);
  assert.equal(await targets.getAttribute("aria-invalid"), "true");
  await targets.fill("https://one.example/hook\nhttps://two.example/hook");
  await page.getByRole("button", { name: "Make a draft of it" }).click();
  await page.getByRole("heading", { name: "relay-orders" }).waitFor();
  assert.equal(place(page).pathname, "/workflows/relay-orders/versions/draft");
  const draft = await api("GET", "/workflows/relay-orders/draft");
  assert.match(JSON.stringify(draft.definition), /two\.example/);
  assert.deepEqual(page.odd(), []);
  await page.close();
  const again = await browser.page({ path: "/templates/webhook-relay" });
  await again.locator("form").getByRole("textbox").nth(1).fill("https://one.example/hook");
  await again.getByLabel("Name of the workflow").fill("relay-orders");
  await again.getByRole("button", { name: "Make a draft of it" }).click();
  await again.getByRole("alert").getByText("relay-orders").waitFor();
  assert.deepEqual(again.odd(["409"]), []);
});

test("dead letters are requeued and purged, one and many, after a count", async () => {
  const trigger = { type: "event", event: "order.created" };
  const schema = { type: "object", required: ["order"], properties: { order: { type: "integer" } } };
  await save({ name: "greet-customer", trigger, trigger_schema: schema, tasks: { greet: { action: "core.echo", with: { order: "{{trigger.body.order}}" } } } });
  for (const order of ["8841", "8842", ODD, "8844"]) await api("POST", "/events", { type: "order.created", data: { order } });
  await until("all are given up", async () => (await api("GET", "/dead-letters")).length === 4);
  await looked(browser, `/system/dead-letters?letter=${(await api("GET", "/dead-letters")).at(-1).id}`, "dead-letters", async (page, size) => {
    await page.getByRole("complementary", { name: "Dead letter" }).getByRole("tree").getByText("8841").waitFor();
    if (size === "usual") await page.getByRole("listitem").first().waitFor();
  });
  const page = await browser.page({ path: "/system/dead-letters" });
  const letters = page.getByRole("list", { name: "Dead letters" }).getByRole("listitem");
  await until("all are listed", async () => (await letters.count()) === 4);
  await page.keyboard.press("j");
  await page.getByRole("button", { name: "Requeue it" }).click();
  await until("it is requeued, refused again, and a letter of its own", async () => (await api("GET", "/dead-letters?state=requeued")).length === 1 && (await api("GET", "/dead-letters?state=open")).length === 4);
  await page.getByRole("complementary", { name: "Dead letter" }).getByText("Became").waitFor();
  await page.getByRole("button", { name: "Close the letter" }).click();
  await page.getByRole("button", { name: "Requeue all that match…" }).click();
  await page.getByRole("dialog").getByText("4 letters will be requeued.").waitFor();
  await judged(page, "the question before a requeue");
  await page.getByRole("button", { name: "Do nothing" }).click();
  assert.equal((await api("GET", "/dead-letters?state=requeued")).length, 1, "counting changes nothing");
  await page.getByLabel("Workflow").fill("greet-customer");
  await page.keyboard.press("Enter");
  await page.getByLabel("Kind").selectOption("event");
  await page.getByRole("button", { name: "Purge all that match…" }).click();
  await page.getByText("of greet-customer").waitFor();
  await page.getByRole("button", { name: "Purge 4 letters" }).click();
  await page.getByText("4 letters purged.").waitFor();
  await page.getByText("No dead letter matches").waitFor();
  assert.deepEqual((await api("GET", "/dead-letters")).map((one) => one.state), ["requeued"]);
  assert.deepEqual(page.odd(), []);
});

test("a run shows what it made elsewhere, and what was made is looked up", async () => {
  let made = 0;
  service.reply("/items", () => ({ id: `B-17/${(made += 1)}` }));
  const item = (title) => ({ action: "board.create-item", with: { title, board: "B-17" } });
  await save({ name: "plan-launch", tasks: { brief: item("Write the brief"), launch: { ...item(ODD), needs: ["brief"] } } });
  const { run_id } = await start("plan-launch");
  await ended(run_id);
  await looked(browser, `/runs/${run_id}/resources`, "run-resources", (page) => page.getByRole("link", { name: "B-17/2" }).waitFor());
  const page = await browser.page({ path: `/runs/${run_id}` });
  await page.getByRole("link", { name: "Resources 2" }).waitFor();
  await page.goto(new URL("/system/resources", page.url()).href);
  for (const [name, value] of [["System", "board"], ["Type", "item"], ["Id", "B-17/2"]]) await page.getByRole("textbox", { name, exact: true }).fill(value);
  await page.keyboard.press("Enter");
  await until("one is found", async () => (await page.getByRole("link", { name: /^B-17\// }).count()) === 1);
  assert.equal(place(page).searchParams.get("id"), "B-17/2");
  await page.getByRole("link", { name: "launch" }).click();
  await until("its run is open", async () => place(page).pathname === `/runs/${run_id}`);
});

for (const [name, path, ready] of [
  ["catalog", "/catalog", (page) => page.getByRole("link", { name: "board.create-item" }).waitFor()],
  ["connectors", "/catalog/connectors", (page) => page.getByRole("link", { name: "Project board" }).waitFor()],
  ["connector", "/connectors/slack", (page) => page.getByRole("link", { name: "slack.post-message" }).waitFor()],
  ["action", "/actions/board.create-item", (page) => page.getByText("action: board.create-item").waitFor()],
  ["templates", "/catalog/templates", (page) => page.getByRole("link", { name: /^Webhook relay/ }).waitFor()],
  ["template", "/templates/nightly-report-to-email", (page) => page.getByRole("button", { name: "Make a draft of it" }).waitFor()],
  ["resources", "/system/resources", (page) => page.getByRole("link", { name: "B-17/2" }).waitFor()],
]) {
  test(`${name} is good to look at, light, dark and on a phone`, () => looked(browser, path, name, ready));
}
