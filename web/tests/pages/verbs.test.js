// Everything that can be done to a run, by the page: each dialog says what will happen, and that happens.
import assert from "node:assert/strict";
import { after, afterEach, before, test } from "node:test";
import { api, judged, openBrowser, picture, until } from "../browser.js";
import { call, ODD, save, start, triggerOf } from "../shop.js";

/** A run whose node died in the middle of its step `pay`. */
const UNCERTAIN = process.env.DETENT_UNCERTAIN;

let browser;
before(async () => {
  browser = await openBrowser();
});
afterEach(async () => {
  await browser?.closePages();
});
after(async () => {
  await browser?.close();
});

const echo = (needs, more = {}) => ({ ...(needs ? { needs: [needs] } : {}), action: "core.echo", with: { ok: true }, ...more });
const wait = (needs) => ({ ...(needs ? { needs: [needs] } : {}), wait_for_webhook: { timeout: "1d" } });
const begin = async (workflow, body = {}, query = "") => (await start(workflow, body, query)).run_id;
const open = (run, rest = "", options = {}) => browser.page({ path: `/runs/${run}${rest}`, size: "wide", ...options });
const said = (page, words) => page.getByRole("heading", { level: 1 }).filter({ hasText: words }).waitFor();
const read = (run) => api("GET", `/runs/${run}`);
const once = (run, is) => until(`${run} is as wanted`, async () => ((await read(run).then(is)) ? read(run) : undefined));
const shownRun = (page) => new URL(page.url()).pathname.split("/")[2];
/** Waits until the page shows another run, and gives its id. */
const another = async (page, run) => until("another run is shown", async () => (shownRun(page) === run ? undefined : shownRun(page)));

async function choose(page, word) {
  await page.getByRole("button", { name: "More that can be done" }).click();
  await page.getByRole("menuitem", { name: word }).click();
}

test("an uncertain step is settled by a person, and nothing is chosen beforehand", async () => {
  assert.ok(UNCERTAIN, "DETENT_UNCERTAIN names the run");
  await once(UNCERTAIN, (one) => one.status === "paused");
  const page = await open(UNCERTAIN);
  await said(page, "Did pay happen?");
  await picture(page, "run-uncertain-light");
  await page.getByRole("button", { name: "Say what happened…" }).first().click();
  const dialog = page.getByRole("dialog");
  assert.ok(await dialog.getByRole("button", { name: "Choose what you found" }).isDisabled());
  await dialog.getByLabel("It may happen once more").check();
  await dialog.getByRole("button", { name: "Run the step again" }).waitFor();
  await dialog.getByLabel("It did not happen").check();
  await dialog.getByRole("button", { name: "It did not happen: fail the step" }).waitFor();
  await dialog.getByLabel("It happened").check();
  await dialog.getByRole("textbox", { name: "Output" }).fill('{"id": ');
  assert.ok(await dialog.getByRole("button", { name: "It happened: go on" }).isDisabled(), "the output cannot be read");
  await dialog.getByRole("textbox", { name: "Output" }).fill('{"id": "po_7"}');
  await judged(page, "did it happen");
  await picture(page, "run-resolve-light");
  await dialog.getByRole("button", { name: "It happened: go on" }).click();
  await said(page, "Completed 2 steps");
  const ended = await read(UNCERTAIN);
  assert.equal(ended.tasks.pay.status, "success");
  assert.deepEqual(ended.tasks.book.output, { booked: "po_7" });
});

test("a run is moved to another version after a dry run, or is told why not", async () => {
  const name = "moving";
  await save({ name, tasks: { ask: wait(), thank: echo("ask") } });
  const run = await begin(name);
  await once(run, (one) => one.tasks.ask.status === "waiting");
  await save({ name, tasks: { other: echo() } });
  const page = await open(run);
  await page.getByRole("link", { name: "current is 2" }).waitFor();
  await choose(page, "Move to version 2…");
  await page.getByRole("dialog").getByText(/has no step of that name/).waitFor();
  assert.ok(await page.getByRole("dialog").getByRole("button", { name: "Move to version 2" }).isDisabled());
  await page.keyboard.press("Escape");

  await save({ name, tasks: { ask: wait(), thank: echo("ask"), audit: echo(), archive: echo("thank") } });
  await page.reload();
  await choose(page, "Move to version 3…");
  const dialog = page.getByRole("dialog");
  await dialog.getByText("Begins at once: audit").waitFor();
  assert.equal((await read(run)).version, 1, "a dry run moves nothing");
  await judged(page, "move");
  await dialog.getByRole("button", { name: "Move to version 3" }).click();
  await once(run, (one) => one.version === 3);
  await page.getByRole("button", { name: "Answer…" }).first().click();
  await page.getByRole("dialog").getByRole("button", { name: "Answer with this body" }).click();
  await said(page, "Completed 4 steps");
});

