// The list, a run and the inbox are used from beginning to end without a mouse.
import assert from "node:assert/strict";
import { after, afterEach, before, test } from "node:test";
import { api, judged, openBrowser, tabTo, until, withoutMouse } from "../browser.js";
import { approval, ended, save, start } from "../shop.js";

let browser;
before(async () => {
  browser = await openBrowser();
  await save(approval);
  await save({ name: "trial", tasks: { greet: { action: "core.echo", with: { hello: "Ada" } }, "cool-off": { needs: ["greet"], sleep: "3d" }, ask: { needs: ["cool-off"], action: "core.echo", with: {} } } });
});
afterEach(async () => {
  await browser?.closePages();
});
after(async () => {
  await browser?.close();
});

const place = (page) => new URL(page.url());
const rows = (page) => page.locator("[role=row][id]");
const focusedRow = (page) => page.evaluate(() => document.activeElement?.closest("[role=row]")?.id.replace("row-", "") ?? "");

test("runs are filtered, selected, counted and cancelled, and one is opened", async () => {
  const runs = [];
  for (let i = 0; i < 4; i += 1) runs.push((await start("trial", {}, `?hero=user:${i}&label=team:${i < 3 ? "shop" : "bank"}`)).run_id);
  const page = await browser.page({ path: "/runs" });
  const mouse = await withoutMouse(page);
  await until("all are there", async () => (await rows(page).count()) === 4);
  await page.keyboard.press("/");
  await page.keyboard.type("label:team:shop ");
  await page.keyboard.press("Enter");
  await until("three are left", async () => (await rows(page).count()) === 3);
  assert.equal(place(page).search, "?label=team:shop");
  await page.keyboard.press("Escape");
  await page.keyboard.press("j");
  assert.equal(await focusedRow(page), runs[2], "the newest is the first");
  await page.keyboard.press("j");
  await page.keyboard.press("x");
  await page.keyboard.press("j");
  await page.keyboard.press("X");
  const bar = page.getByRole("region", { name: "Selected runs" });
  await bar.getByText("2 selected").waitFor();
  await tabTo(page, bar.getByRole("button", { name: "Cancel", exact: true }));
  await page.keyboard.press("Enter");
  await page.getByText("2 runs will be cancelled.").waitFor();
  await judged(page, "the question, by keyboard");
  await tabTo(page, page.getByRole("button", { name: "Cancel 2 runs" }));
  await page.keyboard.press("Enter");
  for (const id of runs.slice(0, 2)) await until("it is cancelled", async () => (await api("GET", `/runs/${id}`)).status === "cancelled");
  assert.equal((await api("GET", `/runs/${runs[2]}`)).status, "running", "what was not selected goes on");
  await until("the question is closed", async () => (await page.getByRole("dialog").count()) === 0);
  await page.keyboard.press("Escape");
  // The page takes no key before the focus is back in it.
  await until("the first row is reached", async () => {
    await page.keyboard.press("k");
    return (await focusedRow(page)) === runs[2];
  });
  await mouse.assertUnused();
  await page.keyboard.press("Enter");
  await until("it is open", async () => place(page).pathname === `/runs/${runs[2]}`);
  await mouse.assertUnused();
});

test("a run is read, looked at in its past, and cancelled", async () => {
  const { run_id: run } = await start("trial", { customer: "Ada" });
  await until("it sleeps", async () => (await api("GET", `/runs/${run}`)).tasks["cool-off"].status === "sleeping");
  const page = await browser.page({ path: `/runs/${run}`, size: "wide" });
  const mouse = await withoutMouse(page);
  await page.locator('.react-flow__node[data-id="greet"]').waitFor();
  await page.keyboard.press("j");
  await page.waitForURL(/step=greet/);
  const panel = page.getByRole("complementary", { name: "Step greet" });
  await panel.getByText("Ada").first().waitFor();
  await tabTo(page, panel.getByRole("tab", { name: "Output" }));
  await page.keyboard.press("ArrowRight");
  await page.waitForURL(/part=input/);
  await page.keyboard.press("j");
  await page.waitForURL(/step=cool-off/);
  // Along the edges of the graph.
  await tabTo(page, page.locator('.react-flow__node[data-id="cool-off"]'), "Shift+Tab");
  await page.keyboard.press("ArrowRight");
  await page.waitForURL(/step=ask/);
  await page.keyboard.press("ArrowLeft");
  await page.waitForURL(/step=cool-off/);
  // Through the past.
  await page.keyboard.press("[");
  await page.waitForURL(/at=0/);
  await page.locator('.react-flow__node[data-id="greet"] [data-state="running"], .react-flow__node[data-id="greet"] [data-state="pending"]').waitFor();
  await page.keyboard.press(".");
  await until("it is now again", async () => !place(page).searchParams.has("at"));
  // Its other views are links.
  await tabTo(page, page.getByRole("link", { name: /^Journal/ }), "Shift+Tab");
  await page.keyboard.press("Enter");
  await tabTo(page, page.getByRole("button", { name: /^1 .*greet/ }));
  await page.keyboard.press("Enter");
  await page.waitForURL(/entry=1/);
  await tabTo(page, page.getByRole("button", { name: "Cancel…" }), "Shift+Tab");
  await page.keyboard.press("Enter");
  const dialog = page.getByRole("dialog");
  await dialog.getByText(/Ends? cancelled: .*cool-off/).waitFor();
  await judged(page, "cancel by keyboard");
  // Escape does nothing to the run.
  await page.keyboard.press("Escape");
  await until("the dialog is closed", async () => (await dialog.count()) === 0);
  assert.equal((await api("GET", `/runs/${run}`)).status, "running");
  await tabTo(page, page.getByRole("button", { name: "Cancel…" }));
  await page.keyboard.press("Enter");
  await tabTo(page, dialog.getByRole("button", { name: "Cancel the run" }));
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { level: 1 }).filter({ hasText: "Cancelled after" }).waitFor();
  await mouse.assertUnused();
});

test("the inbox is reached and emptied, one wait after the other", async () => {
  const runs = [];
  for (const customer of ["Ada", "Alan"]) runs.push((await start("discount-approval", { customer, discount: 30 })).run_id);
  const page = await browser.page({ path: "/runs" });
  const mouse = await withoutMouse(page);
  await rows(page).first().waitFor();
  await page.keyboard.press("g");
  await page.keyboard.press("i");
  await until("both wait", async () => place(page).pathname === "/inbox" && (await page.getByRole("listitem").count()) === 2);
  const yes = page.getByRole("button", { name: "Yes, approved" });
  await yes.waitFor();
  await page.keyboard.press("Enter");
  await until("the answer has the focus", () => yes.evaluate((one) => one === document.activeElement));
  await page.keyboard.press("Enter");
  await ended(runs[0]);
  assert.equal((await api("GET", `/runs/${runs[0]}`)).tasks.grant.status, "success");
  await until("the next one took its place", async () => place(page).searchParams.get("wait") === `${runs[1]}:approve-discount`);
  await tabTo(page, page.getByRole("button", { name: "No, not approved" }));
  await page.keyboard.press("Enter");
  await ended(runs[1]);
  assert.equal((await api("GET", `/runs/${runs[1]}`)).tasks.decline.status, "success");
  await page.getByText("Nothing waits for an answer").waitFor();
  await judged(page, "an empty inbox");
  await mouse.assertUnused();
});
