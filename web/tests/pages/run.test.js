// The page of a run, in a real browser before a real Detent.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { api, BASE, judged, looked, openBrowser, picture, until } from "../browser.js";
import { startService } from "../service.js";
import { everyKind, ORDER } from "../shop.js";

let service;
let browser;

before(async () => {
  [service, browser] = await Promise.all([startService(), openBrowser()]);
});

after(async () => {
  await browser?.close();
  await service?.stop();
});

const save = (definition) => api("PUT", `/workflows/${definition.name}`, definition);
const start = async (workflow, body = {}) => (await api("POST", `/workflows/${workflow}/trigger`, body)).run_id;
/** The document of a run once it is as a test wants it. */
const once = (run, is) =>
  until(`${run} is as wanted`, async () => {
    const document = await api("GET", `/runs/${run}`);
    return is(document) ? document : undefined;
  });
const open = (run, rest = "", options = {}) => browser.page({ path: `/runs/${run}${rest}`, size: "wide", ...options });

const shop = (name) => everyKind(service.url, name);

const node = (page, name) => page.locator(`.react-flow__node[data-id="${name}"]`);
const state = (page, name) => node(page, name).locator("[data-state]").getAttribute("data-state");
const hasState = (page, name, wanted) => node(page, name).locator(`[data-state="${wanted}"]`).waitFor();

