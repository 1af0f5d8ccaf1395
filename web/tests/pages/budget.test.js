// How much each page loads into an empty browser, in bytes as they are sent. Bytes are not luck: this fails when a page grows.
import assert from "node:assert/strict";
import { before, test } from "node:test";
import { api, openBrowser } from "../browser.js";

const KB = 1000;
let run;

before(async () => {
  await api("PUT", "/workflows/budget", { name: "budget", tasks: { one: { action: "core.echo", with: { ok: true } } } });
  run = (await api("POST", "/workflows/budget/trigger", {})).run_id;
  const config = { alert_type: "x", severity: "low", title: "x", message: "x" };
  const edges = [{ source_action_id: null, target_action_id: "temp:0", edge_type: "start" }];
  await api("POST", "/rules", { name: "Weighed", trigger_type: "manual", actions: [{ name: "Tell", action_type: "create_alert", action_config: config }], edges });
});

/** Bytes by kind of everything that a page loads before it rests. Each page has a profile of its own: nothing is cached. */
async function weigh(path, ready) {
  const browser = await openBrowser();
  try {
    const page = await browser.page({ path, size: "usual" });
    await ready(page);
    await page.evaluate(() => document.fonts.ready);
    return await page.evaluate(() => {
      const kinds = { script: 0, css: 0, fonts: 0 };
      for (const one of performance.getEntriesByType("resource")) {
        const { pathname } = new URL(one.name);
        const kind = pathname.endsWith(".js") ? "script" : pathname.endsWith(".css") ? "css" : pathname.endsWith(".woff2") ? "fonts" : undefined;
        if (kind) kinds[kind] += one.encodedBodySize;
      }
      return kinds;
    });
  } finally {
    await browser.close();
  }
}

/** React is 51 of each, the graph 57 of a run. */
const PAGES = [
  ["the list of runs", () => "/runs", 90, (page) => page.getByRole("link", { name: "budget" }).first().waitFor()],
  ["a run", () => `/runs/${run}`, 160, (page) => page.getByRole("group", { name: "Steps over time" }).waitFor()],
  ["the list of workflows", () => "/workflows", 90, (page) => page.getByRole("link", { name: "budget" }).first().waitFor()],
  ["the list of rules", () => "/rules", 90, (page) => page.getByRole("link", { name: "Weighed" }).waitFor()],
  ["a rule", () => "/rules/weighed", 160, (page) => page.locator('.react-flow__node[data-id="tell"]').waitFor()],
];

for (const [name, path, most, ready] of PAGES) {
  test(`${name} loads at most ${most} kB of script, 20 of styles and 53 of fonts`, async () => {
    const found = await weigh(path(), ready);
    console.log(`${name}: script ${(found.script / KB).toFixed(1)} kB, styles ${(found.css / KB).toFixed(1)} kB, fonts ${(found.fonts / KB).toFixed(1)} kB`);
    assert.ok(found.script > 0 && found.css > 0, "nothing was weighed");
    assert.ok(found.script <= most * KB, `${found.script} bytes of script`);
    assert.ok(found.css <= 20 * KB, `${found.css} bytes of styles`);
    assert.ok(found.fonts <= 53 * KB, `${found.fonts} bytes of fonts`);
  });
}
