/**
 * Reads the sources of every workspace package and prints the circles of files that import each
 * other; exit status 1 where one is not allowed, or has grown.
 */
import { globSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { ALLOWED_CIRCLES, circleFaults, findCircles, relativeImports } from "./import-circles.ts";

const root = resolve(import.meta.dirname, "..");
const files = globSync(["packages/*/src/**/*.ts", "apps/*/src/**/*.ts", "examples/src/**/*.ts", "tools/**/*.ts"], {
  cwd: root,
  exclude: ["**/node_modules/**"],
});
const graph = new Map(files.map((file) => [file, importsOf(file)]));

const circles = findCircles(graph);
const faults = circleFaults(circles, ALLOWED_CIRCLES);
for (const fault of faults) console.error(fault);
if (faults.length > 0) process.exitCode = 1;
console.log(`${files.length} files, ${circles.length} circles of imports:`);
for (const { name, fileCount, reason } of ALLOWED_CIRCLES) console.log(`  ${name}, ${fileCount} files: ${reason}`);

function importsOf(file: string): readonly string[] {
  const text = readFileSync(join(root, file), "utf8");
  return relativeImports(text).map((specifier) => join(dirname(file), specifier));
}
