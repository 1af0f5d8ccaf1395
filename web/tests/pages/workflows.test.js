// Workflows in a browser: the list, every tab of one, and its verbs, on a server that was just started.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { api, judged, openBrowser, picture, until } from "../browser.js";
import { startService } from "../service.js";
import { approval, call, ended, ODD, orders, report, save, start, triggerOf } from "../shop.js";

let browser;
let service;
before(async () => {
  browser = await openBrowser();
  service = await startService();
});
after(async () => {
  await browser?.close();
  await service?.stop();
});

const place = (page) => new URL(page.url());
const node = (page, name) => page.locator(`.react-flow__node[data-id="${name}"]`);
const dialog = (page) => page.getByRole("dialog");
const current = async (name) => (await api("GET", `/workflows/${name}`)).current_version;

test("an empty list shows the lines that would fill it", async () => {
  const page = await browser.page({ path: "/workflows" });
  await page.getByText("No workflow yet").waitFor();
  assert.match(await page.locator("pre").first().innerText(), /detent apply/);
  await judged(page, "empty");
  await page.close();
});

test("the list says how each did lately", async () => {
  service.answer("/score", 200, { score: 12 });
  await save(orders(service.url));
  await save(approval);
  await save(report);
  const { url } = await triggerOf("order-processing");
  const started = [];
  for (let i = 0; i < 9; i += 1) started.push((await call(url, { order_id: 8800 + i, amount: 1200 * i })).data.run_id);
  await Promise.all(started.map(ended));
  service.answer("/charge", 422, { error: "card declined" });
  for (let i = 0; i < 2; i += 1) await ended((await call(url, { order_id: 8900 + i, amount: 5 })).data.run_id);
  service.answer("/charge", 200, { id: "ch_1" });
  const second = orders(service.url);
  second.tasks.notify = { needs: ["ship"], action: "core.echo", with: { text: "Order {{trigger.body.order_id}} is on its way" } };
  await save(second);
  for (let i = 0; i < 7; i += 1) await ended((await call(url, { order_id: 9000 + i, amount: 900 * i, parcel: { size: "M" } })).data.run_id);
  await start("discount-approval", { customer: "Ada Lovelace", discount: 25 }, "?hero=order:8841");
  const page = await browser.page({ path: "/workflows" });
  await page.getByRole("img", { name: "Last 18 runs: 16 completed, 2 failed" }).waitFor();
  await page.getByText("88.9 %").waitFor();
  await page.getByRole("link", { name: "nightly-invoices" }).waitFor();
  await page.keyboard.press("/");
  await page.keyboard.type("invoice");
  await until("one row is left", async () => (await page.locator("[role=row]").count()) === 2);
  assert.equal(place(page).search, "?search=invoice");
  await page.keyboard.press("Tab");
  await page.locator("[role=rowgroup][tabindex]").focus();
  await page.keyboard.press("j");
  await page.keyboard.press("Enter");
  await until("the keyboard opened it", async () => place(page).pathname === "/workflows/nightly-invoices");
  await judged(page, "by keyboard");
  await page.close();
});

test("the graph shows any version, and a step as it was written", async () => {
  const page = await browser.page({ path: "/workflows/order-processing?step=charge" });
  await node(page, "charge").waitFor();
  await page.getByRole("complementary", { name: "Step charge" }).getByText("{{trigger.body.amount}}").waitFor();
  await page.goto(new URL("/workflows/order-processing", page.url()).href);
  await node(page, "notify").waitFor();
  await page.getByLabel("Version").selectOption("1");
  await until("version 1 has no such step", async () => (await node(page, "notify").count()) === 0);
  assert.equal(place(page).search, "?version=1");
  await page.goBack();
  await node(page, "notify").waitFor();
  await judged(page, "graph");
  await page.close();
});

test("the grid is walked by arrows and opens a run at a step", async () => {
  const page = await browser.page({ path: "/workflows/order-processing/grid?step=charge" });
  await page.getByText("2 of 18").waitFor();
  const grid = page.getByRole("grid");
  await grid.focus();
  for (let i = 0; i < 7; i += 1) await page.keyboard.press("ArrowLeft");
  await page.getByText(/Failed .*in …/).waitFor();
  await page.keyboard.press("Enter");
  await until("the run is open", async () => place(page).pathname.startsWith("/runs/run_") && place(page).searchParams.get("step") === "charge");
  await page.close();
});

