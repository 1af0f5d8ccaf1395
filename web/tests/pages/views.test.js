// Every view of a shop with a past: light, dark and on a phone. Nothing scrolls sideways, axe finds nothing serious, and a
// picture is taken of each, if pictures are wanted.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { api, judged, looked, openBrowser, until } from "../browser.js";
import { startService } from "../service.js";
import { approval, call, ended, everyKind, ODD, ORDER, save, start, triggerOf } from "../shop.js";

const HOUR = 3_600_000;
let browser;
let service;
let runs;

before(async () => {
  [browser, service] = await Promise.all([openBrowser(), startService()]);
  runs = await open();
});
after(async () => {
  await browser?.close();
  await service?.stop();
});

const once = (run, is) => until(`${run} is as wanted`, async () => is(await api("GET", `/runs/${run}`)));
const row = (page, id) => page.locator(`#row-${id}`);

/** What goes on in the shop now: a run of every kind of step, waits, a family, requests, a draft, and a queued run. */
async function open() {
  service.answer("/score", 200, { score: 31, rules: ["velocity"] });
  service.answer("/charge", 502, { error: "upstream connect error" });
  await save({ ...everyKind(service.url, "order-processing"), description: "Charges an order, reserves its stock and ships it", trigger: { type: "webhook" }, trigger_schema: { type: "object", required: ["order"] } });
  await save(approval);
  const hook = await triggerOf("order-processing");
  const { data } = await call(hook.url, ORDER, { "x-shop": "zurich", "x-request-id": "req_8f2c91" });
  await once(data.run_id, (one) => one.tasks.charge.attempts.length >= 2);
  service.answer("/charge", 201, { id: "ch_3PqT9", amount: 12900, currency: "eur", captured: true, risk: { score: 31, rules: ["velocity", "geo"] } });
  await once(data.run_id, (one) => one.tasks["reserve-stock"].status === "success" && one.tasks["cool-off"].status === "sleeping");
  assert.equal((await call(hook.url, { wrong: true, note: ODD })).status, 400);
  const waits = [["Ada Lovelace", 25], ["Alan Turing", 40], ["Grace Hopper", 30]];
  for (const [i, [customer, discount]] of waits.entries()) {
    await start("discount-approval", { customer, discount, order: { id: 8841 + i, total: 12900 + 700 * i } }, `?hero=order:${8841 + i}&label=team:sales`);
  }
  const queued = (await start("label-printing", { parcel: 7 }, "?hero=order:8841")).run_id;
  await until("it is queued", async () => (await api("GET", "/runs?stage=queued")).length > 0);
  await ended((await start("refund", { order: 8841 }, "?hero=order:8841")).run_id);
  return { order: data.run_id, queued, family: await family(), hook };
}

async function family() {
  const echo = { action: "core.echo", with: { ok: true } };
  await save({ name: "charge-one", tasks: { charge: echo } });
  await save({ name: "close-month", tasks: { book: { action: "core.echo", with: { account: "{{trigger.body.missing.account}}" } } } });
  const each = { workflow: "charge-one", for_each: "{{trigger.body.customers}}", with: { n: "{{item}}" } };
  await save({ name: "month-end", description: "Charges all customers, then closes the month", tasks: { each, close: { needs: ["each"], workflow: "close-month" } } });
  const { run_id } = await start("month-end", { customers: [1, 2, 3, 4] });
  await ended(run_id);
  return run_id;
}

