// What people answer, received requests, what runs are about, and the machinery, on a server that was just started.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { api, BASE, judged, openBrowser, picture, triedAgain, until } from "../browser.js";
import { startService } from "../service.js";
import { approval, call, ended, expense, ODD, orders, save, start, triggerOf } from "../shop.js";

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

test("empty views show the lines that would fill them", async () => {
  for (const [path, words] of [
    ["/inbox", "Nothing waits for an answer"],
    ["/triggers", "No webhook and no event yet"],
    ["/triggers/schedules", "No schedule yet"],
    ["/triggers/received", "Nothing was received yet"],
    ["/heroes", "No run is about anything yet"],
    ["/heroes/order/1", "No run is about order 1"],
  ]) {
    const page = await browser.page({ path });
    await page.getByText(words).waitFor();
    assert.ok((await page.locator("pre").count()) > 0, `${path} shows a line`);
    await judged(page, path);
    await page.close();
  }
});

test("a wait is answered by a button on a phone", async () => {
  await save(approval);
  const { run_id } = await start("discount-approval", { customer: ODD, discount: 25, order: { id: 8841, total: 12900 } }, "?hero=order:8841");
  const page = await browser.page({ path: "/inbox", size: "phone" });
  await page.getByRole("listitem").filter({ hasText: "order 8841" }).click();
  assert.match(place(page).searchParams.get("wait"), /^run_.*:approve-discount$/);
  await page.getByRole("tree").getByText("<script>alert").waitFor();
  const yes = page.getByRole("button", { name: "Yes, approved" });
  await yes.waitFor();
  const box = await yes.boundingBox();
  assert.ok(box.height >= 44 && box.x >= 0 && box.x + box.width <= 360, "a thumb can hit it");
  await judged(page, "a wait on a phone");
  await yes.click();
  await ended(run_id);
  assert.deepEqual((await api("GET", `/runs/${run_id}`)).tasks.grant.status, "success");
  await page.getByText("Nothing waits for an answer").waitFor();
  await page.close();
});

test("an approval with a form is decided on a phone that opened its address", async () => {
  await save(expense);
  const asked = { amount: 120, reason: "Train to Bern", receipt: ODD };
  const [{ run_id }, other] = [await start("expense", asked), await start("expense", asked)];
  const page = await browser.page({ path: `/inbox?wait=${run_id}:approve`, size: "phone" });
  await page.getByRole("heading", { name: "Expense of 120 EUR" }).waitFor();
  await page.getByRole("link", { name: /^Inbox\s*2 waiting for an answer$/ }).waitFor(); // each is counted once
  await page.getByText("Train to Bern", { exact: true }).waitFor();
  await page.getByRole("tree", { name: "What is asked about" }).getByText("<script>alert").waitFor();
  await page.getByText("then it counts as rejected").waitFor();
  await page.getByText("role:admin may decide too").waitFor();
  await page.getByText("none yet, the next").waitFor();
  await page.getByLabel("Comment").fill("fine");
  const yes = page.getByRole("button", { name: "Approve" });
  await yes.click();
  await page.getByText("1 field needs an answer").waitFor();
  const box = await yes.boundingBox();
  assert.ok(box.height >= 44 && box.x >= 0 && box.x + box.width <= 360, "a thumb can hit it");
  await judged(page, "an approval on a phone");
  await picture(page, "approval-phone");
  await page.getByLabel("Cost centre").selectOption("R&D");
  await yes.click();
  await ended(run_id);
  const { tasks } = await api("GET", `/runs/${run_id}`);
  const { approved, answer, comment } = tasks.approve.output;
  assert.deepEqual({ approved, answer, comment }, { approved: true, answer: { cost_center: "R&D" }, comment: "fine" });
  assert.deepEqual(tasks.pay.output, { paid_by: "R&D" });
  // A rejection needs no form.
  await page.goto(new URL(`/inbox?wait=${other.run_id}:approve`, BASE).href);
  await page.getByRole("button", { name: "Reject" }).click();
  await ended(other.run_id);
  assert.equal((await api("GET", `/runs/${other.run_id}`)).tasks.pay.status, "skipped");
  await page.getByText("Nothing waits for an answer").waitFor();
  await page.close();
});

test("a wait with a form of its own is answered by its fields", async () => {
  const form = { type: "object", properties: { parcels: { type: "integer", title: "Parcels" } }, required: ["parcels"] };
  await save({ name: "counted", trigger: "api", tasks: { count: { wait_for_webhook: { title: "How many parcels?", form, timeout: "2d" } } } });
  const { run_id } = await start("counted");
  const page = await browser.page({ path: "/inbox" });
  await page.getByLabel("Parcels").fill("many");
  await page.getByRole("button", { name: "Send" }).click();
  await page.getByText("many is not a number").waitFor();
  await page.getByLabel("Parcels").fill("3");
  await page.keyboard.press("Enter");
  await ended(run_id);
  assert.deepEqual((await api("GET", `/runs/${run_id}`)).tasks.count.body, { parcels: 3 });
  await page.close();
});

