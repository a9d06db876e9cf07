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
