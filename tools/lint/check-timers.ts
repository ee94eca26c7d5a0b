/**
 * Reads the sources of the client, the recipes, the command line and the console, and prints the
 * timers that are given a caller's time without `pause` and `startTimer` of `@zooid/client`, which
 * take any time; exit status 1 if there are any.
 */
import { globSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { timersIn } from "./timers-in-source.ts";

/** The one that sets them, and those that keep within Node's limit by themselves. */
const OWN = new Set(["packages/client/src/calls/timers.ts", "packages/client/src/session/one-timer.ts"]);

const root = resolve(import.meta.dirname, "../..");
const files = globSync(["packages/{client,recipes,console}/src/**/*.ts", "apps/{cli,console}/src/**/*.ts"], {
  cwd: root,
  exclude: ["**/*.test.ts", "**/testing/**", "**/fault-injection/**"],
}).filter((file) => !OWN.has(file));

let count = 0;
for (const file of files) {
  for (const { line, name } of timersIn(readFileSync(join(root, file), "utf8"))) {
    count++;
    console.error(`${file}:${line}: ${name} with a time of a caller; pause and startTimer of @zooid/client take any`);
  }
}
if (count > 0) process.exitCode = 1;
else console.log(`${files.length} files, no timer whose time a caller gives but those of @zooid/client`);
