"use strict";
const { join } = require("node:path");
const { environment, flags } = require("./process-options.cjs");

const main = join(__dirname, "../dist/main.js");
const given = [...process.execArgv, process.env.NODE_OPTIONS ?? ""].join(" ").replaceAll("_", "-");
/** Without a user's own choices. None are left in the second start. */
const missing = flags.filter((flag) => !given.includes(flag.slice(0, flag.indexOf("="))));

if (missing.length === 0 || process.platform === "win32" || process.execve === undefined) {
  void import("../dist/main.js");
} else {
  // Replaces this process, which keeps its id, its files and its parent: no second process stays.
  process.execve(
    process.execPath,
    [process.execPath, ...missing, ...process.execArgv, main, ...process.argv.slice(2)],
    {
      ...environment,
      ...process.env,
    },
  );
}