test("a run is watched live until it fails, mended, and retried to its end", async () => {
  service.answer("/mail-it", 500, { error: "mailbox is full" });
  const goOn = service.hold("/prepare");
  await save({
    name: "newsletter",
    tasks: {
      prepare: { url: `${service.url}/prepare` },
      render: { needs: ["prepare"], action: "core.echo", with: { text: "Hello" } },
      send: { needs: ["render"], url: `${service.url}/mail-it`, method: "POST", retries: { attempts: 0 } },
      report: { needs: ["send"], action: "core.echo", with: { done: true } },
    },
  });
  const run = await start("newsletter");
  const page = await open(run, "?step=render");
  await page.getByRole("heading", { level: 1 }).filter({ hasText: "prepare runs" }).waitFor();
  await hasState(page, "prepare", "running");
  assert.equal(await state(page, "send"), "pending");
  goOn();
  await hasState(page, "send", "failed");
  await page.getByRole("heading", { level: 1 }).filter({ hasText: /send failed: .*500/ }).waitFor();
  await hasState(page, "prepare", "success");
  // The step that a person chose stays chosen.
  await page.getByRole("complementary", { name: "Step render" }).waitFor();
  await page.getByRole("link", { name: "send", exact: true }).click();
  const panel = page.getByRole("complementary", { name: "Step send" });
  await panel.getByText(/answered 500/).first().waitFor();
  await judged(page, "a failed run");
  await picture(page, "run-failed-light");

  service.answer("/mail-it", 200, { sent: true });
  await page.getByRole("button", { name: "Retry…" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByText("Keeps 2 results").waitFor();
  await dialog.getByText("prepare, render").waitFor();
  await dialog.getByText("Runs 2 steps again").waitFor();
  await judged(page, "the dialog of a retry");
  await dialog.getByRole("button", { name: "Retry 2 steps" }).click();
  await page.getByRole("heading", { level: 1 }).filter({ hasText: "Completed" }).waitFor();
  assert.notEqual(new URL(page.url()).pathname, `/runs/${run}`);
  await hasState(page, "report", "success");
  await page.close();
});

test("a wait is answered on a phone", async () => {
  await save({
    name: "refund",
    tasks: {
      look: { action: "core.echo", with: { order: "{{trigger.body.order}}" } },
      approve: { needs: ["look"], wait_for_webhook: { timeout: "1d" } },
      pay: { needs: ["approve"], if: "tasks.approve.body.ok == true", action: "core.echo", with: { paid: true } },
    },
  });
  const run = await start("refund", { order: 8841, amount: 120 });
  await once(run, (one) => one.tasks.approve.status === "waiting");
  const page = await open(run, "", { size: "phone" });
  await page.getByRole("heading", { level: 1 }).filter({ hasText: "Waits for an answer to approve" }).waitFor();
  const wide = await page.evaluate(() => document.documentElement.scrollWidth);
  assert.ok(wide <= 360, `the page is ${wide} px wide`);
  await judged(page, "a run on a phone");
  await page.getByRole("button", { name: "Answer…" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByText("amount").waitFor();
  await judged(page, "the answer on a phone");
  await picture(page, "run-answer-phone");
  await dialog.getByRole("button", { name: "Yes, ok" }).click();
  await page.getByRole("heading", { level: 1 }).filter({ hasText: "Completed" }).waitFor();
  const ended = await once(run, (one) => one.status === "completed");
  assert.equal(ended.tasks.pay.status, "success");
  assert.deepEqual(ended.tasks.approve.body, { ok: true });
  await page.close();
});

test("the journal is travelled through: graph, list, panel and URL show the run as it was", async () => {
  service.answer("/score", 200, { score: 31 });
  service.answer("/charge", 502, { error: "upstream connect error" });
  await save(shop("order-processing"));
  const run = await start("order-processing", ORDER);
  await once(run, (one) => one.tasks.charge.attempts.length >= 2);
  service.answer("/charge", 201, { id: "ch_3PqT9", amount: 12900, currency: "eur", captured: true, risk: { score: 31, rules: ["velocity", "geo"] } });
  await once(run, (one) => one.tasks["reserve-stock"].status === "success" && one.tasks["cool-off"].status === "sleeping");
  const page = await open(run, "?step=charge");
  await hasState(page, "charge", "success");
  await page.getByText("captured").waitFor();
  await judged(page, "a run, light");

  await page.goto(new URL(`/runs/${run}?step=charge&at=3`, page.url()).href);
  await hasState(page, "charge", "scheduled");
  assert.equal(await state(page, "send-receipt"), "pending");
  await page.getByText("After entry 3 of").waitFor();
  await page.getByRole("complementary", { name: "Step charge" }).getByText("Retrying").waitFor();
  await page.keyboard.press("[");
  await page.waitForURL(/at=2/);
  await hasState(page, "charge", "running");
  await page.keyboard.press("[");
  await page.waitForURL(/at=1/);
  await hasState(page, "fraud-score", "running");
  await page.keyboard.press("]");
  await page.waitForURL(/at=2/);
  await page.getByRole("slider", { name: "Time travel" }).focus();
  await page.keyboard.press("ArrowLeft");
  await page.waitForURL(/at=1/);
  await page.keyboard.press(".");
  await hasState(page, "charge", "success");
  assert.ok(!page.url().includes("at="));
  // By hand: to the beginning of the axis.
  const axis = await page.getByRole("slider", { name: "Time travel" }).evaluate((el) => {
    const { left, top, height } = el.parentElement.getBoundingClientRect();
    return { x: left + 8, y: top + height / 2 };
  });
  await page.mouse.move(axis.x, axis.y);
  await page.mouse.down();
  await page.mouse.up();
  await hasState(page, "send-receipt", "pending");
  await page.getByRole("button", { name: "Back to live" }).first().click();
  await hasState(page, "send-receipt", "success");
  await page.close();

  const dark = await open(run, "?step=charge", { theme: "dark" });
  await hasState(dark, "charge", "success");
  await dark.getByText("captured").waitFor();
  await judged(dark, "a run, dark");
  await dark.goto(new URL(`/runs/${run}?step=charge&at=3`, dark.url()).href);
  await hasState(dark, "charge", "scheduled");
  await judged(dark, "time travel, dark");
  await dark.close();
});

test("steps, data, journal and the panel have URLs, and keys lead through them", async () => {
  service.answer("/score", 200, { score: 31 });
  service.answer("/charge", 201, { id: "<script>alert(1)</script>" });
  await save(shop("order-views"));
  const run = await start("order-views", { "<script>alert(2)</script>": "<img src=x onerror=alert(3)>", ...ORDER });
  await once(run, (one) => one.tasks["reserve-stock"].status === "success");
  const page = await open(run, "/steps");
  page.on("dialog", () => assert.fail("a payload became a script"));
  await page.getByRole("row").filter({ hasText: "reserve-stock" }).waitFor();
  await judged(page, "steps");
  await page.getByRole("checkbox", { name: "Failed only" }).check();
  await page.getByText("No step has failed").waitFor();
  await page.waitForURL(/only=failed/);
  await page.getByRole("checkbox", { name: "Failed only" }).uncheck();
  await page.getByRole("button", { name: "charge", exact: true }).click();
  await page.waitForURL(/step=charge/);
  const panel = page.getByRole("complementary", { name: "Step charge" });
  await panel.getByText('"<script>alert(1)</script>"').waitFor();
  await panel.getByRole("tab", { name: "Input" }).click();
  await panel.getByText("trigger.body.total - trigger.body.discount").first().waitFor();
  await panel.getByText("12900").first().waitFor();
  await judged(page, "the input of a step");
  await panel.getByRole("tab", { name: "Attempts" }).click();
  await page.waitForURL(/part=attempts/);
  await judged(page, "the attempts of a step");

  await page.getByRole("link", { name: "Data" }).click();
  await page.getByText("<script>alert(2)</script>").waitFor();
  await page.getByRole("button", { name: "validate" }).click();
  await page.getByText("cus_R2x").waitFor();
  await judged(page, "data");

  await page.getByRole("link", { name: /^Journal/ }).click();
  await page.getByRole("button", { name: /^1 .*validate/ }).click();
  await page.waitForURL(/entry=1/);
  await judged(page, "journal");
  await page.getByRole("link", { name: "Show the run at this moment" }).click();
  await page.waitForURL(/at=1/);
  await hasState(page, "fraud-score", "running");
  await page.keyboard.press(".");

  await page.keyboard.press("Escape");
  await page.keyboard.press("j");
  await page.waitForURL(/step=validate/);
  await page.keyboard.press("j");
  await page.waitForURL(/step=fraud-score/);
  await node(page, "fraud-score").focus();
  await page.keyboard.press("ArrowRight");
  await page.waitForURL(/step=(charge|manual-review)/);
  await page.getByRole("button", { name: "Cancel…" }).click();
  await page.getByRole("dialog").getByText(/End cancelled: .*approve-discount/).waitFor();
  await judged(page, "the dialog of a cancel");
  await page.getByRole("dialog").getByRole("button", { name: "Cancel the run" }).click();
  await page.getByRole("heading", { level: 1 }).filter({ hasText: "Cancelled after" }).waitFor();
  await page.close();
});

test("a run of a thousand steps: only what is seen is mounted, far away it is drawn", async () => {
  const tasks = { "step-0": { action: "core.echo", with: {} } };
  for (let i = 1; i < 999; i += 1) {
    const needs = [...new Set([`step-${Math.max(0, i - 1 - ((i * 7) % 9))}`, `step-${Math.max(0, i - 1 - ((i * 5) % 13))}`])];
    tasks[`step-${i}`] = { action: "core.echo", with: { n: i }, needs };
  }
  tasks[`a-name-that-is-as-long-as-names-may-be-and-that-is-64-chars-long`] = { needs: ["step-998"], wait_for_webhook: { timeout: "1d" } };
  await save({ name: "a-thousand", tasks });
  const run = await start("a-thousand");
  await once(run, (one) => one.tasks["a-name-that-is-as-long-as-names-may-be-and-that-is-64-chars-long"].status === "waiting");
  const page = await open(run, "");
  const begun = Date.now();
  await page.locator(".react-flow__node").first().waitFor();
  await page.locator("[data-bar]").first().waitFor();
  console.log(`# usable ${Date.now() - begun} ms after the page was loaded`);
  await hasState(page, "a-name-that-is-as-long-as-names-may-be-and-that-is-64-chars-long", "waiting");
  assert.ok((await page.locator(".react-flow__node").count()) < 200);
  assert.ok((await page.locator("[data-bar]").count()) < 80);
  await judged(page, "a thousand steps");
  await picture(page, "run-thousand-light");
  console.log(`# pan near: ${await panned(page)}`);
  await page.keyboard.press("f");
  await page.locator("[data-far]").waitFor();
  assert.equal(await page.locator(".react-flow__node").count(), 0);
  console.log(`# pan far: ${await panned(page)}`);
  await page.close();
});

/** How many frames a second a drag of the graph has, and the longest of them. */
async function panned(page) {
  await page.evaluate(() => {
    const frames = [];
    let last = performance.now();
    const tick = (now) => {
      frames.push(now - last);
      last = now;
      globalThis.ticking = requestAnimationFrame(tick);
    };
    globalThis.frames = frames;
    globalThis.ticking = requestAnimationFrame(tick);
  });
  await page.mouse.move(600, 240);
  await page.mouse.down();
  for (let i = 0; i < 40; i += 1) {
    await page.mouse.move(600 - i * 6, 240 + (i % 7) * 4);
    await page.waitForTimeout(16);
  }
  await page.mouse.up();
  return await page.evaluate(() => {
    cancelAnimationFrame(globalThis.ticking);
    const sum = globalThis.frames.reduce((all, one) => all + one, 0);
    return `${Math.round((1000 * globalThis.frames.length) / sum)} frames a second, longest ${Math.round(Math.max(...globalThis.frames))} ms`;
  });
}

test("a map of ten thousand items is one node and a list that is read as it is scrolled", async () => {
  await save({
    name: "import-all",
    tasks: { each: { for_each: "{{trigger.body.items}}", max_parallel: 500, action: "core.echo", with: { i: "{{item}}" } } },
  });
  const run = await start("import-all", { items: Array.from({ length: 10_000 }, (_, i) => i) });
  const page = await open(run, "?step=each");
  await node(page, "each").getByText(/of 10,000/).waitFor();
  await once(run, (one) => one.status === "completed");
  await node(page, "each").getByText(/^10,000 of 10,000/).waitFor();
  const panel = page.getByRole("complementary", { name: "Step each" });
  await panel.getByText('{"i":0}').waitFor();
  const items = panel.getByRole("list", { name: "Items" });
  assert.ok((await items.getByRole("listitem").count()) < 80);
  await items.evaluate((el) => el.scrollTo(0, 190 * 36));
  await panel.getByText('{"i":205}').waitFor();
  assert.ok((await items.getByRole("listitem").count()) < 80);
  await judged(page, "a map");
  await picture(page, "run-map-light");
  await page.close();
});

test("the count of a map moves while its items end one after the other", async () => {
  service.slow("/item", 200);
  await save({
    name: "import-slowly",
    tasks: { each: { for_each: "{{trigger.body.items}}", max_parallel: 4, url: `${service.url}/item`, method: "POST" } },
  });
  const run = await start("import-slowly", { items: Array.from({ length: 400 }, (_, i) => i) });
  const page = await open(run);
  const counted = async () => Number((/^([\d,]+) of 400/.exec(await node(page, "each").locator("small").innerText())?.[1] ?? "0").replaceAll(",", ""));
  const first = await until("the first count is told", counted);
  const second = await until("another count is told", async () => ((await counted()) > first ? counted() : undefined));
  assert.ok(second < 400, "it was told only at the end");
  await until("and another", async () => (await counted()) > second);
  await api("POST", `/runs/${run}/cancel`, {});
  await page.close();
});

test("one step, and a run that is not there", async () => {
  await save({ name: "single", tasks: { only: { action: "core.echo", with: {} } } });
  const run = await start("single");
  await once(run, (one) => one.status === "completed");
  const single = await open(run);
  await hasState(single, "only", "success");
  await judged(single, "a run of one step");
  await single.close();
  const none = await open("run_00000000000000000000000000");
  await none.getByText("There is no such run").waitFor();
  await judged(none, "no run", ["status of 404"]);
  await none.close();
});

test("a stream of entries costs little, and what a person reads stays where it is", async () => {
  const tasks = { begin: { wait_for_webhook: { timeout: "1d" } } };
  for (let i = 0; i < 100; i += 1) tasks[`tick-${i}`] = { needs: [i ? `nap-${i - 1}` : "begin"], action: "core.echo", with: { i } };
  for (let i = 0; i < 99; i += 1) tasks[`nap-${i}`] = { needs: [`tick-${i}`], sleep: "90ms" };
  await save({ name: "ticker", tasks });
  const run = await start("ticker");
  await once(run, (one) => one.tasks.begin.status === "waiting");
  const page = await open(run, "?step=begin");
  await hasState(page, "begin", "waiting");
  const session = await page.context().newCDPSession(page);
  await session.send("Performance.enable");
  const busy = async () => (await session.send("Performance.getMetrics")).metrics.find((one) => one.name === "TaskDuration").value;
  const [from, since] = [await busy(), Date.now()];
  await api("POST", `/runs/${run}/steps/begin/answer`, {});
  const body = page.getByRole("group", { name: "Steps over time" });
  const place = await body.evaluate((el) => el.scrollTop);
  await page.getByRole("heading", { level: 1 }).filter({ hasText: "Completed" }).waitFor();
  const seconds = (Date.now() - since) / 1000;
  const share = ((await busy()) - from) / seconds;
  console.log(`# 200 entries in ${seconds.toFixed(1)} s: the main thread was busy ${(share * 100).toFixed(1)} % of the time`);
  assert.equal(await body.evaluate((el) => el.scrollTop), place);
  await page.getByRole("complementary", { name: "Step begin" }).waitFor();
  await page.close();
});

test("a step in flight says how far it is, beside its step and in the log", async () => {
  await save({ name: "counting", tasks: { count: { action: "pages.count" } } });
  const run = await start("counting");
  const page = await open(run, "?step=count");
  const panel = page.getByRole("complementary", { name: "Step count" });
  await panel.getByText("40 % page 4 of 10").waitFor();
  assert.equal(await panel.getByRole("progressbar", { name: "Progress of count" }).getAttribute("value"), "0.4");
  await judged(page, "progress of a step");
  await picture(page, "run-progress");
  await page.goto(new URL(`/runs/${run}/log`, BASE).href);
  await page.getByText("40 % page 4 of 10").waitFor();
  await page.close();
  await api("POST", `/runs/${run}/cancel`);
});

test("a schedule in code has its slots, and says where it is changed", async () => {
  const page = await browser.page({ path: "/workflows/morning_report/schedules" });
  const schedule = page.getByRole("article", { name: "morning_report" });
  await schedule.getByText("0 9 * * 1-5").waitFor();
  await schedule.getByText("Europe/Zurich").waitFor();
  await schedule.getByText("its definition or code; it is changed there").waitFor();
  assert.equal(await schedule.getByRole("list").first().getByRole("listitem").count(), 10);
  await judged(page, "a schedule in code");
  await picture(page, "schedule-in-code");
  await page.close();
});

test("the log of a run has the lines of its steps, by step and level, and says when there are none", async () => {
  const traced = `not paid\nTraceback (most recent call last):\n  File "/shop/pay.py", line 7, in pay\nValueError: ${"no funds ".repeat(30)}`;
  await save({
    name: "chatty",
    tasks: {
      ask: { action: "core.log", with: { message: "asking the bank", order: "A-1" } },
      pay: { needs: ["ask"], action: "core.log", with: { message: traced, level: "error" } },
      quiet: { needs: ["pay"], action: "core.echo", with: { x: 1 } },
    },
  });
  const run = await start("chatty");
  await once(run, (document) => document.status === "completed");
  const page = await open(run, "/log");
  const log = page.getByRole("log", { name: "Log" });
  await log.getByText("asking the bank").waitFor();
  await log.getByText("order=A-1").waitFor();
  await log.getByText("ValueError: no funds").waitFor();
  await page.getByText("2 lines").waitFor();
  await page.getByLabel("Level").selectOption("error");
  await log.getByText("asking the bank").waitFor({ state: "detached" });
  await page.getByLabel("Step").selectOption("quiet");
  await page.getByText("No line fits").waitFor();
  assert.match(page.url(), /of=quiet/);
  await page.getByLabel("Level").selectOption("debug");
  await page.getByLabel("Step").selectOption("");
  await log.getByText("asking the bank").waitFor();
  await page.getByLabel("Wrap lines").uncheck();
  assert.equal(await log.getAttribute("data-wrap"), null);
  await page.getByLabel("Wrap lines").check();
  await page.close();
  await looked(browser, `/runs/${run}/log`, "run-log", (shown) => shown.getByText("asking the bank").waitFor());
  await save({ name: "silent", tasks: { a: { action: "core.echo", with: { x: 1 } } } });
  const silent = await open(await start("silent"), "/log");
  await silent.getByText("The steps have logged nothing").waitFor();
  await silent.close();
});
