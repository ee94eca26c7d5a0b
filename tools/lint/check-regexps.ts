/**
 * Reads the sources of every package and app, and prints the regular expressions whose time can
 * grow faster than their input; exit status 1 if there are any.
 */
import { globSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { DYNAMIC_REGEXPS } from "./dynamic-regexps.ts";
import { regexpFault } from "./regexp-cost.ts";
import { regexpsIn } from "./regexps-in-source.ts";

const root = resolve(import.meta.dirname, "../..");
const files = globSync(["packages/*/{src,page}/**/*.{ts,tsx}", "apps/*/{src,bin}/**/*.{ts,cjs}"], {
  cwd: root,
  // Trials read the output of processes that they started themselves.
  exclude: [
    "**/node_modules/**",
    "**/dist/**",
    "**/*.test.ts",
    "**/*.test.tsx",
    "**/testing/**",
    "**/gen/**",
    "packages/trials/**",
  ],
}).sort();

let count = 0;
const faults: string[] = [];
const dynamic = new Map<string, number>();
for (const file of files) {
  for (const found of regexpsIn(readFileSync(join(root, file), "utf8"), file)) {
    count++;
    if (found.kind === "dynamic") dynamic.set(file, (dynamic.get(file) ?? 0) + 1);
    else {
      const fault = faultOf(found.pattern, found.flags);
      if (fault !== undefined) faults.push(`${file}:${found.line}: /${found.pattern}/${found.flags}: ${fault}`);
    }
  }
}
for (const [file, made] of dynamic) {
  const allowed = DYNAMIC_REGEXPS.get(file)?.count ?? 0;
  if (made !== allowed)
    faults.push(
      `${file}: makes ${made} regular expressions at run time, tools/lint/dynamic-regexps.ts allows ${allowed}`,
    );
}
for (const file of DYNAMIC_REGEXPS.keys()) {
  if (!dynamic.has(file)) faults.push(`tools/lint/dynamic-regexps.ts: ${file} makes none; remove its entry`);
}
for (const fault of faults) console.error(fault);
if (faults.length > 0) process.exitCode = 1;
else console.log(`${count} regular expressions in ${files.length} files, all of linear time`);

function faultOf(pattern: string, flags: string): string | undefined {
  try {
    return regexpFault(pattern, flags);
  } catch (error) {
    if (error instanceof SyntaxError) return error.message;
    throw error;
  }
}