/** A view: its name, its path, and what is there once it is ready. */
const VIEWS = [
  ["runs", () => "/runs", async (page) => {
    await row(page, runs.queued).getByText(/^waits for a free node: \d+ [smh]/).waitFor();
    await page.getByRole("img", { name: /^Runs from .*failed/ }).waitFor();
  }],
  ["runs-brush", () => `/runs?${new URLSearchParams({ from: at(-2.3), to: at(-1) })}`, async (page) => {
    await page.getByRole("row").filter({ hasText: "answered 502" }).first().waitFor();
    await page.getByRole("img", { name: /^Runs from/ }).waitFor();
  }],
  ["runs-failing", () => "/runs?view=failing", (page) => page.getByRole("row").filter({ hasText: "answered 502" }).first().waitFor()],
  ["run", () => `/runs/${runs.order}`, async (page) => {
    await page.locator('.react-flow__node[data-id="charge"]').waitFor();
    await page.getByRole("group", { name: "Steps over time" }).waitFor();
  }, true],
  ["run-panel", () => `/runs/${runs.order}?step=charge&part=input`, (page) => page.getByText("trigger.body.total - trigger.body.discount").first().waitFor()],
  ["run-time-travel", () => `/runs/${runs.order}?step=charge&at=3`, async (page) => {
    await page.getByText("After entry 3 of").waitFor();
    await page.getByRole("complementary", { name: "Step charge" }).getByText("Retrying").waitFor();
  }],
  ["run-journal", () => `/runs/${runs.order}/journal?entry=3`, (page) => page.getByRole("complementary", { name: "Entry 3" }).waitFor()],
  ["run-data", () => `/runs/${runs.order}/data?of=charge`, (page) => page.getByText("captured").waitFor()],
  ["run-steps", () => `/runs/${runs.order}/steps`, (page) => page.getByRole("row").filter({ hasText: "reserve-stock" }).waitFor()],
  ["run-family", () => `/runs/${runs.family}/family`, (page) => page.getByText("for each of 4: 4 succeeded, 0 failed").waitFor()],
  ["workflows", () => "/workflows", (page) => page.getByRole("img", { name: /^Last 30 runs/ }).first().waitFor()],
  ["workflow-graph", () => "/workflows/order-processing?step=charge", (page) => page.getByRole("complementary", { name: "Step charge" }).getByText("{{trigger.body.total - trigger.body.discount}}").waitFor()],
  ["workflow-grid", () => "/workflows/order-processing/grid?step=charge", (page) => page.getByText(/^\d+ of \d+$/).first().waitFor()],
  ["workflow-versions", () => "/workflows/order-processing/versions/2?compare=1", (page) => page.getByText(/steps? added/).waitFor()],
  ["workflow-triggers", () => `/workflows/order-processing/triggers?try=${runs.hook.id}`, async (page) => {
    await page.getByText("Started a run").first().waitFor();
    await page.getByRole("button", { name: "Send the request" }).waitFor();
  }],
  ["triggers", () => "/triggers", (page) => page.getByText("Started a run").first().waitFor()],
  ["schedules", () => "/triggers/schedules", (page) => page.getByText("Slots were missed.").waitFor()],
  ["publish", () => "/workflows/user-onboarding?do=publish", (page) => page.getByRole("dialog").getByText(/take another path|take the same path|would fail/).first().waitFor()],
  ["inbox", () => "/inbox", async (page, size) => {
    await page.getByRole("listitem").filter({ hasText: "Ada Lovelace" }).waitFor();
    if (size === "phone") await page.getByRole("listitem").filter({ hasText: "Ada Lovelace" }).click();
    await page.getByRole("tree").getByText("Ada Lovelace").waitFor();
  }, true],
  ["hero", () => "/heroes/order/8841", (page) => page.getByRole("region", { name: "What happened" }).getByRole("listitem").first().waitFor()],
  ["heroes", () => "/heroes", (page) => page.getByRole("link", { name: /^order \d+/ }).first().waitFor()],
  ["received", () => "/triggers/received", async (page, size) => {
    await page.getByRole("listitem").filter({ hasText: "Refused" }).waitFor();
    await page.getByRole("listitem").filter({ hasText: "order-processing" }).last().click();
    await page.getByText("x-shop").waitFor();
  }, true],
  ["system", () => "/system", async (page) => {
    await page.getByText("Alive").waitFor();
    await page.getByText("no node takes runs from it").waitFor();
  }],
  ["storage", () => "/system/storage", (page) => page.getByRole("link", { name: "order-processing" }).waitFor()],
];

const at = (hours) => new Date(Date.now() + hours * HOUR).toISOString();

test("a draft is there to be published", async () => {
  const draft = (await api("GET", "/workflows/user-onboarding/versions/1")).definition;
  draft.tasks["schedule-tour"].with = { workspace: "{{trigger.body.workspace.name}}" };
  draft.tasks["ask-for-feedback"] = { needs: ["schedule-tour"], sleep: "7d" };
  await api("PUT", "/workflows/user-onboarding?draft=true", draft);
});

test("slots that were missed are told, with what was started instead and how to start the others", async () => {
  const [trigger] = await api("GET", "/triggers?workflow=stock-sync");
  const page = await browser.page({ path: "/triggers/schedules" });
  const schedule = page.getByRole("article").filter({ hasText: "stock-sync" });
  const notice = schedule.getByRole("note");
  // A slot before midnight has its day before its time.
  await notice.getByText(/4 slots from .*\d\d:\d\d.* on passed while no node was running and started nothing/).waitFor();
  await notice.getByText(/the slot of .*\d\d:\d\d.* was started late/).waitFor();
  const late = schedule.getByRole("listitem").filter({ hasText: /slot of .*, (29|[3-5]\d) m \d+ s late/ });
  const run = (await late.getByRole("link", { name: "its run" }).getAttribute("href")).split("/").at(-1);
  assert.equal((await api("GET", `/runs/${run}`)).trigger_id, trigger.id);
  await notice.getByRole("button", { name: "Start them now…" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Count the slots" }).waitFor();
  await judged(page, "missed slots");
  await page.close(); // an open page holds a connection, and a browser has six
});

for (const [name, path, ready, again] of VIEWS) {
  test(`${name} is good to look at, light, dark and on a phone`, () => looked(browser, path(), name, ready, again));
}
