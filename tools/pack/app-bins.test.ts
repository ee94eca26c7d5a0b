import { spawnSync } from "node:child_process";
import { cpSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { parse } from "acorn";
import { afterEach, beforeEach, expect, test } from "vitest";
import { ROOT } from "./public-packages.ts";
import { ENGINES } from "./published-manifest.ts";

const BINS = globSync("apps/*/bin/zooid-*.cjs", { cwd: ROOT }).sort();
const SERVER = "apps/server/bin/zooid-server.cjs";
const OWN_FLAGS = [
  "--max-semi-space-size=4",
  `--v8-pool-size=${Math.min(4, Math.max(1, availableParallelism() - 1))}`,
] as const;

let directory = "";
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "app-bins-"));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

interface Started {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

interface StartOptions {
  /** The version that the application needs. Default: what it says. */
  readonly needs?: string;
  readonly flags?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

/**
 * Starts an application without its sources, as it is installed. Its main module prints its
 * arguments, its flags and a variable.
 */
function start(bin: string, { needs, flags = [], env = {} }: StartOptions = {}): Started {
  const app = join(ROOT, dirname(dirname(bin)));
  cpSync(join(app, "bin"), join(directory, "bin"), { recursive: true });
  const manifest = JSON.parse(readFileSync(join(app, "package.json"), "utf8")) as object;
  const engines = needs === undefined ? ENGINES : { node: `>=${needs}` };
  writeFileSync(join(directory, "package.json"), JSON.stringify({ ...manifest, engines }));
  mkdirSync(join(directory, "dist"));
  writeFileSync(
    join(directory, "dist/main.js"),
    "console.log(JSON.stringify([process.argv.slice(2), process.execArgv, process.env.MALLOC_ARENA_MAX ?? null]));",
  );
  const file = join(directory, bin.slice(bin.indexOf("/bin/")));
  return spawnSync(process.execPath, [...flags, file, "a b", "--c"], { encoding: "utf8", env });
}

test.each(BINS)("the oldest Node.js can parse %s", (bin) => {
  expect(() =>
    parse(readFileSync(join(ROOT, bin), "utf8"), { ecmaVersion: 5, sourceType: "script", allowHashBang: true }),
  ).not.toThrow();
});

test("all applications have the same first file", () => {
  expect(BINS).toHaveLength(4);
  expect(new Set(BINS.map((bin) => readFileSync(join(ROOT, bin), "utf8"))).size).toBe(1);
});

test.each(BINS)("%s is refused by a Node.js that is too old, with status 2 and a line on stderr", (bin) => {
  const { status, stdout, stderr } = start(bin, { needs: "99.9" });
  expect([status, stdout]).toEqual([2, ""]);
  expect(stderr.trimEnd().split("\n")).toHaveLength(1);
  expect(stderr).toContain("99.9");
  expect(stderr).toContain(process.version);
});

test("an application of a clone in which nothing is installed names npm ci, with status 2", () => {
  cpSync(join(ROOT, "apps/server/bin"), join(directory, "apps/server/bin"), { recursive: true });
  for (const file of ["tools/run-app.cjs", "apps/server/package.json", "apps/server/src/main.ts"]) {
    mkdirSync(join(directory, dirname(file)), { recursive: true });
    cpSync(join(ROOT, file), join(directory, file));
  }
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(directory, SERVER)], { encoding: "utf8" });
  expect([status, stdout]).toEqual([2, ""]);
  expect(stderr).toBe(`zooid-server: nothing is installed in ${directory}; install it: npm ci\n`);
});

test("a minor version counts, and a later major version is enough", () => {
  const [major = "", minor = ""] = process.versions.node.split(".");
  expect(start(SERVER, { needs: `${major}.${Number(minor) + 1}` }).status).toBe(2);
  rmSync(join(directory, "dist"), { recursive: true });
  expect(start(SERVER, { needs: `${major}.${minor}` }).status).toBe(0);
  rmSync(join(directory, "dist"), { recursive: true });
  expect(start(SERVER, { needs: `${Number(major) - 1}.99` }).status).toBe(0);
});

test.each(BINS.filter((bin) => bin !== SERVER))("%s passes its arguments on", (bin) => {
  expect(start(bin)).toMatchObject({ status: 0, stdout: '[["a b","--c"],[],null]\n', stderr: "" });
});

test("zooid-server starts with the options of its process, and keeps flags of the user's", () => {
  const { status, stdout, stderr } = start(SERVER, { flags: ["--no-deprecation"] });
  expect([status, stderr]).toEqual([0, ""]);
  expect(JSON.parse(stdout)).toEqual([["a b", "--c"], [...OWN_FLAGS, "--no-deprecation"], "2"]);
});

test("a variable of the user's is kept", () => {
  const { stdout } = start(SERVER, { env: { MALLOC_ARENA_MAX: "4" } });
  expect((JSON.parse(stdout) as readonly unknown[])[2]).toBe("4");
});

test.each([
  ["max-semi-space-size as a flag", { flags: ["--max-semi-space-size=32"] }, OWN_FLAGS.slice(1)],
  ["max_semi_space_size in NODE_OPTIONS", { env: { NODE_OPTIONS: "--max_semi_space_size=32" } }, OWN_FLAGS.slice(1)],
  ["v8-pool-size in NODE_OPTIONS", { env: { NODE_OPTIONS: "--v8-pool-size=2" } }, OWN_FLAGS.slice(0, 1)],
])("zooid-server leaves the user's %s", (_, options, added) => {
  const { status, stdout } = start(SERVER, options);
  expect(status).toBe(0);
  const [, flags] = JSON.parse(stdout) as readonly [unknown, readonly string[]];
  expect(flags).toEqual([...added, ...("flags" in options ? options.flags : [])]);
});

test("zooid-server does not start again where the user sets each option", () => {
  const flags = ["--max-semi-space-size=32", "--v8-pool-size=2"];
  expect(JSON.parse(start(SERVER, { flags }).stdout)).toEqual([["a b", "--c"], flags, null]);
});
