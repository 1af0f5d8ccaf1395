// The list of runs, in a browser, on a server that was just started: it is empty at first.
import assert from "node:assert/strict";
import { after, afterEach, before, test } from "node:test";
import { api, BASE, judged, openBrowser, picture, triedAgain, until } from "../browser.js";

const ODD = `<script>alert("x")</script>`;
const WORKFLOWS = [
  `name: order-processing
description: Orders of the shop
tasks:
  validate: {action: core.echo, with: {order: "{{trigger.body.order_id}}"}}
  charge: {needs: [validate], action: core.echo, with: {amount: 12900}}
  ship: {needs: [charge], action: core.echo, with: {ok: true}}`,
  `name: refund
tasks:
  check: {action: core.echo, with: {ok: true}}
  transfer: {needs: [check], action: core.echo, with: {account: "{{trigger.body.account.number}}"}}`,
  `name: trial-expiry
tasks:
  greet: {action: core.echo, with: {ok: true}}
  cool-off: {needs: [greet], sleep: 3d}
  ask: {needs: [cool-off], action: core.echo, with: {ok: true}}`,
  `name: approval
tasks:
  prepare: {action: core.echo, with: {ok: true}}
  approve-discount: {needs: [prepare], wait_for_webhook: {timeout: 21h}}`,
];

let browser;
before(async () => {
  browser = await openBrowser();
});
// An open page holds a connection, and a browser has six.
afterEach(async () => {
  await browser?.closePages();
});
after(async () => {
  await browser?.close();
});

const start = (workflow, body = {}, query = "") => api("POST", `/workflows/${workflow}/trigger${query}`, body);
const rows = (page) => page.locator("[role=row][id]");
const ended = (id) => until(`${id} ends`, async () => (await api("GET", `/runs/${id}`)).finished_at);
const place = (page) => new URL(page.url());

test("an empty list shows the lines that would fill it", async () => {
  const page = await browser.page({ path: "/" });
  await page.getByText("No workflow yet, so no run").waitFor();
  assert.equal(place(page).pathname, "/runs");
  await judged(page, "empty");
  for (const one of WORKFLOWS) await api("POST", "/workflows", one);
  await page.reload();
  await page.getByText("No run yet").waitFor();
  assert.match(await page.locator("pre").first().innerText(), /^curl http.*\/trigger/);
  await picture(page, "runs-empty-light");
  await judged(page, "no run");
});

test("the list is filled while it is watched", async () => {
  const page = await browser.page({ path: "/runs" });
  await page.getByText("No run yet").waitFor();
  const first = await start("order-processing", { order_id: 1 }, "?hero=order:8841&label=team:shop");
  await until("the row appears by itself", async () => (await rows(page).count()) === 1);
  await ended(first.run_id);
  await page.getByRole("row").filter({ hasText: "Completed" }).waitFor();
  assert.match(await rows(page).first().innerText(), /order-processing[\s\S]*8841[\s\S]*3 of 3 steps/);
  await judged(page, "one run");
});

test("names that are scripts are text", async () => {
  const label = encodeURIComponent(`team:${ODD}`);
  const { run_id } = await start("refund", { account: ODD }, `?hero=${encodeURIComponent(`order:${ODD}`)}&label=${label}`);
  await ended(run_id);
  const page = await browser.page({ path: `/runs?text=${encodeURIComponent("<script>")}` });
  await rows(page).first().waitFor();
  assert.ok((await rows(page).first().innerText()).includes(ODD));
  assert.equal(await page.evaluate(() => [...document.scripts].some((one) => one.text.includes("alert"))), false);
  await judged(page, "scripts");
});