test("a draft is published after its rehearsal", async () => {
  const draft = orders(service.url);
  delete draft.tasks["send-receipt"];
  draft.tasks.ship = { needs: ["reserve-stock"], action: "core.echo", with: { parcel: "{{trigger.body.parcel.size}}" } };
  await save(draft, "?draft=true");
  const page = await browser.page({ path: "/workflows/order-processing/versions/draft" });
  await page.getByText("1 step removed", { exact: false }).or(page.getByText("2 steps removed", { exact: false })).waitFor();
  await page.goto(new URL("/workflows/order-processing", page.url()).href);
  await page.getByRole("button", { name: "Publish…" }).click();
  await dialog(page).getByText(/finished runs would fail/).first().waitFor();
  await dialog(page).getByText(/'parcel' is not in trigger.body/).first().waitFor();
  const publish = dialog(page).getByRole("button", { name: "Publish as version 3" });
  assert.equal(await publish.isDisabled(), true, "a draft that fails is not published by one click");
  await picture(page, "publish-fails-light");
  await judged(page, "a rehearsal with failures");
  // The draft is mended; the rehearsal that was shown is not that of the new one.
  draft.tasks.ship.with = { parcel: "{{trigger.body.parcel.size ?? 'S'}}" };
  await save(draft, "?draft=true");
  await dialog(page).getByLabel("Publish although").check();
  await publish.click();
  await dialog(page).getByRole("alert").waitFor();
  assert.equal(await current("order-processing"), 2, "what was not rehearsed is not published");
  await page.reload();
  await dialog(page).getByText("would fail", { exact: true }).waitFor();
  await dialog(page).getByText(/take another path|take the same path/).first().waitFor();
  await dialog(page).getByText(/parameters? would differ/).first().click();
  await judged(page, "a rehearsal", ["412"]);
  await dialog(page).getByRole("button", { name: "Publish as version 3" }).click();
  await until("it is current", async () => (await current("order-processing")) === 3);
  await until("the dialog is closed", async () => (await dialog(page).count()) === 0);
  await page.close();
});

test("versions are compared and an older one made current again", async () => {
  const page = await browser.page({ path: "/workflows/order-processing/versions/1?compare=3" });
  await page.getByText(/steps? added/).waitFor();
  await page.getByRole("button", { name: "Make it current…" }).click();
  await dialog(page).getByRole("button", { name: "Make version 1 current" }).click();
  await until("it is current", async () => (await current("order-processing")) === 1);
  await judged(page, "activate");
  await page.close();
  await api("POST", "/workflows/order-processing/versions/3/activate");
});

test("runs in flight are counted, then moved", async () => {
  const second = structuredClone(approval);
  second.tasks.log = { needs: ["grant"], action: "core.echo", with: { ok: true } };
  await save(second);
  const page = await browser.page({ path: "/workflows/discount-approval?do=move" });
  await dialog(page).getByText("1 of 1 run in flight can be moved", { exact: false }).waitFor();
  await judged(page, "moves");
  await dialog(page).getByRole("button", { name: "Move 1 run to version 2" }).click();
  await until("it was moved", async () => (await api("GET", "/runs?workflow=discount-approval"))[0].version === 2);
  await page.close();
});

test("a run is started by hand, and its result shown", async () => {
  const page = await browser.page({ path: "/workflows/order-processing" });
  await page.getByRole("button", { name: "Start a run…" }).click();
  assert.equal(place(page).search, "?do=start");
  const input = dialog(page).getByLabel("Input, as JSON");
  await input.fill("{order: 1}");
  await dialog(page).getByRole("alert").getByText(/not JSON/).waitFor();
  await dialog(page).getByRole("button", { name: "Take the input of the last run" }).click();
  await until("the input is there", async () => (await input.inputValue()).includes("order_id"));
  await input.fill(JSON.stringify({ order_id: ODD, amount: 1 }));
  await page.keyboard.press("Control+Enter");
  await dialog(page).getByText("Completed").waitFor();
  await picture(page, "start-light");
  await judged(page, "started");
  await dialog(page).getByRole("link", { name: "Open the run" }).click();
  await until("it is open", async () => place(page).pathname.startsWith("/runs/run_"));
  await page.close();
});

test("a webhook is tried with a real request", async () => {
  const page = await browser.page({ path: "/workflows/order-processing/triggers" });
  await page.getByText("Try it").click();
  await page.getByLabel("Body, sent as it is").fill(JSON.stringify({ order_id: 7, amount: 1, note: ODD }));
  await page.getByRole("button", { name: "Send the request" }).click();
  await page.getByRole("region", { name: "Answer" }).getByText("201").waitFor();
  await judged(page, "console");
  await page.close();
  const [last] = await api("GET", "/runs?workflow=order-processing&trigger=webhook&limit=1");
  const run = await ended(last.id).then(() => api("GET", `/runs/${last.id}`));
  assert.equal(run.input.body.note, ODD);
});

