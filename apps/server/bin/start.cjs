"use strict";
const { join } = require("node:path");
const { environment, flags } = require("./process-options.cjs");

const main = join(__dirname, "../dist/main.js");
/** A user's own choice, or the second start. */
const isChosen = [...process.execArgv, process.env.NODE_OPTIONS ?? ""].some((flag) => /max.semi.space.size/.test(flag));

if (isChosen || process.platform === "win32" || process.execve === undefined) void import("../dist/main.js");
else {
  // Replaces this process, which keeps its id, its files and its parent: no second process stays.
  process.execve(process.execPath, [process.execPath, ...flags, ...process.execArgv, main, ...process.argv.slice(2)], {
    ...environment,
    ...process.env,
  });
}
