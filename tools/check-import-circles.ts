/**
 * Reads the sources of every workspace package and prints files that import each other; exit status
 * 1 if any do.
 */
import { globSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { ALLOWED_HUBS, findCircles, relativeImports, unneededHubs } from "./import-circles.ts";

const root = resolve(import.meta.dirname, "..");
const files = globSync(["packages/*/src/**/*.ts", "apps/*/src/**/*.ts", "examples/src/**/*.ts", "tools/**/*.ts"], {
  cwd: root,
  exclude: ["**/node_modules/**"],
});
const graph = new Map(files.map((file) => [file, importsOf(file)]));

const circles = findCircles(graph, ALLOWED_HUBS);
for (const circle of circles) console.error(`these files import each other:\n  ${circle.join("\n  ")}`);
const unneeded = unneededHubs(graph, ALLOWED_HUBS);
for (const { file } of unneeded) console.error(`tools/import-circles.ts: ${file} is in no circle; remove its entry`);
if (circles.length + unneeded.length > 0) process.exitCode = 1;
else console.log(`${files.length} files, no circles of imports but over ${ALLOWED_HUBS.length} allowed files`);

function importsOf(file: string): readonly string[] {
  const text = readFileSync(join(root, file), "utf8");
  return relativeImports(text).map((specifier) => join(dirname(file), specifier));
}