test("a wait is answered by keyboard alone, with another body", async () => {
  const runs = [];
  for (const [i, customer] of ["Ada Lovelace", "Alan Turing", "Grace Hopper"].entries()) {
    runs.push((await start("discount-approval", { customer, discount: 20 + i, order: { id: 8842 + i } }, `?hero=order:${8842 + i}`)).run_id);
  }
  const page = await browser.page({ path: "/inbox" });
  await until("all wait", async () => (await page.getByRole("listitem").count()) === 3);
  const chosen = () => place(page).searchParams.get("wait");
  await until("the first is chosen", async () => chosen() === `${runs[0]}:approve-discount`);
  await page.keyboard.press("j");
  await until("the next is chosen", async () => chosen() === `${runs[1]}:approve-discount`);
  await page.getByRole("button", { name: "Yes, approved" }).waitFor();
  await page.keyboard.press("Enter");
  for (let i = 0; i < 2; i += 1) await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Control+a");
  await page.keyboard.type('{"approved": false, "by": "ann"}');
  await page.keyboard.press("Control+Enter");
  await ended(runs[1]);
  const { tasks } = await api("GET", `/runs/${runs[1]}`);
  assert.deepEqual(tasks["approve-discount"].body, { approved: false, by: "ann" });
  await until("the next one took its place", async () => chosen() === `${runs[2]}:approve-discount`);
  await judged(page, "inbox by keyboard");
  // Somebody else was faster: the page says so and moves on.
  await api("POST", `/runs/${runs[2]}/steps/approve-discount/answer`, { approved: true });
  await page.getByText("This wait was answered").waitFor();
  await api("POST", `/runs/${runs[0]}/steps/approve-discount/answer`, { approved: true });
  await page.getByText("Nothing waits for an answer").waitFor();
  await page.close();
});

test("an inbox of many waits goes on to its end, and keeps what is chosen", async () => {
  const runs = [];
  for (let i = 0; i < 120; i += 1) runs.push((await start("discount-approval", { customer: `Customer ${i}`, discount: i })).run_id);
  const page = await browser.page({ path: "/inbox" });
  const list = page.getByRole("list", { name: "Waits" });
  await page.getByText("100 waits and more").waitFor();
  assert.ok((await list.getByRole("listitem").count()) < 60, "not every row is mounted");
  const chosen = () => place(page).searchParams.get("wait");
  const first = await until("one is chosen", chosen);
  await until("the last one is reached", async () => {
    await list.evaluate((one) => one.scrollTo(0, one.scrollHeight));
    return (await list.getByText("customer Customer 119 ").count()) === 1;
  });
  assert.equal(chosen(), first, "scrolling chooses nothing");
  await judged(page, "many waits");
  await page.close();
  await api("POST", "/runs/bulk", { action: "cancel", filter: { workflow: "discount-approval", status: ["running"] }, dry_run: false });
});

test("a webhook that was received is looked at and replayed", async () => {
  service.answer("/charge", 200, { id: "ch_1" });
  await save({ ...orders(service.url), trigger_schema: { type: "object", required: ["order_id"] } });
  const trigger = await triggerOf("order-processing");
  const first = await call(trigger.url, { order_id: 8841, note: ODD }, { "x-shop": "zurich" });
  assert.equal((await call(trigger.url, { wrong: true })).status, 400);
  await ended(first.data.run_id);
  const page = await browser.page({ path: "/triggers/received" });
  await page.getByRole("listitem").filter({ hasText: "Refused" }).waitFor();
  await page.getByLabel("Result").selectOption("started");
  await until("one is left", async () => (await page.getByRole("listitem").count()) === 1);
  await page.getByRole("listitem").click();
  const detail = page.getByRole("complementary", { name: "What was received" });
  await detail.getByText("<script>alert").waitFor();
  await detail.getByText("x-shop").waitFor();
  const before = place(page).searchParams.get("firing");
  await detail.getByRole("button", { name: "Replay it as a new run" }).click();
  await until("the replay is shown", async () => place(page).searchParams.get("firing") !== before);
  await detail.getByText("Replay of").waitFor();
  const [replayed] = await api("GET", `/triggers/${trigger.id}/firings?limit=1`);
  assert.equal(replayed.replay_of, before);
  await ended(replayed.run_id);
  assert.equal((await api("GET", `/runs/${replayed.run_id}`)).input.body.note, ODD);
  await judged(page, "replayed");
  await page.close();
});

