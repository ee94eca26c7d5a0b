import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { TOOL_GROUPS } from "./tool-table.ts";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const FILES = TOOL_GROUPS.flatMap(({ tools }) => tools.map(({ file }) => file));
/** Loads what a module imports, and what that imports, without running any of it. */
const LINK = `
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
const seen = new Set();
function link(url) {
  if (seen.has(url) || !url.startsWith("file:") || url.includes("/node_modules/")) return;
  seen.add(url);
  for (const [, name] of readFileSync(new URL(url), "utf8").matchAll(/^(?:import|export) [^;]*?from "([^"]+)";/gms))
    link(import.meta.resolve(name, url));
}
for (const file of process.argv.slice(1)) link(pathToFileURL(file).href);
`;

test("every module that a tool imports is found as npm run tool runs it", () => {
  const { status, stderr } = spawnSync(
    process.execPath,
    [
      ...["--conditions=@zooid/source", "--experimental-import-meta-resolve", "--no-warnings"],
      ...["--input-type=module", "-e", LINK, "--", ...FILES.map((file) => join(ROOT, file))],
    ],
    { cwd: ROOT, encoding: "utf8" },
  );
  expect([status, stderr]).toEqual([0, ""]);
});
