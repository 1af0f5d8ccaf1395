// Runs every `*.test.ts` below `web/src` in Node: each is bundled on its own, so imports work as they do in the page.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const web = fileURLToPath(new URL("..", import.meta.url));
const { rolldown } = await import(pathToFileURL(createRequire(join(web, "package.json")).resolve("rolldown")).href);
const out = mkdtempSync(join(tmpdir(), "detent-web-"));
try {
  const files = readdirSync(join(web, "src"), { recursive: true, encoding: "utf8" }).filter((one) => one.endsWith(".test.ts"));
  const input = Object.fromEntries(files.map((one) => [one.replace(/\W/g, "_"), join(web, "src", one)]));
  const bundle = await rolldown({ input, platform: "node", external: /^node:/, logLevel: "warn" });
  await bundle.write({ dir: out, format: "esm", entryFileNames: "[name].mjs" });
  const tests = Object.keys(input).map((name) => join(out, `${name}.mjs`));
  process.exitCode = spawnSync(process.execPath, ["--test", ...process.argv.slice(2), ...tests], { stdio: "inherit" }).status ?? 1;
} finally {
  rmSync(out, { recursive: true });
}
