// Bundles src/ into ../static/: the same sources and versions give the same bytes.
import { build } from "esbuild";
import { copyFile, mkdir, rm } from "node:fs/promises";

const out = new URL("../static/", import.meta.url).pathname;
await rm(out, { recursive: true, force: true });
await mkdir(out, { recursive: true });
await build({
  entryPoints: { page: "src/main.js", style: "src/style.css" },
  bundle: true,
  minify: true,
  format: "esm",
  target: "es2022",
  charset: "utf8",
  legalComments: "inline",
  outdir: out,
});
for (const file of ["index.html", "icon.svg"]) await copyFile(`src/${file}`, out + file);

// What checks that everybody can use the page, for tests that have no network.
const tests = new URL("../../../../tests/dashboard/axe/", import.meta.url).pathname;
await mkdir(tests, { recursive: true });
for (const file of ["axe.min.js", "LICENSE"]) await copyFile(`node_modules/axe-core/${file}`, tests + file);
