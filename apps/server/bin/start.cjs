"use strict";
const { join } = require("node:path");
const { environment, missingFlags } = require("./process-options.cjs");

const main = join(__dirname, "../dist/main.js");
/** None at the second start. */
const flags = missingFlags();

if (flags.length === 0 || process.platform === "win32" || process.execve === undefined) void import("../dist/main.js");
else {
  // Replaces this process, which keeps its id, its files and its parent: no second process stays.
  process.execve(process.execPath, [process.execPath, ...flags, ...process.execArgv, main, ...process.argv.slice(2)], {
    ...environment,
    ...process.env,
  });
}
