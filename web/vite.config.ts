import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import react from "@vitejs/plugin-react";
import { defineConfig, type Plugin } from "vite";
import { onePath, type Shape } from "./src/look/one_path";

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const OUT = here("../detent/web/built");
// Smaller files gain nothing from compression.
const WORTH_IT = 512;

/** Writes each file that shrinks a second and a third time, as `.br` and `.gz`. The server sends them as they are. */
function compressed(): Plugin {
  return {
    name: "detent:compressed",
    apply: "build",
    closeBundle() {
      // A build that failed has no files, and this would hide why.
      if (!existsSync(OUT)) return;
      for (const path of readdirSync(OUT, { recursive: true, encoding: "utf8" })) {
        const file = join(OUT, path);
        if (!statSync(file).isFile() || !/\.(js|css|svg)$/.test(path)) continue;
        const plain = readFileSync(file);
        if (plain.length < WORTH_IT) continue;
        const params = { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: plain.length };
        writeFileSync(`${file}.br`, brotliCompressSync(plain, { params }));
        writeFileSync(`${file}.gz`, gzipSync(plain, { level: 9 }));
      }
    },
  };
}

/** Writes each icon as one path. Its component and data, with a name and a key for each shape, are most of what it
 * weighs. Only icons that a source names are read: the package has 1,700. */
function icons(): Plugin {
  const folder = here("node_modules/lucide-react/dist/esm");
  const ours = here("src");
  return {
    name: "detent:icons",
    apply: "build",
    enforce: "pre",
    resolveId: { filter: { id: /^lucide-react$/ }, handler: () => "\0icons" },
    load: {
      filter: { id: /^\0icons$/ },
      handler() {
        const sources = readdirSync(ours, { recursive: true, encoding: "utf8" }).filter((one) => /\.tsx?$/.test(one));
        const named = sources.flatMap((one) => [...readFileSync(join(ours, one), "utf8").matchAll(/import \{([^}]*)\} from "lucide-react"/g)]);
        const names = new Set(named.flatMap(([, list]) => list?.match(/(?<!type )\b[A-Z]\w*/g) ?? []));
        const barrel = readFileSync(join(folder, "lucide-react.mjs"), "utf8").split("\n");
        const lines = [...names].map((name) => {
          const file = barrel.find((line) => line.includes(`default as ${name},`) || line.includes(`default as ${name} }`))?.match(/'\.\/(icons\/[\w-]+\.mjs)'/)?.[1];
          if (!file) throw new Error(`lucide-react has no icon ${name}`);
          return `export { default as ${name} } from ${JSON.stringify(join(folder, file))};`;
        });
        return { code: lines.join("\n"), moduleSideEffects: false };
      },
    },
    transform: {
      filter: { id: /\/lucide-react\/dist\/esm\/icons\/[\w-]+\.mjs$/ },
      async handler(_, id) {
        const { __iconData } = (await import(pathToFileURL(id).href)) as { __iconData: { node: Shape[] } };
        const code = `import { icon } from ${JSON.stringify(here("src/look/icon.tsx"))};
          export default /* @__PURE__ */ icon(${JSON.stringify(onePath(__iconData.node))});`;
        return { code, map: null };
      },
    },
  };
}

/** What every page needs is one file: small files that are loaded together compress worse than one. */
const SHELL = new RegExp(
  [
    "/node_modules/(react|react-dom|scheduler|wouter|regexparam)/",
    "/node_modules/@tanstack/(?!.*[mM]utationObserver|.*useMutation)",
    "/src/(main|routes|look/(?!kinds).*|shell/(?!palette|key_list|place|sign_in|who_menu).*)\\.tsx?$",
    "/src/api/(cache|client|live|policy|session|sign_in|tabs|runs)\\.ts$",
    "/src/runs/why\\.ts$|/lucide-react/.*/(radio|ellipsis|chevron-right|x|chevron-down|plus|minus)\\.mjs$",
    "/src/parts/(button|chip|copy|menu|states|status|time|toast|list/.*)\\.tsx?$",
  ].join("|"),
);
const GRAPH = /\/node_modules\/(@xyflow|d3-|zustand)|\/src\/graph\//;

const backend = { target: process.env["DETENT_URL"] ?? "http://127.0.0.1:8080", changeOrigin: false };

export default defineConfig({
  // Everything is addressed relative to `<base href>`, so that the page works behind a prefix.
  base: "./",
  plugins: [react(), icons(), compressed()],
  resolve: {
    alias: [
      { find: "detent-client", replacement: here("../clients/typescript/src/index.ts") },
      // React itself has what this package makes up for in older ones.
      { find: /^use-sync-external-store\/shim(\/index\.js)?$/, replacement: "react" },
    ],
  },
  build: {
    outDir: OUT,
    emptyOutDir: true,
    target: "es2023",
    // A page is followed by its small parts in one step; only the large one is asked for together with it.
    modulePreload: { polyfill: false, resolveDependencies: (_, parts) => parts.filter((one) => /\.css$|\/graph-/.test(one)) },
    // The policy allows no inline fonts, and a data URL cannot be cached.
    assetsInlineLimit: 0,
    reportCompressedSize: false,
    rolldownOptions: { output: { codeSplitting: { groups: [{ name: "shell", test: SHELL }, { name: "graph", test: GRAPH }] } } },
  },
  server: { proxy: { "/api": backend, "/wh": backend, "/docs": backend, "/openapi.json": backend, "/health": backend } },
});