test("every state has its word, light and dark, on each size", async () => {
  for (let i = 0; i < 14; i += 1) await start("order-processing", { order_id: i }, `?hero=order:${8000 + i * 37}`);
  for (let i = 0; i < 3; i += 1) await start("refund", {}, `?hero=order:${9360 + i}&label=team:shop`);
  for (let i = 0; i < 2; i += 1) await start("trial-expiry", {}, `?hero=user:${87 + i}`);
  for (let i = 0; i < 2; i += 1) await start("approval", {}, `?hero=order:${9358 + i}`);
  const paused = await start("trial-expiry", {}, "?hero=user:99");
  await until("it sleeps", async () => (await api("GET", `/runs/${paused.run_id}`)).tasks["cool-off"]?.started_at);
  await api("POST", `/runs/${paused.run_id}/pause`);
  await start("trial-expiry", {}, "?start_at=3h");
  await until("all have come to rest", async () => {
    const open = await api("GET", "/runs?status=active&limit=100");
    return open.every((one) => one.stage && !["queued", "running"].includes(one.stage.kind));
  });
  for (const [size, theme] of [["wide", "light"], ["phone", "dark"]]) {
    const page = await browser.page({ path: "/runs", size, theme });
    await rows(page).first().waitFor();
    for (const word of ["Completed", "Sleeping", "Paused", "Waiting"]) await page.locator("[role=grid]").getByText(word, { exact: true }).first().waitFor();
    await page.getByRole("img", { name: /^Runs from/ }).waitFor();
    const overflow = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    assert.equal(overflow, 0, `${size} scrolls sideways`);
    await picture(page, `runs-${size}-${theme}`);
    await judged(page, `${size} ${theme}`);
    await page.close();
  }
});

test("words are searched for without syntax, and chips, text and address say the same", async () => {
  const page = await browser.page({ path: "/runs" });
  await rows(page).first().waitFor();
  await page.keyboard.press("/");
  await page.keyboard.type("9360");
  await until("one row is left", async () => (await rows(page).count()) === 1);
  assert.equal(place(page).search, "?text=9360");
  await page.getByRole("button", { name: "Remove all filters" }).click();
  await page.keyboard.press("/");
  await page.keyboard.type("status:failed ");
  await page.keyboard.press("Enter");
  await until("only failed ones are left", async () => place(page).search === "?status=failed");
  await until("rows follow", async () => (await rows(page).allInnerTexts()).every((one) => one.startsWith("Failed")));
  await page.getByRole("button", { name: "Query" }).click();
  const line = page.getByRole("textbox", { name: "Filters as text" });
  assert.equal(await line.inputValue(), "status:failed");
  await line.fill("status:failed label:team:shop");
  await line.press("Enter");
  await until("the address follows", async () => place(page).search === "?status=failed&label=team:shop");
  await page.reload();
  await page.getByRole("button", { name: "Remove filter label team:shop" }).click();
  await until("the chip is gone", async () => place(page).search === "?status=failed");
  await page.goBack();
  await until("back is back", async () => place(page).search === "?status=failed&label=team:shop");
  await judged(page, "filtered");
});

test("a filter that finds nothing says so, one that is wrong says what is wrong", async () => {
  const page = await browser.page({ path: "/runs?hero=order:none" });
  await page.getByText("No run matches").waitFor();
  await judged(page, "nothing");
  await page.getByRole("main").getByRole("button", { name: "Remove all filters" }).last().click();
  await rows(page).first().waitFor();
  await page.goto(`${BASE}/runs?status=tired`);
  await page.getByRole("alert").getByText(/must be one of/).waitFor();
});

test("a stretch of the histogram is brushed and freed", async () => {
  const page = await browser.page({ path: "/runs" });
  const chart = page.getByRole("img", { name: /^Runs from/ });
  const box = await chart.boundingBox();
  await page.mouse.move(box.x + box.width * 0.3, box.y + 40);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.6, box.y + 40, { steps: 5 });
  await page.mouse.up();
  await until("the address has it", async () => place(page).searchParams.has("from") && place(page).searchParams.has("to"));
  // On a slow machine some of the runs are in the stretch.
  await page.getByText("No run matches").or(rows(page)).first().waitFor();
  await page.mouse.click(box.x + box.width * 0.45, box.y + 40);
  await until("it is freed", async () => place(page).search === "");
  await rows(page).first().waitFor();
});

