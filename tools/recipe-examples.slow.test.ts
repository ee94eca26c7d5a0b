import { spawnSync } from "node:child_process";
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const PAGES = globSync("docs/recipes/*.md", { cwd: ROOT, exclude: ["docs/recipes/README.md"] }).sort();
/** Prepended to the examples of each page. */
const PREAMBLE = `import { connect } from "@zooid/client";
import { startServer } from "@zooid/embedded-server";
await using server = await startServer({ port: 0 });
await using zk = await connect(server.connectString);
await using other = await connect(server.connectString);
`;

// Inside the repository, so that programs find its packages, and outside of node_modules, where
// Node.js refuses TypeScript.
let directory = "";
beforeAll(() => {
  mkdirSync(join(ROOT, ".cache"), { recursive: true });
  directory = mkdtempSync(join(ROOT, ".cache", "recipe-pages-"));
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const textOf = (page: string): string => readFileSync(join(ROOT, page), "utf8");

test("the examples of the recipes' pages run as they are", () => {
  // In one process: most of the time goes into its start.
  const pages = [...PAGES, "docs/migration.md"];
  const modules = pages.map((page, i) => {
    const code = [...textOf(page).matchAll(/^```ts\n(.*?)^```$/gms)].map(([, block]) => block).join("\n");
    const file = `page-${i}.ts`;
    writeFileSync(join(directory, file), `${PREAMBLE}${code}`);
    return `console.log(${JSON.stringify(page)}); await import("./${file}");`;
  });
  writeFileSync(join(directory, "all.ts"), modules.join("\n"));
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ["--conditions=@zooid/source", "--no-warnings", join(directory, "all.ts")],
    { encoding: "utf8", timeout: 120_000 },
  );
  expect([stderr, status, stdout.split("\n").findLast((line) => line.startsWith("docs/"))]).toEqual([
    "",
    0,
    pages.at(-1),
  ]);
}, 150_000);
