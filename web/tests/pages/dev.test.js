// From `detent dev`, which `make run` starts, to a run that is watched live to its end: by the line that the page shows.
import assert from "node:assert/strict";
import { test } from "node:test";
import { api, BASE, judged, openBrowser, until } from "../browser.js";

test("the line that the first page shows starts a run, and it is watched to its end", async () => {
  const browser = await openBrowser();
  try {
    const page = await browser.page({ path: "/" });
    await page.getByRole("heading", { level: 1, name: "Runs" }).waitFor();
    const before = new Set((await api("GET", "/runs?limit=100")).map((one) => one.id));
    // An example is started as its page says, word for word.
    await page.goto(`${BASE}/workflows/order-processing/triggers`);
    const line = await page.getByText(/^curl -X POST .*\/api\/v1\/workflows\/order-processing\/trigger/).innerText();
    const [, url, body] = /^curl -X POST (\S+) -d '(.*)'$/.exec(line);
    assert.ok(url.startsWith(BASE), "the line is for this server");
    await page.goto(`${BASE}/runs?workflow=order-processing`);
    const answer = await fetch(url, { method: "POST", body });
    assert.equal(answer.status, 201);
    const { run_id: run } = (await answer.json()).data;
    assert.equal(before.has(run), false);
    await page.locator(`#row-${run}`).getByRole("link", { name: "order-processing" }).click();
    await page.locator(".react-flow__node").first().waitFor();
    await until("the page shows its end by itself", async () => /^(Completed|.* failed|Cancelled)/.test(await page.getByRole("heading", { level: 1 }).innerText()));
    assert.ok((await api("GET", `/runs/${run}`)).finished_at);
    await judged(page, "a run of an example");
  } finally {
    await browser.close();
  }
});
