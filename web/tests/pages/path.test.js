// The shortest way through the page: a list that fills, a run watched live to its end, a wait answered in the inbox.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { api, judged, openBrowser, until } from "../browser.js";
import { startService } from "../service.js";
import { approval, save, start } from "../shop.js";

let browser;
let service;
before(async () => {
  [service, browser] = await Promise.all([startService(), openBrowser()]);
});
after(async () => {
  await browser?.close();
  await service?.stop();
});

test("a run is seen in the list and watched live to its end", async () => {
  await save({ name: "newsletter", tasks: { prepare: { url: `${service.url}/prepare` }, send: { needs: ["prepare"], action: "core.echo", with: { ok: true } } } });
  const page = await browser.page({ path: "/runs" });
  await page.getByText("No run yet").waitFor();
  const goOn = service.hold("/prepare");
  const { run_id } = await start("newsletter", {}, "?hero=issue:7&label=team:news");
  const row = page.locator(`#row-${run_id}`);
  await row.getByText("Running").waitFor();
  await row.getByRole("link", { name: "newsletter" }).click();
  await page.getByRole("heading", { level: 1 }).filter({ hasText: "prepare runs" }).waitFor();
  goOn();
  await page.getByRole("heading", { level: 1 }).filter({ hasText: "Completed 2 steps" }).waitFor();
  await page.goBack();
  await row.getByText("Completed").waitFor();
  await page.goto(new URL("/runs?text=news&status=completed", page.url()).href);
  await row.waitFor();
  await page.getByRole("img", { name: /^Runs from .*: 1 completed/ }).waitFor();
  await judged(page, "the list");
  await page.close();
});

test("a wait is answered in the inbox, and its run goes on", async () => {
  await save(approval);
  const page = await browser.page({ path: "/inbox" });
  await page.getByText("Nothing waits for an answer").waitFor();
  const { run_id } = await start("discount-approval", { customer: "Ada", discount: 25 }, "?hero=order:8841");
  await page.getByRole("listitem").filter({ hasText: "order 8841" }).waitFor();
  await page.getByRole("button", { name: "Yes, approved" }).click();
  await page.getByText("Nothing waits for an answer").waitFor();
  const ended = await until("the run ends", async () => (await api("GET", `/runs/${run_id}`).then((one) => (one.finished_at ? one : undefined))));
  assert.equal(ended.tasks.grant.status, "success");
  assert.equal(ended.tasks.decline.status, "skipped");
  await judged(page, "the inbox");
  await page.close();
});
