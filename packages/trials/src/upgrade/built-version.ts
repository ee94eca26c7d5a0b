/** Other versions of the server, built in `.cache/versions` with the modules of this one. */
import { createHash } from "node:crypto";
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, symlinkSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { ROOT } from "@zooid/conformance/internal/servers/endpoint";
import { run } from "../processes/run.ts";
import { NEXT_EDITS } from "./next-version.ts";
import { applyEdits } from "./source-edits.ts";

const CACHE = join(ROOT, ".cache/versions");
const MODULES = "node_modules";
const PROGRAMS = ["server", "cli"] as const;
const BUILD_MS_MAX = 600_000;
/** Files that a build reads; documents, tests and the tools' own packages are left out. */
const IS_SOURCE = /^(?:packages|apps)\/(?!.*\.test\.ts$)|^tools\/[^/]*$|^(?:package(?:-lock)?|tsconfig[^/]*)\.json$/;

export interface BuiltVersion {
  /** Says which it is, for output. */
  readonly name: string;
  /** Paths of its programs. */
  readonly server: string;
  readonly cli: string;
}

/** The next version: the present sources with the edits of `next-version.ts`. */
export async function builtNext(): Promise<BuiltVersion> {
  const listed = await run("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard"], ROOT);
  const files = [...new Set(listed.stdout.split("\0"))].filter(
    (file) => IS_SOURCE.test(file) && existsSync(join(ROOT, file)),
  );
  const hash = createHash("sha256").update(JSON.stringify(NEXT_EDITS));
  for (const file of files.toSorted()) hash.update(`${file}\0`).update(readFileSync(join(ROOT, file)));
  return await builtIn("next", hash.digest("hex").slice(0, 16), async (folder) => {
    for (const file of files) cpSync(join(ROOT, file), join(folder, file));
    applyEdits(folder, NEXT_EDITS);
    linkModules(folder);
    await run(process.execPath, ["tools/generate-protobuf-code.ts"], folder);
  });
}

/** The version of a commit, with the modules that its lock file names. */
export async function builtCommit(commit: string): Promise<BuiltVersion> {
  const { stdout } = await run("git", ["rev-parse", "--verify", `${commit}^{commit}`], ROOT);
  const hash = stdout.trim();
  return await builtIn("commit", hash.slice(0, 16), async (folder) => {
    rmSync(folder, { recursive: true });
    await run("git", ["clone", "--quiet", "--no-checkout", "--shared", ROOT, folder], ROOT);
    await run("git", ["checkout", "--quiet", "--detach", hash], folder);
    if (readFileSync(join(folder, "package-lock.json")).equals(readFileSync(join(ROOT, "package-lock.json"))))
      linkModules(folder);
    else await run("npm", ["ci", "--silent", "--no-audit", "--no-fund"], folder, process.env, BUILD_MS_MAX);
  });
}

/** The commit that `before-commit.txt` names: that of the last release, once there is one. */
export function commitBefore(): string {
  return readFileSync(join(import.meta.dirname, "before-commit.txt"), "utf8").trim();
}

/** The version in a checkout that is built already. */
export function versionIn(folder: string, name: string = folder): BuiltVersion {
  const [server = "", cli = ""] = PROGRAMS.map((app) => join(folder, `apps/${app}/bin/zooid-${app}.cjs`));
  if (!existsSync(join(folder, MODULES))) throw new Error(`nothing is installed in ${folder}: run npm ci there`);
  return { name, server, cli };
}

/** Builds it unless that was done; of each kind the newest one is kept. */
async function builtIn(kind: string, key: string, fill: (folder: string) => Promise<void>): Promise<BuiltVersion> {
  const name = `${kind}-${key}`;
  const folder = join(CACHE, name);
  if (existsSync(folder)) return versionIn(folder, name);
  mkdirSync(CACHE, { recursive: true });
  const begun = `${folder}.new`;
  for (const old of readdirSync(CACHE)) {
    if (old.startsWith(`${kind}-`)) rmSync(join(CACHE, old), { recursive: true });
  }
  mkdirSync(begun);
  const startMs = performance.now();
  await fill(begun);
  const tsc = join(ROOT, MODULES, ".bin/tsc");
  await run(tsc, ["-b", ...PROGRAMS.map((app) => `apps/${app}`)], begun, process.env, BUILD_MS_MAX);
  linkPage(begun);
  renameSync(begun, folder);
  console.log(`built ${name} in ${((performance.now() - startMs) / 1000).toFixed(0)} s`);
  return versionIn(folder, name);
}

/** The modules of others are those of this repository, and the workspace's are the folder's own. */
function linkModules(folder: string): void {
  const target = join(folder, MODULES);
  mkdirSync(target);
  for (const name of readdirSync(join(ROOT, MODULES))) {
    const isOurs = name === "@zooid" || name.startsWith("zooid-");
    // These links are relative to the folder that they are in.
    if (isOurs) cpSync(join(ROOT, MODULES, name), join(target, name), { recursive: true, verbatimSymlinks: true });
    else symlinkSync(join(ROOT, MODULES, name), join(target, name));
  }
}

/** The console's page is none of what differs; without one the server says so at each start. */
function linkPage(folder: string): void {
  const page = "packages/console/dist/page";
  if (existsSync(join(folder, page)) || !existsSync(join(ROOT, page))) return;
  mkdirSync(dirname(join(folder, page)), { recursive: true });
  symlinkSync(relative(dirname(join(folder, page)), join(ROOT, page)), join(folder, page));
}
