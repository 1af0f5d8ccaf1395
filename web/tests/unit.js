// Runs every `*.test.ts` below `web/src` in one process of Node. They are bundled, so imports work as they do in the page.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const web = fileURLToPath(new URL("..", import.meta.url));
const { rolldown } = await import(pathToFileURL(createRequire(join(web, "package.json")).resolve("rolldown")).href);
const out = mkdtempSync(join(tmpdir(), "detent-web-"));
try {
  const files = readdirSync(join(web, "src"), { recursive: true, encoding: "utf8" }).filter((one) => one.endsWith(".test.ts"));
  const every = join(out, "every.ts");
  writeFileSync(every, files.map((one) => `import ${JSON.stringify(join(web, "src", one))};\n`).join(""));
  const bundle = await rolldown({ input: every, platform: "node", external: /^node:/, logLevel: "warn" });
  const file = join(out, "every.mjs");
  await bundle.write({ file, format: "esm" });
  process.exitCode = spawnSync(process.execPath, ["--test", ...process.argv.slice(2), file], { stdio: "inherit" }).status ?? 1;
} finally {
  rmSync(out, { recursive: true });
}
