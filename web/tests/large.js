// Opens a run of a thousand steps and a map of ten thousand items, and prints how soon they are usable and how they move.
// It asserts nothing.
//
//   DETENT_URL=http://127.0.0.1:8080 node large.js [--times 5]
//
// Beside the clock it counts the processor time of the page's main thread: a busy machine does not blur that.
import { parseArgs } from "node:util";
import { api, openBrowser, until } from "./browser.js";

const { values } = parseArgs({ options: { times: { type: "string", default: "5" } } });
const times = Number(values.times);
const ITEMS = 10_000;
const middle = (list) => list.toSorted((a, b) => a - b)[Math.floor(list.length / 2)];

function thousand() {
  const tasks = { "step-0": { action: "core.echo", with: {} } };
  for (let i = 1; i < 1000; i += 1) {
    const needs = [...new Set([`step-${Math.max(0, i - 1 - ((i * 7) % 9))}`, `step-${Math.max(0, i - 1 - ((i * 5) % 13))}`])];
    tasks[`step-${i}`] = { action: "core.echo", with: { n: i }, needs };
  }
  return { name: "a-thousand", tasks };
}
const MAP = {
  name: "import-all",
  tasks: { each: { for_each: "{{trigger.body.items}}", max_parallel: 500, action: "core.echo", with: { i: "{{item}}" } } },
};

async function ended(workflow, body) {
  const run = (await api("POST", `/workflows/${workflow}/trigger`, body)).run_id;
  await until(`${workflow} has ended`, async () => (await api("GET", `/runs/${run}/outline`)).run.status === "completed");
  return run;
}

async function busy(session) {
  const { metrics } = await session.send("Performance.getMetrics");
  return metrics.find((one) => one.name === "TaskDuration").value * 1000;
}

/** Opens a page; the clock and the processor time from its last answer of the API until `selectors` are all there. */
async function opened(browser, path, selectors) {
  const page = await browser.page({ path: "/docs", size: "wide" });
  const session = await page.context().newCDPSession(page);
  await session.send("Performance.enable", { timeDomain: "threadTicks" });
  await page.addInitScript((wanted) => {
    const look = () => {
      if (!wanted.every((one) => document.querySelector(one))) return requestAnimationFrame(look);
      // After the frame in which they are first drawn.
      requestAnimationFrame(() => setTimeout(() => (globalThis.usableAt = performance.now())));
    };
    requestAnimationFrame(look);
  }, selectors);
  const before = await busy(session);
  await page.goto(new URL(path, page.url()).href);
  const found = await until("it is usable", () =>
    page.evaluate(() => {
      const asked = performance.getEntriesByType("resource").filter((one) => /\/(outline|graph)(\?|$)/.test(one.name));
      return globalThis.usableAt && { usable: globalThis.usableAt, data: Math.max(...asked.map((one) => one.responseEnd)) };
    }),
  );
  return { page, session, clock: found.usable - found.data, whole: found.usable, work: (await busy(session)) - before };
}

/** Frames while a person drags or scrolls: how many a second, the longest, and the work of each. */
async function moved(page, session, move) {
  await page.evaluate(() => {
    const frames = [];
    let last = performance.now();
    const tick = (now) => {
      frames.push(now - last);
      last = now;
      globalThis.ticking = requestAnimationFrame(tick);
    };
    Object.assign(globalThis, { frames, ticking: requestAnimationFrame(tick) });
  });
  const before = await busy(session);
  await move();
  const work = (await busy(session)) - before;
  const frames = await page.evaluate(() => {
    cancelAnimationFrame(globalThis.ticking);
    return globalThis.frames;
  });
  const sum = frames.reduce((all, one) => all + one, 0);
  const late = frames.filter((one) => one > 25).length;
  return `${Math.round((1000 * frames.length) / sum)} frames/s, ${late} of ${frames.length} late, longest ${Math.round(Math.max(...frames))} ms, work ${(work / frames.length).toFixed(1)} ms a frame`;
}

async function dragged(page) {
  await page.mouse.move(600, 240);
  await page.mouse.down();
  for (let i = 0; i < 60; i += 1) {
    await page.mouse.move(600 - i * 6, 240 + (i % 7) * 4);
    await page.waitForTimeout(16);
  }
  await page.mouse.up();
}

async function scrolled(page, list) {
  const box = await list.boundingBox();
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
  for (let i = 0; i < 60; i += 1) {
    await page.mouse.wheel(0, 120);
    await page.waitForTimeout(16);
  }
}

await api("PUT", "/workflows/a-thousand", thousand());
await api("PUT", "/workflows/import-all", MAP);
const steps = await ended("a-thousand", {});
const map = await ended("import-all", { items: Array.from({ length: ITEMS }, (_, i) => i) });
const browser = await openBrowser();
try {
  for (const [name, path, selectors] of [
    ["1,000 steps", `/runs/${steps}`, [".react-flow__node, [data-far]", "[data-bar]"]],
    ["a map of 10,000", `/runs/${map}?step=each`, [".react-flow__node", "[data-bar]", '[aria-label="Items"] [role=listitem]']],
  ]) {
    const seen = [];
    for (let i = 0; i < times; i += 1) {
      const one = await opened(browser, path, selectors);
      seen.push(one);
      if (i < times - 1) await one.page.close();
    }
    const say = (what) => `${Math.round(middle(seen.map((one) => one[what])))} ms`;
    console.log(`${name}: usable ${say("clock")} after its data, ${say("whole")} after the navigation; the page worked ${say("work")}`);
    const { page, session } = seen.at(-1);
    if (name.startsWith("1")) {
      console.log(`  graph, near: ${await moved(page, session, () => dragged(page))}`);
      await page.keyboard.press("f");
      await page.locator("[data-far]").waitFor();
      console.log(`  graph, far: ${await moved(page, session, () => dragged(page))}`);
      const rows = page.getByRole("group", { name: "Steps over time" });
      console.log(`  timeline: ${await moved(page, session, () => scrolled(page, rows))}`);
    } else {
      const items = page.getByRole("list", { name: "Items" });
      console.log(`  items: ${await moved(page, session, () => scrolled(page, items))}`);
      console.log(`  ${await items.getByRole("listitem").count()} items are mounted`);
    }
    await page.close();
  }
} finally {
  await browser.close();
}
