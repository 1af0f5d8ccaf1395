// Watches a run that writes entries at a steady rate, and prints what that costs the browser. It asserts nothing.
//
//   DETENT_URL=http://127.0.0.1:8080 node watch.js [--minutes 10] [--rate 20] [--steps 960] [--tab graph] [--profile file] [--heap file]
//
// Shares are of the processor time of the page's main thread, so that a busy machine does not blur them.
// The server must be allowed to call this machine: DETENT_EGRESS_ALLOW=127.0.0.0/8.
import { once } from "node:events";
import { createWriteStream, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { parseArgs } from "node:util";
import { api, openBrowser } from "./browser.js";

const { values } = parseArgs({
  options: {
    minutes: { type: "string", default: "10" },
    rate: { type: "string", default: "20" },
    steps: { type: "string", default: "960" },
    lanes: { type: "string", default: "4" },
    tab: { type: "string", default: "graph" },
    /** Where a profile of the first 20 seconds is written, for the browser's own tools. */
    profile: { type: "string" },
    /** Where snapshots of the heap at the start and at the end are written: `FILE.start.heapsnapshot`, `FILE.end.heapsnapshot`. */
    heap: { type: "string" },
  },
});
const seconds = Number(values.minutes) * 60;
const rate = Number(values.rate);
const lanes = Number(values.lanes);
const layers = Math.ceil(Number(values.steps) / lanes);
/** The page is open for a while before it is measured, and the run must outlast both. */
const SETTLE = 5;
const tries = Math.ceil(((seconds + 4 * SETTLE) * rate) / (layers * lanes));
const nameOf = (lane, layer) => `lane-${lane}-step-${layer}`;
const pause = (s) => new Promise((resolve) => setTimeout(resolve, s * 1000));

/** Answers one call per beat, so that the run writes entries at the wanted rate. Each step fails until its last try. */
async function startMetronome() {
  const waiting = [];
  const calls = new Map();
  const server = createServer((request, response) => {
    request.resume();
    waiting.push({ path: request.url, response });
  });
  const begun = performance.now();
  let answered = 0;
  const beat = setInterval(() => {
    const due = ((performance.now() - begun) * rate) / 1000;
    for (; answered < due; answered += 1) {
      const next = waiting.shift();
      if (!next) continue;
      const count = (calls.get(next.path) ?? 0) + 1;
      calls.set(next.path, count);
      next.response.writeHead(count < tries ? 503 : 200, { "content-type": "application/json" });
      next.response.end(JSON.stringify({ path: next.path, count }));
    }
  }, 1000 / rate);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    stop: () => {
      clearInterval(beat);
      server.closeAllConnections();
      server.close();
    },
  };
}

function definition(url) {
  const tasks = {};
  const retries = { attempts: Math.max(0, tries - 1), delay: "10ms", factor: 1, jitter: false };
  for (let layer = 0; layer < layers; layer += 1) {
    for (let lane = 0; lane < lanes; lane += 1) {
      const needs = layer ? { needs: [nameOf(lane, layer - 1)] } : {};
      tasks[nameOf(lane, layer)] = { ...needs, url: `${url}/${nameOf(lane, layer)}`, method: "POST", retries };
    }
  }
  return { name: "watched", tasks };
}

const NAMES = ["TaskDuration", "ScriptDuration", "LayoutDuration", "RecalcStyleDuration"];

async function figures(session) {
  await session.send("HeapProfiler.collectGarbage");
  const { metrics } = await session.send("Performance.getMetrics");
  return new Map(metrics.map((one) => [one.name, one.value]));
}

/** Writes everything that the page holds, for the browser's own tools. */
async function snapshot(session, file) {
  const out = createWriteStream(file);
  const put = ({ chunk }) => out.write(chunk);
  session.on("HeapProfiler.addHeapSnapshotChunk", put);
  await session.send("HeapProfiler.takeHeapSnapshot", { reportProgress: false });
  session.off("HeapProfiler.addHeapSnapshotChunk", put);
  out.end();
  await once(out, "finish");
}