test("saved views have numbers, and own ones are kept", async () => {
  const page = await browser.page({ path: "/runs" });
  await page.getByRole("button", { name: /^Failing \d/ }).click();
  await until("rows follow", async () => (await rows(page).count()) > 0 && (await rows(page).allInnerTexts()).every((one) => one.startsWith("Failed")));
  assert.equal(place(page).search, "?view=failing");
  await page.getByRole("button", { name: "Save this view" }).click();
  await page.getByLabel("Save these filters as").fill("Broken refunds");
  await page.getByRole("button", { name: "Save view", exact: true }).click();
  await page.getByRole("button", { name: /^All/ }).click();
  await page.getByRole("button", { name: "Broken refunds" }).click();
  await until("it is back", async () => place(page).search === "?view=failing");
});

test("the keyboard moves, selects and opens", async () => {
  const page = await browser.page({ path: "/runs" });
  await rows(page).first().waitFor();
  for (const key of ["j", "j", "x", "k", "x"]) await page.keyboard.press(key);
  await page.getByText("2 selected").waitFor();
  await judged(page, "selected");
  await page.keyboard.press("Escape");
  await until("nothing is selected", async () => (await page.getByText("2 selected").count()) === 0);
  await page.keyboard.press("j");
  const id = (await page.evaluate(() => document.activeElement.closest("[role=row]").id)).replace("row-", "");
  await page.keyboard.press("Enter");
  await until("it is open", async () => place(page).pathname === `/runs/${id}`);
  await page.goBack();
  await page.keyboard.press("?");
  await page.getByRole("dialog", { name: "Keys" }).waitFor();
  await judged(page, "keys");
  await page.keyboard.press("Escape");
  await page.keyboard.press("Control+k");
  await page.getByRole("combobox", { name: "Search or jump to" }).waitFor();
  await page.keyboard.type(id);
  await page.getByRole("option", { selected: true }).filter({ hasText: id }).waitFor();
  // The list is drawn again when the search has answered; until then the box may name an option that is gone.
  await until("the box names what is there", () =>
    page.evaluate(() => {
      const box = document.querySelector("[cmdk-input]");
      const ids = ["aria-controls", "aria-activedescendant"].map((name) => box.getAttribute(name));
      return ids.every((id) => !id || document.getElementById(id));
    }),
  );
  await picture(page, "palette-light");
  await judged(page, "palette");
  await page.keyboard.press("Enter");
  await until("the palette opens it", async () => place(page).pathname === `/runs/${id}`);
});

test("many runs are counted, then cancelled", async () => {
  const some = await Promise.all([1, 2, 3].map((n) => start("trial-expiry", {}, `?label=batch:b&hero=user:${n}`)));
  const page = await browser.page({ path: "/runs?label=batch:b" });
  await until("three rows", async () => (await rows(page).count()) === 3);
  await rows(page).first().getByRole("checkbox").click();
  await page.getByRole("button", { name: /^Select all 3 that match/ }).click();
  await page.getByRole("region", { name: "Selected runs" }).getByRole("button", { name: "Cancel", exact: true }).click();
  await page.getByText("3 runs will be cancelled.").waitFor();
  await picture(page, "runs-cancel-light");
  await judged(page, "question");
  await page.getByRole("button", { name: "Cancel 3 runs" }).click();
  await page.getByText("3 runs cancelled.").waitFor();
  for (const { run_id } of some) await until("it is cancelled", async () => (await api("GET", `/runs/${run_id}`)).status === "cancelled");
  await until("rows say so", async () => (await rows(page).allInnerTexts()).every((one) => one.startsWith("Cancelled")));

  const two = await Promise.all([4, 5].map((n) => start("trial-expiry", {}, `?label=batch:c&hero=user:${n}`)));
  await page.goto(`${BASE}/runs?label=batch:c`);
  await until("two rows", async () => (await rows(page).count()) === 2);
  await rows(page).first().getByRole("checkbox").click();
  await page.getByRole("region", { name: "Selected runs" }).getByRole("button", { name: "Pause", exact: true }).click();
  await page.getByRole("button", { name: "Pause 1 run" }).click();
  await page.getByText("1 run paused.").waitFor();
  await until("one is paused and the other is not", async () => {
    const statuses = await Promise.all(two.map(async ({ run_id }) => (await api("GET", `/runs/${run_id}`)).status));
    return statuses.sort().join() === "paused,running";
  });
});

