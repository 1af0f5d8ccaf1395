// A browser for the tests of pages: Debian's Chromium with an empty profile, and pages that fail on anything odd.
import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { chromium } from "playwright-core";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const FLAGS = [
  "--headless",
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  // No process for drawing, and none in stock for a page that may be opened next.
  "--in-process-gpu",
  "--process-per-site",
  "--renderer-process-limit=1",
];
/** Where the page is served. */
export const BASE = process.env.DETENT_URL ?? "http://127.0.0.1:8080";
/** Where pictures go; none are taken without it. */
const PICTURES = process.env.DETENT_PICTURES;
/** A machine may be ten times slower than the one this was written on. */
export const PATIENCE = Number(process.env.DETENT_PATIENCE ?? 300_000);
export const SIZES = { wide: [1440, 900], usual: [1280, 800], phone: [360, 740] };

/** Chromium without its window needs two thirds of the time of one that has a window and does not show it. */
const BROWSERS = ["/usr/bin/chromium-headless-shell", "/usr/bin/chromium"];
/** How Chromium is started. */
export const LAUNCH = { executablePath: process.env.DETENT_TEST_CHROMIUM ?? BROWSERS.find(existsSync), headless: true, args: FLAGS };

/** Opens a browser with an empty profile; `close` it at the end. `page(options)` opens a page that notes what should not
 * happen. `walk(path)` goes to a path in one page, which is loaded once, as a person does who follows links. If
 * `DETENT_BROWSER` is the address of a browser that several files share, the profile is one of that. */
export async function openBrowser() {
  const shared = process.env.DETENT_BROWSER;
  const browser = shared ? await chromium.connect(shared) : await chromium.launch(LAUNCH);
  const context = await browser.newContext({ timezoneId: "Europe/Berlin" });
  context.setDefaultTimeout(PATIENCE);
  let walker;
  return {
    page: (options) => openPage(context, options),
    walk: async (path) => {
      if (!walker || walker.isClosed()) return (walker = await openPage(context, { path }));
      await shaped(walker, "usual", "light");
      walker.forget();
      await walker.evaluate((place) => history.pushState(null, "", place), path);
      return walker;
    },
    closePages: async () => {
      for (const page of context.pages()) if (page !== walker && page.url() !== "about:blank") await page.close();
    },
    close: async () => {
      await context.close();
      await browser.close();
    },
  };
}

async function openPage(context, { path = "/", size = "usual", theme = "light" } = {}) {
  const page = await context.newPage();
  const odd = [];
  page.on("console", (message) => message.type() === "error" && odd.push(`console: ${message.text()} ${message.location().url}`));
  page.on("pageerror", (error) => odd.push(`error: ${error.message}`));
  page.on("request", (request) => {
    const url = request.url();
    if (!url.startsWith(BASE) && !url.startsWith("data:")) odd.push(`foreign request: ${url}`);
  });
  // It is called from the page, so no script has to be added that the policy would forbid.
  await page.exposeFunction("detentViolation", (what) => odd.push(`policy: ${what}`));
  await page.addInitScript(() => {
    addEventListener("securitypolicyviolation", (event) => window.detentViolation(`${event.violatedDirective} ${event.blockedURI}`));
  });
  await shaped(page, size, theme);
  await page.goto(new URL(path, BASE).href);
  return Object.assign(page, {
    forget: () => odd.splice(0),
    /** What happened that should not. A test that makes the server refuse something says which words are expected. */
    odd: (expected = []) => odd.filter((one) => !expected.some((words) => one.includes(words))),
  });
}

async function shaped(page, size, theme) {
  const [width, height] = SIZES[size];
  await page.setViewportSize({ width, height });
  await page.emulateMedia({ colorScheme: theme, reducedMotion: "reduce" });
}

/** Fails on any serious finding of axe, and on anything odd so far. `narrowed` are options of axe. */
export async function judged(page, name, expected = [], narrowed = {}) {
  if (!(await page.evaluate(() => "axe" in window))) {
    // The policy forbids to make a script of a text; the debugger's own evaluation is not bound by it.
    const session = await page.context().newCDPSession(page);
    await session.send("Runtime.evaluate", { expression: AXE });
    await session.detach();
  }
  const findings = await page.evaluate(async (more) => {
    // Styles are of this origin and need not be read a second time.
    const options = { resultTypes: ["violations"], preload: false, ...more };
    const { violations } = await window.axe.run(document, options);
    return violations
      .filter((one) => one.impact === "serious" || one.impact === "critical")
      .map((one) => `${one.id}: ${one.help}: ${one.nodes.slice(0, 4).map((node) => node.html.slice(0, 160)).join(" | ")}`);
  }, narrowed);
  assert.deepEqual(findings, [], `${name}: axe`);
  assert.deepEqual(page.odd(expected), [], `${name}: odd`);
}