test("requests come while they are watched, and wait behind a line while one is read", async () => {
  const trigger = await triggerOf("order-processing");
  const page = await browser.page({ path: "/triggers/received" });
  const rows = page.getByRole("list", { name: "Received" }).getByRole("listitem");
  await rows.first().waitFor();
  const before = await rows.count();
  assert.equal((await call(trigger.url, { wrong: 1 })).status, 400);
  await until("the refused one comes by itself", async () => (await rows.count()) === before + 1);
  await rows.first().getByText("Refused").waitFor();
  // One is read: nothing is put above it until a person wants it.
  await page.keyboard.press("j");
  await page.getByRole("complementary", { name: "What was received" }).waitFor();
  const reading = place(page).searchParams.get("firing");
  for (let i = 0; i < 3; i += 1) assert.equal((await call(trigger.url, { order_id: 9000 + i, amount: i })).status, 201);
  await page.getByRole("button", { name: "3 new" }).waitFor();
  assert.equal(await rows.count(), before + 1, "the list stays as it was");
  assert.equal(await rows.first().getAttribute("aria-current"), "true");
  await judged(page, "new requests wait");
  await page.keyboard.press(".");
  await until("they are there", async () => (await rows.count()) === before + 4);
  assert.equal(place(page).searchParams.get("firing"), reading, "what is read stays open");
  // A list that has been scrolled, or that shows something else, stays where it is.
  await page.goto(`${BASE}/triggers/received?status=refused`);
  await until("only refused ones are there", async () => (await rows.count()) > 0 && (await rows.allInnerTexts()).every((one) => one.includes("Refused")));
  const refused = await rows.count();
  await call(trigger.url, { order_id: 9100 });
  await call(trigger.url, { wrong: 2 });
  await until("the refused one comes", async () => (await rows.count()) === refused + 1);
  await judged(page, "requests come", ["400"]);
  await page.close();
});

test("one order has all its runs and what happened", async () => {
  await ended((await start("order-processing", { order_id: 8841, amount: 5 }, "?hero=order:8841")).run_id);
  service.answer("/charge", 422, { error: "card declined" });
  await ended((await start("order-processing", { order_id: 8841, amount: 5 }, "?hero=order:8841")).run_id);
  const page = await browser.page({ path: "/heroes?type=order" });
  await page.getByRole("link", { name: "order 8841" }).click();
  await until("it is open", async () => place(page).pathname === "/heroes/order/8841");
  await page.getByText("charge failed", { exact: false }).first().waitFor();
  await page.getByText("grant succeeded", { exact: false }).first().waitFor();
  const entries = page.getByRole("region", { name: "What happened" }).getByRole("listitem");
  await entries.first().waitFor();
  const few = await entries.count();
  await page.getByLabel("Every entry").check();
  assert.equal(place(page).search, "?entries=all");
  await until("it is as long or longer", async () => (await entries.count()) >= few);
  await judged(page, "hero");
  await page.close();
});

test("nodes, queues and storage are shown, and that the API is open", async () => {
  await start("discount-approval", { customer: "Ada Lovelace", discount: 25 });
  const page = await browser.page({ path: "/system" });
  await page.getByText("This API is open").waitFor();
  await page.getByText("Alive").waitFor();
  await page.getByRole("region", { name: "Queues" }).getByText("default").waitFor();
  await page.getByRole("link", { name: "Storage" }).click();
  await page.getByRole("link", { name: "order-processing" }).waitFor();
  await page.close();
});

test("a server that refuses is told of, with a way to try again", async () => {
  const page = await browser.page({ path: "/system" });
  await page.getByText("Alive").waitFor();
  for (const [path, route, words, there] of [
    ["/inbox", "**/api/v1/waits*", "The inbox could not be read", "Ada Lovelace"],
    ["/triggers/received", "**/api/v1/firings*", "What was received could not be listed", "order-processing"],
    ["/system/storage", "**/api/v1/storage*", "The storage could not be measured", "order-processing"],
  ]) {
    let refused = 0;
    const refuse = (one) => (refused += 1) && one.fulfill({ status: 500, contentType: "application/json", body: '{"error": "internal", "code": "internal", "message": "out of order"}' });
    await page.route(route, refuse);
    await page.goto(`${BASE}${path}`);
    await page.getByText(words).waitFor();
    await page.getByText("out of order").waitFor();
    // It is pressed while the server still refuses, because the page also reads again by itself.
    const before = refused;
    await page.getByRole("button", { name: "Try again" }).click();
    await until(`${path} is asked again`, async () => refused > before);
    await page.unroute(route);
    await triedAgain(page, page.locator("#main").getByText(there));
    if (path !== "/system/storage") continue;
    // What is shown stays when it cannot be read again. The page reads again what is older than a minute.
    await page.evaluate(() => {
      const now = Date.now;
      Date.now = () => now() + 3_600_000;
    });
    const shown = refused;
    await page.route(route, refuse);
    await until("the storage is read again", async () => {
      await page.evaluate(() => window.dispatchEvent(new Event("visibilitychange")));
      return refused > shown;
    });
    assert.ok(await page.locator("#main").getByText(there).first().isVisible(), "what it had is still shown");
    assert.equal(await page.getByText(words).count(), 0);
  }
  await judged(page, "refused", ["500"]);
  await page.close();
});
