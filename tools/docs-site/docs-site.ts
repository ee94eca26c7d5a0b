/**
 * Builds the documentation site, with local search: the pages of docs, the READMEs of packages and
 * applications, the changelog, and the API reference. It fails where a link leads to no page or to
 * no heading.
 *
 *     npm run docs-site
 */
import { spawnSync } from "node:child_process";
import { copyFileSync, cpSync, existsSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { run } from "@zooid/trials/internal/processes/run";
import { cachedInstall } from "../cached-install.ts";
import { ROOT } from "../pack/public-packages.ts";
import { deadAnchors, type Page, sitePage, sitePlace } from "./pages.ts";

const TOOL = import.meta.dirname;
const OUTPUT = join(ROOT, "docs/site");
const API = join(ROOT, "docs/api");
/** A minute on a busy machine. */
const BUILD_MS_MAX = 600_000;
const PAGES = [
  ...["README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md"],
  ...["docs/*.md", "docs/{decisions,recipes,reference}/*.md", "{packages,apps}/*/README.md", "examples/README.md"],
  ...["packages/zab/DESIGN.md", "packages/simulator/scenarios/README.md"],
];

process.exitCode = await main();

async function main(): Promise<number> {
  const pages = globSync(PAGES, { cwd: ROOT })
    .sort()
    .map((file): Page => ({ file, text: readFileSync(join(ROOT, file), "utf8") }));
  const faults = deadAnchors(pages);
  for (const fault of faults) console.error(fault);
  if (faults.length > 0) return 1;
  if (!existsSync(join(API, "index.html"))) {
    const { status } = spawnSync("npm", ["run", "api-docs"], { cwd: ROOT, stdio: "inherit" });
    if (status !== 0) return 1;
  }
  const cache = await cachedInstall(TOOL);
  const site = join(cache, "site");
  stage(pages, site);
  try {
    const vitepress = join(cache, "node_modules/vitepress/bin/vitepress.js");
    await run(process.execPath, [vitepress, "build", site, "--outDir", OUTPUT], cache, process.env, BUILD_MS_MAX);
  } catch (error) {
    console.error(stripVTControlCharacters(error instanceof Error ? error.message : String(error)));
    return 1;
  }
  console.log(`${pages.length} pages, in ${relative(ROOT, OUTPUT)}/index.html`);
  return 0;
}

/** Lays out what VitePress reads, in the places that the pages have in the repository. */
function stage(pages: readonly Page[], site: string): void {
  rmSync(site, { recursive: true, force: true });
  const files = new Set(pages.map(({ file }) => file));
  const isPage = (file: string): boolean => files.has(file);
  const exists = (file: string): boolean => existsSync(join(ROOT, file));
  for (const page of pages) {
    const place = join(site, sitePlace(page.file));
    mkdirSync(dirname(place), { recursive: true });
    writeFileSync(place, sitePage(page, isPage, exists));
  }
  cpSync(join(ROOT, "docs/images"), join(site, "docs/images"), { recursive: true });
  cpSync(API, join(site, "public/api"), { recursive: true });
  mkdirSync(join(site, ".vitepress"), { recursive: true });
  for (const file of ["config.mts", "pages.ts"]) copyFileSync(join(TOOL, file), join(site, ".vitepress", file));
  const links = (folder: RegExp): string =>
    JSON.stringify(pages.filter(({ file }) => folder.test(file)).map(linkOf), undefined, 2);
  writeFileSync(
    join(site, ".vitepress/lists.mjs"),
    `export const recipes = ${links(/^docs\/recipes\//)};\nexport const reference = ${links(/^docs\/(?:architecture|glossary|reference\/|decisions\/)|^packages\/[^/]+\/README/)};\n`,
  );
}

function linkOf({ file, text }: Page): { readonly text: string; readonly link: string } {
  const [, title = file] = /^# +(.+)$/m.exec(text) ?? [];
  return { text: title.replace(/`/g, ""), link: `/${sitePlace(file).replace(/(?:index)?\.md$/, "")}` };
}