test("a long list mounts few rows, loads the rest by itself, and what is new waits above", async () => {
  const wanted = 260;
  for (let i = 0; i < wanted; i += 20) await Promise.all(Array.from({ length: 20 }, () => start("order-processing", {}, "?label=many:m")));
  const page = await browser.page({ path: "/runs?label=many:m" });
  await rows(page).first().waitFor();
  assert.ok((await rows(page).count()) < 60);
  const list = page.getByRole("rowgroup", { name: "List of runs" });
  await until("the end", async () => {
    await list.evaluate((one) => one.scrollTo(0, one.scrollHeight));
    return await page.getByText(`That is all: ${wanted} runs.`).count();
  });
  const before = await list.evaluate((one) => one.scrollTop);
  const { run_id } = await start("order-processing", {}, "?label=many:m");
  await page.getByRole("button", { name: /^\d+ new/ }).waitFor();
  assert.equal(await list.evaluate((one) => one.scrollTop), before, "the list stays where it was");
  await page.keyboard.press(".");
  await page.locator(`#row-${run_id}`).waitFor({ state: "attached" });
  await judged(page, "long");
});

test("a server that does not answer is told quietly, and an error with what to do", async () => {
  const page = await browser.page({ path: "/runs" });
  await rows(page).first().waitFor();
  await page.route("**/api/v1/stream*", (route) => route.abort());
  await page.evaluate(() => dispatchEvent(new Event("offline")));
  await page.reload();
  await page.getByText("No live updates: the server does not answer.").waitFor();
  await page.route("**/api/v1/runs?*", (route) => route.fulfill({ status: 500, json: { code: "internal", message: "the disk is on fire" } }));
  await page.goto(`${BASE}/runs?status=failed`);
  await page.getByRole("alert").getByText("the disk is on fire").waitFor();
  await page.unroute("**/api/v1/runs?*");
  await triedAgain(page, rows(page));
  await page.unroute("**/api/v1/stream*");
  await until("the line is gone", async () => (await page.getByText("No live updates").count()) === 0);
  await judged(page, "after an error", ["net::ERR_FAILED", "status of 500"]);
});

test("a run is started from the page", async () => {
  const page = await browser.page({ path: "/runs?workflow=order-processing" });
  await page.getByRole("button", { name: "Start a run" }).click();
  const dialog = page.getByRole("dialog", { name: "Start a run" });
  await dialog.getByLabel("Input, as JSON").fill("{no json");
  await dialog.getByRole("alert").getByText(/not JSON/).waitFor();
  assert.equal(await dialog.getByLabel("Workflow").inputValue(), "order-processing");
  await dialog.getByLabel("Input, as JSON").fill('{"order_id": 7}');
  await judged(page, "start");
  await dialog.getByRole("button", { name: "Start a run" }).click();
  await until("the run is open", async () => /^\/runs\/run_/.test(place(page).pathname));
});

test("the list is usable with little script", async () => {
  const page = await browser.page({ path: "/runs" });
  await rows(page).first().waitFor();
  const sizes = await page.evaluate(() => {
    const found = { script: 0, font: 0, css: 0 };
    for (const one of performance.getEntriesByType("resource")) {
      if (one.name.endsWith(".js")) found.script += one.encodedBodySize;
      if (one.name.endsWith(".woff2")) found.font += one.encodedBodySize;
      if (one.name.endsWith(".css")) found.css += one.encodedBodySize;
    }
    return found;
  });
  console.log(`# script ${sizes.script} font ${sizes.font} css ${sizes.css} bytes`);
  assert.ok(sizes.script < 105_000, `script: ${sizes.script}`);
  assert.ok(sizes.font < 60_000 && sizes.css < 20_000);
});
