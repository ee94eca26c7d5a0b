"use strict";
/**
 * Runs an application of this repository on the Node.js that the repository pins: from the built
 * code, unless a source is newer than what was built from it, then from the sources (which takes
 * more memory). It replaces this process where Node.js can do that; else it is a child, and
 * signals are passed on. Any Node.js from 20 on can run this file.
 */
const { spawn } = require("node:child_process");
const { existsSync, readFileSync, readdirSync, realpathSync, statSync } = require("node:fs");
const { basename, join } = require("node:path");

const ROOT = join(__dirname, "..");
const MODULES = join(ROOT, "node_modules");
const CONSOLE = join(ROOT, "packages/console");
/** The oldest Node.js that runs the built code. */
const OLDEST = [22, 15];

exports.runApp = function runApp(/** @type {string} */ app) {
  const problem = setupProblem();
  if (problem !== undefined) {
    console.error(`zooid-${basename(app)}: ${problem}`);
    process.exit(2);
  }
  const parts = [app, ...packagesOf(app)];
  if (!existsSync(join(app, "dist/main.js")) || (parts.includes(CONSOLE) && !existsSync(join(CONSOLE, "dist/page"))))
    console.error(
      `zooid-${basename(app)}: this clone is not built, so that it runs from its sources; build it: npm run build`,
    );
  const { missingFlags, environment } = processOptions(app);
  const form = parts.every(isBuilt)
    ? [join(app, "dist/main.js")]
    : ["--conditions=@zooid/source", join(app, "src/main.ts")];
  const args = [...missingFlags(), ...process.execArgv, ...form, ...process.argv.slice(2)];
  replaceProcess(nodeBinary(), args, { ...environment, ...process.env });
};

/** What is missing to run anything, with the command that helps; undefined where nothing is. */
function setupProblem() {
  if (!existsSync(join(MODULES, "@zooid"))) return `nothing is installed in ${ROOT}; install it: npm ci`;
  const [major, minor] = process.versions.node.split(".").map(Number);
  if (nodeBinary() !== process.execPath || major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1]))
    return undefined;
  const found = `${process.version} (${process.execPath})`;
  return `Node.js ${OLDEST.join(".")} or newer is needed, found ${found}; fetch the pinned one: npm ci --include=dev --ignore-scripts=false`;
}

function processOptions(app) {
  const file = join(app, "bin/process-options.cjs");
  return existsSync(file) ? require(file) : { missingFlags: () => [], environment: {} };
}

function nodeBinary() {
  const pinned = join(MODULES, "node/bin", process.platform === "win32" ? "node.exe" : "node");
  return existsSync(pinned) ? pinned : process.execPath;
}

/** Directories of our packages that an application needs at run time, those of its packages too. */
function packagesOf(directory, found = new Set()) {
  const { dependencies = {} } = JSON.parse(readFileSync(join(directory, "package.json"), "utf8"));
  for (const name of Object.keys(dependencies).filter((each) => each.startsWith("@zooid/"))) {
    const link = join(MODULES, name);
    if (!existsSync(link)) {
      console.error(`${name} is missing in ${MODULES}, as after a change of the packages; install it: npm ci`);
      process.exit(2);
    }
    // A package may have another name than its folder.
    const below = realpathSync(link);
    if (found.has(below)) continue;
    found.add(below);
    packagesOf(below, found);
  }
  return [...found];
}

function isBuilt(directory) {
  const stamp = statSync(join(directory, "dist/.tsbuildinfo"), { throwIfNoEntry: false });
  return stamp !== undefined && !hasNewerSource(join(directory, "src"), stamp.mtimeMs);
}

function hasNewerSource(directory, mtimeMs) {
  return readdirSync(directory, { withFileTypes: true }).some((entry) => {
    const file = join(directory, entry.name);
    if (entry.isDirectory()) return hasNewerSource(file, mtimeMs);
    return /(?<!\.test)\.ts$/.test(file) && statSync(file).mtimeMs > mtimeMs;
  });
}

function replaceProcess(program, args, environment) {
  if (process.execve !== undefined && process.platform !== "win32")
    process.execve(program, [program, ...args], environment);
  const child = spawn(program, args, { env: environment, stdio: "inherit" });
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
  child.once("error", (error) => {
    throw error;
  });
  child.once("close", (status, signal) => {
    if (signal === null) process.exit(status);
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  });
}