test("a run is forked with another output, and run again from a step", async () => {
  const greet = { needs: ["find"], action: "core.echo", with: { text: "Hello, {{tasks.find.output.name}}" } };
  await save({ name: "greeting", tasks: { find: { action: "core.echo", with: { name: "Ada" } }, greet, after: echo("greet") } });
  const run = await begin("greeting");
  await once(run, (one) => one.status === "completed");
  const page = await open(run, "?step=find");
  await page.getByRole("button", { name: "Fork with output…" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByText("Run again after it: greet, after").waitFor();
  await until("the output is there", async () => (await dialog.getByLabel("Output of find").inputValue()).includes("Ada"));
  await dialog.getByLabel("Output of find").fill('{"name": "Grace"}');
  await judged(page, "fork");
  await dialog.getByRole("button", { name: "Fork with this output" }).click();
  const fork = await another(page, run);
  await said(page, "Completed 3 steps");
  await page.getByText("Forked from").waitFor();
  assert.equal((await read(fork)).tasks.greet.output.text, "Hello, Grace");

  await page.goto(new URL(`/runs/${run}?step=greet`, page.url()).href);
  await page.getByRole("button", { name: "Run again from here…" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Run again from greet" }).click();
  const second = await another(page, run);
  await said(page, "Completed 3 steps");
  assert.deepEqual((await read(second)).origin, { run_id: run, kind: "fork" });
});

test("a run is run again with edits", async () => {
  await save({ name: "order", tasks: { charge: { action: "core.echo", with: { amount: "{{trigger.body.amount}}" } } } });
  const run = await begin("order", { amount: 1 });
  await once(run, (one) => one.status === "completed");
  const page = await open(run);
  await page.getByRole("button", { name: "Run again…" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("button", { name: "Start with the same input" }).waitFor();
  await dialog.getByLabel("Input").fill('{"amount": 2}');
  await judged(page, "run again with edits");
  await dialog.getByRole("button", { name: "Start with this input" }).click();
  const next = await another(page, run);
  await said(page, "Completed 1 step");
  assert.deepEqual((await read(next)).tasks.charge.output, { amount: 2 });
});

test("a step is skipped, and a run is completed now", async () => {
  const always = { ...wait("cool-off"), if: "true" };
  await save({ name: "trial", tasks: { greet: echo(), "cool-off": { needs: ["greet"], sleep: "3d" }, remind: echo("cool-off"), ask: always, close: echo("ask") } });
  const run = await begin("trial");
  await once(run, (one) => one.tasks["cool-off"].status === "sleeping");
  const page = await open(run);
  await choose(page, "Skip a step…");
  const dialog = page.getByRole("dialog");
  await dialog.getByText("Is decided next: ask. Needs it, and is skipped too: remind.").waitFor();
  await judged(page, "skip");
  await dialog.getByRole("button", { name: "Skip cool-off" }).click();
  await said(page, /Waits for an answer to ask/);
  const after = (await read(run)).tasks;
  assert.deepEqual([after["cool-off"].status, after.remind.status], ["skipped", "skipped"]);
  await choose(page, "Complete it now…");
  await dialog.getByText("Are skipped: ask, close").waitFor();
  await judged(page, "complete now");
  await dialog.getByRole("button", { name: "Complete the run" }).click();
  await said(page, "Completed 1 step");
  assert.equal((await read(run)).status, "completed");
});

test("a run is exported, and saved as a test", async () => {
  await save({ name: "exported", tasks: { first: echo(), second: echo("first") } });
  const run = await begin("exported", { customer: ODD });
  await once(run, (one) => one.status === "completed");
  const page = await open(run);
  await said(page, "Completed 2 steps");
  const saved = async (word) => {
    const [file] = await Promise.all([page.waitForEvent("download"), choose(page, word)]);
    const parts = await (await file.createReadStream()).toArray();
    return { name: file.suggestedFilename(), text: Buffer.concat(parts).toString() };
  };
  const json = await saved("Export JSON");
  assert.match(json.name, /\.json$/);
  assert.ok(JSON.stringify(JSON.parse(json.text)).includes(run));
  const python = await saved("Save as test");
  assert.match(python.name, /\.py$/);
  assert.match(python.text, /^(async )?def test_/m);
  const yaml = await saved("Save as YAML test");
  assert.match(yaml.name, /\.test\.yaml$/);
  assert.match(yaml.text, /^tests:$/m);
  await judged(page, "downloads");
});

test("the family of a run leads from child to parent and back", async () => {
  await save({ name: "charge-one", tasks: { charge: echo() } });
  await save({ name: "refund-one", tasks: { transfer: { action: "core.echo", with: { account: "{{trigger.body.missing.account}}" } } } });
  const each = { workflow: "charge-one", for_each: "{{trigger.body.items}}", with: { n: "{{item}}" } };
  await save({ name: "month-end", tasks: { each, report: { needs: ["each"], workflow: "refund-one" } } });
  const run = await begin("month-end", { items: [1, 2, 3] });
  const ended = await once(run, (one) => one.status === "failed");
  const child = ended.tasks.report.child_run_id;
  const page = await open(child, "", { size: "phone" });
  await page.getByRole("link", { name: "Family" }).click();
  await page.getByText("5 runs, from the one that was started first").waitFor();
  await page.getByText("for each of 3: 3 succeeded, 0 failed").waitFor();
  const members = page.getByRole("list", { name: "Family" });
  assert.equal(await members.getByRole("link", { name: "charge-one" }).count(), 3);
  await members.getByText("item 2").waitFor();
  await judged(page, "family");
  await picture(page, "run-family-phone");
  await members.getByRole("link", { name: "month-end" }).click();
  assert.equal(await another(page, child), run);
  // The error names no id: the run is a click away.
  await said(page, /^report failed: its run failed: transfer/);
  await page.goto(new URL(`/runs/${run}?step=report`, page.url()).href);
  await page.getByRole("link", { name: "Open the run it started" }).click();
  assert.equal(await another(page, run), child);
});

test("names and payloads that are scripts are text in every view", async () => {
  const image = "<img src=x onerror=alert(1)>";
  // An address has no room for a name with a slash.
  const name = "<script>alert(1)";
  const place = encodeURIComponent(name);
  await api("PUT", `/workflows/${place}`, {
    name,
    description: image,
    trigger: { type: "webhook" },
    tasks: { note: { action: "core.echo", with: { [ODD]: image } }, ask: wait("note") },
  });
  const graph = { id: "odd-graph", displayName: ODD, description: image, startNode: "one" };
  const node = { id: "one", displayName: ODD, actionType: "core.echo", parameters: { [image]: ODD } };
  await api("PUT", "/workflows/odd-graph", { ...graph, nodes: [node] });
  await api("POST", "/workflows/odd-graph/publish", {});
  const query = `?hero=${encodeURIComponent(`order:${ODD}`)}&label=${encodeURIComponent(`team:${ODD}`)}`;
  const run = await begin(place, { [ODD]: image, list: [ODD] }, query);
  const titled = await begin("odd-graph", { [image]: ODD }, query);
  await once(run, (one) => one.tasks.ask.status === "waiting");
  await once(titled, (one) => one.status === "completed");
  await api("PUT", "/workflows/odd-graph", { ...graph, nodes: [{ ...node, parameters: { [ODD]: image } }] });
  await api("POST", "/workflows/odd-graph/publish", {});
  await save({ name: "odd-schedule", tasks: { a: { sleep: "1ms" } } });
  await api("POST", "/triggers", { workflow: "odd-schedule", type: "cron", cron_expression: "0 3 * * *", name: ODD });
  const { id, url } = await triggerOf(place);
  await call(url, { [ODD]: image }, { "x-odd": ODD });
  const [firing] = await api("GET", `/triggers/${id}/firings?limit=1`);
  const hero = `/heroes/order/${encodeURIComponent(ODD)}`;
  const seen = [
    ["/runs", ODD], [`/runs/${run}`, ODD], [`/runs/${run}?step=note`, ODD], [`/runs/${run}/steps`, ODD], [`/runs/${run}/data`, image],
    [`/runs/${run}/journal?entry=1`, ODD], [`/runs/${run}?do=answer`, image], [`/runs/${titled}`, ODD], [`/runs/${titled}/steps?step=one`, ODD],
    [`/runs/${titled}/data?of=one`, image], ["/workflows", ODD], [`/workflows/${place}`, ODD], [`/workflows/${place}/grid`, ODD],
    [`/workflows/${place}/versions`, ODD], [`/workflows/${place}/triggers`, ODD], [`/workflows/${place}/runs`, ODD], ["/workflows/odd-graph", ODD],
    ["/workflows/odd-graph/grid", ODD], ["/inbox", image], ["/triggers", ODD], ["/heroes", ODD], [hero, ODD], ["/system/storage", ODD],
    [`/triggers/received?firing=${firing.id}`, ODD], [`/workflows/${place}/schedules`, ODD], ["/workflows/odd-graph/versions/1?compare=2", ODD],
    ["/triggers/schedules", ODD], [`/runs?label=${encodeURIComponent(`team:${ODD}`)}`, ODD],
  ];
  const page = await browser.page({ path: "/system", size: "usual" });
  page.on("dialog", () => assert.fail("a text became a script"));
  for (const [path, words] of seen) {
    await page.goto(new URL(path, page.url()).href);
    await page.getByText(words.slice(0, 14)).first().waitFor();
    const made = await page.evaluate(() => [...document.scripts].some((one) => one.text !== "") || document.querySelector("img[src=x]") !== null);
    assert.equal(made, false, `${path} made an element of a text`);
  }
  await page.keyboard.press("Control+k");
  await page.getByRole("combobox", { name: "Search or jump to" }).waitFor();
  await page.keyboard.type("<script>");
  await page.getByRole("option").filter({ hasText: "<script>alert" }).first().waitFor();
  await judged(page, "scripts everywhere");
});