/** What a person chose and where things are scrolled to. */
function standing(page) {
  return page.evaluate(() => ({
    panel: document.querySelector("aside, [role=complementary]")?.getAttribute("aria-label") ?? null,
    chosen: document.querySelector(".react-flow__node [class*=selected]")?.closest("[data-id]")?.getAttribute("data-id") ?? null,
    scroll: document.querySelector('[aria-label="Steps over time"]')?.scrollTop ?? null,
    view: document.querySelector(".react-flow__viewport")?.getAttribute("style") ?? null,
    url: location.pathname + location.search,
  }));
}

const [metronome, browser] = await Promise.all([startMetronome(), openBrowser()]);
let run;
try {
  await api("PUT", "/workflows/watched", definition(metronome.url));
  run = (await api("POST", "/workflows/watched/trigger", {})).run_id;
  const chosen = nameOf(1, Math.min(1, layers - 1));
  const tab = values.tab === "graph" ? "" : `/${values.tab}`;
  const page = await browser.page({ path: `/runs/${run}${tab}?step=${chosen}`, size: "wide" });
  // People have the moving ring; so does this.
  await page.emulateMedia({ reducedMotion: "no-preference" });
  const rows = page.getByRole("group", { name: "Steps over time" });
  if (values.tab === "graph") {
    await rows.waitFor();
    await rows.evaluate((el) => el.scrollTo(0, 54));
  }
  await pause(SETTLE);
  const session = await page.context().newCDPSession(page);
  await session.send("Performance.enable", { timeDomain: "threadTicks" });
  await session.send("HeapProfiler.enable");
  if (values.heap) await snapshot(session, `${values.heap}.start.heapsnapshot`);
  const entries = async () => (await api("GET", `/runs/${run}/outline`)).seq;
  const before = { standing: await standing(page), seq: await entries(), figures: await figures(session), at: performance.now() };
  if (values.profile) {
    await session.send("Profiler.enable");
    await session.send("Profiler.start");
    await pause(Math.min(20, seconds));
    writeFileSync(values.profile, JSON.stringify((await session.send("Profiler.stop")).profile));
  }
  let last = { figures: before.figures, at: before.at };
  while (performance.now() - before.at < seconds * 1000) {
    await pause(Math.max(0.1, Math.min(60, seconds - (performance.now() - before.at) / 1000)));
    const now = { figures: await figures(session), at: performance.now() };
    const share = (name) => ((100_000 * (now.figures.get(name) - last.figures.get(name))) / (now.at - last.at)).toFixed(1);
    const heap = (now.figures.get("JSHeapUsedSize") / 1e6).toFixed(1);
    console.log(
      `${((now.at - before.at) / 1000).toFixed(0).padStart(4)} s: busy ${share("TaskDuration")} %, script ${share("ScriptDuration")} %, ` +
        `layout ${share("LayoutDuration")} %, style ${share("RecalcStyleDuration")} %, heap ${heap} MB, nodes ${now.figures.get("Nodes")}, ` +
        `listeners ${now.figures.get("JSEventListeners")}`,
    );
    last = now;
  }
  const after = { standing: await standing(page), seq: await entries(), figures: last.figures, at: last.at };
  if (values.heap) await snapshot(session, `${values.heap}.end.heapsnapshot`);
  const span = after.at - before.at;
  const share = (name) => `${((100_000 * (after.figures.get(name) - before.figures.get(name))) / span).toFixed(1)} %`;
  const heap = (one) => `${(one.figures.get("JSHeapUsedSize") / 1e6).toFixed(1)} MB`;
  console.log(`entries: ${after.seq - before.seq} in ${(span / 1000).toFixed(0)} s, ${(((after.seq - before.seq) * 1000) / span).toFixed(1)}/s`);
  console.log(NAMES.map((name) => `${name} ${share(name)}`).join(", "));
  console.log(`heap: ${heap(before)} at the start, ${heap(after)} at the end`);
  const kept = JSON.stringify(before.standing) === JSON.stringify(after.standing);
  console.log(`selection, scroll and view: ${kept ? "kept" : `LOST\n${JSON.stringify(before.standing)}\n${JSON.stringify(after.standing)}`}`);
  console.log(`odd: ${JSON.stringify(page.odd())}`);
} finally {
  if (run) await api("POST", `/runs/${run}/cancel`, {}).catch(() => {});
  metronome.stop();
  await browser.close();
}