/** Takes a picture, if pictures are wanted. */
export async function picture(page, name) {
  if (!PICTURES) return;
  mkdirSync(PICTURES, { recursive: true });
  await page.screenshot({ path: join(PICTURES, `${name}.png`), animations: "disabled" });
}

const CONTRAST = { runOnly: ["color-contrast"] };
const NO_CONTRAST = { rules: { "color-contrast": { enabled: false } } };
/** The sizes at which this file has looked at all rules. */
const seen = new Set();

/** Looks at a view in both themes, then on a phone: nothing scrolls sideways, axe finds nothing, and a picture is taken of
 * each. `ready` waits until the view is there. It is one page for all views, and it gets narrow; with `again` it is opened
 * again for that, because what `ready` does changes what a phone shows first. */
export async function looked(browser, path, name, ready, again = false) {
  const page = await browser.walk(path);
  for (const size of ["usual", "phone"]) {
    if (size === "phone") {
      await shaped(page, size, "light");
      if (again || PICTURES) await page.goto(new URL(path, BASE).href);
    }
    await ready(page, size);
    // Rows of the view before are pale until those of this one are there.
    await page.waitForFunction(() => !document.querySelector('[aria-busy="true"]'));
    const overflow = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    assert.equal(overflow, 0, `${name} on ${size} scrolls sideways`);
    await picture(page, `${name}${size === "usual" ? "" : `-${size}`}-light`);
    // A phone shows the same colours; what only a phone has is in every view.
    const isSeen = size === "phone" && seen.has(size);
    seen.add(size);
    await judged(page, `${name} ${size} light`, [], isSeen ? NO_CONTRAST : {});
    if (size === "phone" && !PICTURES) continue;
    await page.emulateMedia({ colorScheme: "dark", reducedMotion: "reduce" });
    await picture(page, `${name}${size === "usual" ? "" : `-${size}`}-dark`);
    // Only colours differ.
    if (size === "usual") await judged(page, `${name} ${size} dark`, [], CONTRAST);
  }
}

/** Watches that a test uses no mouse: `assertUnused` fails if something was pointed at. */
export async function withoutMouse(page) {
  await page.evaluate(() => {
    globalThis.pointed = [];
    for (const name of ["pointerdown", "pointermove", "wheel"]) addEventListener(name, () => globalThis.pointed.push(name), true);
  });
  return { assertUnused: async () => assert.deepEqual(await page.evaluate(() => globalThis.pointed), []) };
}

/** Presses Tab (or Shift+Tab) until a control has the focus. */
export async function tabTo(page, control, key = "Tab") {
  await control.first().waitFor();
  for (let i = 0; i < 120; i += 1) {
    if (await control.first().evaluate((one) => one === document.activeElement)) return;
    await page.keyboard.press(key);
  }
  assert.fail("Tab does not lead to it");
}

/** Asks the API, as the test's own hand. A text is sent as it is, anything else as JSON. Where the server asks for a key,
 * `DETENT_KEY` has one that may do everything. */
export async function api(method, path, body) {
  const options = body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) };
  if (process.env.DETENT_KEY) options.headers = { authorization: `Bearer ${process.env.DETENT_KEY}` };
  const response = await fetch(new URL(`/api/v1${path}`, BASE), { method, ...options });
  const text = await response.text();
  assert.ok(response.ok, `${method} ${path}: ${response.status} ${text.slice(0, 300)}`);
  return text === "" ? undefined : JSON.parse(text).data;
}

/** Presses "Try again" until something is there. The page also reads again by itself, and then it has no button to press. */
export async function triedAgain(page, there) {
  const button = page.getByRole("button", { name: "Try again" });
  await until("what was missing is there", async () => {
    await button.or(there).first().waitFor();
    if (await there.first().isVisible()) return true;
    await button.click({ timeout: 1000 }).catch(() => undefined);
    return false;
  });
}

/** Waits until something is so; a function that returns it, or nothing yet. */
export async function until(what, look) {
  const end = Date.now() + PATIENCE;
  for (;;) {
    const found = await look();
    if (found) return found;
    assert.ok(Date.now() < end, `waited too long until ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
