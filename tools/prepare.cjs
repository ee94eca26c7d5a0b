"use strict";
/** Builds what `npm ci` has installed: the packages, and the page of the console. Any Node.js from 20 on can run this file. */
const { spawnSync } = require("node:child_process");
const { existsSync } = require("node:fs");
const { join } = require("node:path");

const ROOT = join(__dirname, "..");

if (existsSync(join(ROOT, "node_modules/typescript"))) {
  const build = "tsc -b && npm run --silent build:page -w packages/console";
  process.exitCode = spawnSync(build, { cwd: ROOT, shell: true, stdio: "inherit" }).status ?? 1;
} else {
  console.error(
    "zooid: development dependencies were left out (--omit=dev or NODE_ENV=production), so this clone is not built; with them: npm ci --include=dev",
  );
}