test("a schedule is paused with a note, fired, and its past filled", async () => {
  const page = await browser.page({ path: "/workflows/nightly-invoices/schedules" });
  await until("ten slots are shown", async () => (await page.getByRole("article").getByRole("listitem").count()) >= 10);
  await page.getByRole("button", { name: "Pause…" }).click();
  await dialog(page).getByLabel("Why, for other people").fill(`The bank is closed ${ODD}`);
  await page.keyboard.press("Enter");
  await page.getByText(`Paused: The bank is closed ${ODD}`).first().waitFor();
  const trigger = await triggerOf("nightly-invoices");
  assert.deepEqual([trigger.enabled, trigger.note], [false, `The bank is closed ${ODD}`]);
  await judged(page, "paused");
  await page.getByRole("button", { name: "Fill the past…" }).click();
  // Half of yesterday has its slot once, whatever the time is now.
  const from = dialog(page).getByLabel("From, on your clock");
  const [day] = (await from.inputValue()).split("T");
  await from.fill(`${day}T00:30`);
  await dialog(page).getByLabel("To", { exact: true }).fill(`${day}T12:30`);
  await dialog(page).getByRole("button", { name: "Count the slots" }).click();
  const fire = dialog(page).getByRole("button", { name: /^Fire 1 slot$/ });
  await fire.waitFor();
  assert.deepEqual(await api("GET", "/runs?workflow=nightly-invoices"), [], "counting starts nothing");
  await judged(page, "counted");
  await fire.click();
  await until("the slot has its run", async () => (await api("GET", "/runs?workflow=nightly-invoices")).length === 1);
  await page.getByRole("button", { name: "Fire now…" }).click();
  await dialog(page).getByRole("button", { name: "Fire it" }).click();
  await until("it fired, though it is paused", async () => (await api("GET", "/runs?workflow=nightly-invoices")).length === 2);
  await page.getByText("Next, if it is resumed").waitFor();
  await page.close();
  const again = await browser.page({ path: "/triggers/schedules" });
  await again.getByRole("button", { name: "Resume…" }).click();
  await dialog(again).getByRole("button", { name: "Resume it" }).click();
  await until("it fires again", async () => (await triggerOf("nightly-invoices")).enabled);
  await judged(again, "resumed");
  await again.close();
});

test("a workflow is disabled, enabled, archived and reactivated", async () => {
  const page = await browser.page({ path: "/workflows/nightly-invoices" });
  for (const [item, word, check] of [
    ["Disable…", "Disable it", (one) => !one.enabled],
    [null, "Enable it", (one) => one.enabled],
    ["Archive…", "Archive it", (one) => one.status === "archived"],
    [null, "Reactivate it", (one) => one.status === "active"],
  ]) {
    if (item) {
      await page.getByRole("button", { name: "More that can be done" }).click();
      await page.getByRole("menuitem", { name: item }).click();
    } else await page.getByRole("button", { name: /^(Enable|Reactivate)…$/ }).click();
    await dialog(page).getByRole("button", { name: word }).click();
    await until(word, async () => check(await api("GET", "/workflows/nightly-invoices")));
    await until("the dialog is closed", async () => (await dialog(page).count()) === 0);
  }
  await judged(page, "life");
  await page.close();
});

test("the runs of a workflow come while they are watched", async () => {
  const page = await browser.page({ path: "/workflows/nightly-invoices/runs" });
  const rows = page.getByRole("table").getByRole("row");
  await until("two are there", async () => (await rows.count()) === 2);
  await start("nightly-invoices");
  await until("the third comes by itself", async () => (await rows.count()) === 3);
  await judged(page, "runs");
  await page.close();
});

test("a long list mounts what is seen, and goes on to its end", async () => {
  for (let i = 0; i < 130; i += 1) await save({ name: `long-${String(i).padStart(3, "0")}-${"x".repeat(40)}`, tasks: { a: { sleep: "1s" } } });
  const page = await browser.page({ path: "/workflows?search=long" });
  const list = page.locator("[role=rowgroup][tabindex]");
  await list.getByRole("row").first().waitFor();
  assert.ok((await list.getByRole("row").count()) < 60, "not every row is mounted");
  await until("the last one is reached", async () => {
    await list.evaluate((one) => one.scrollTo(0, one.scrollHeight));
    return (await page.getByRole("link", { name: /^long-129/ }).count()) === 1;
  });
  await judged(page, "a long list");
  await page.close();
});

test("a workflow that is not there says so, with a way on", async () => {
  const page = await browser.page({ path: `/workflows/${encodeURIComponent(ODD)}` });
  await page.getByRole("alert").getByText("could not be shown").waitFor();
  await page.getByRole("button", { name: "Try again" }).waitFor();
  await judged(page, "missing", ["404"]);
  await page.close();
});
