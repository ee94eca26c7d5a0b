/**
 * Makes the API documentation of every public package, in docs/api. Exit status 1 where a link
 * leads nowhere, where a function or class has no docstring, or where a type that users meet has no
 * name that they can import.
 *
 *     npm run api-docs
 */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, join, relative } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { run } from "@zooid/trials/internal/processes/run";
import { cachedInstall } from "../cached-install.ts";
import {
  isApp,
  type PublicPackage,
  publicPackages,
  publishedExports,
  ROOT,
  SOURCE_CONDITION,
} from "../pack/public-packages.ts";

const TOOLS = import.meta.dirname;
const OUTPUT = join(ROOT, "docs/api");
/** As typedoc numbers it in its files. */
const KIND_MODULE = 2;
/**
 * Types that show in what a package exports and need no name outside: each is plain where it shows,
 * or nothing to take hold of.
 */
const NAMELESS: ReadonlyMap<string, readonly string[]> = new Map([
  [
    "@zooid/client",
    [
      "client/src/errors.ts:LOCAL_ERRNO",
      ...["exponential", "failOnSessionLoss", "forever", "kazoo", "once", "times", "untilElapsed"].map(
        (name) => `client/src/calls/retry.ts:${name}`,
      ),
      "client/src/operations/typed-nodes.ts:NamesIn",
    ],
  ],
  [
    "@zooid/replica",
    ["replica/src/config.ts:RequiredOfCallers", "replica/src/requests/waiting-frames.ts:WaitingFrames"],
  ],
]);

const CACHE = await cachedInstall(TOOLS);
const faults: string[] = [];
const described: string[] = [];
for (const one of publicPackages().filter(({ manifest }) => !isApp(manifest))) described.push(await describe(one));
if (faults.length === 0)
  await typedoc(["--options", join(TOOLS, "site-options.json"), "--out", OUTPUT, "--entryPoints", ...described]);
for (const fault of faults) console.error(fault);
if (faults.length > 0) process.exitCode = 1;
else console.log(`packages: ${described.length}, in ${relative(ROOT, OUTPUT)}/index.html`);

/** Returns the file in which typedoc has written what it reads from a package's entries. */
async function describe({ directory, manifest }: PublicPackage): Promise<string> {
  const entries = publishedExports(manifest).map(([path, conditions]) => ({
    name: manifest.name + path.slice(".".length),
    source: join(directory, conditions[SOURCE_CONDITION] ?? "src/index.ts"),
  }));
  const sources = entries.map(({ source }) => source);
  const folder = join(CACHE, manifest.name);
  mkdirSync(folder, { recursive: true });
  const tsconfig = join(folder, "tsconfig.json");
  const api = join(folder, "api.json");
  writeFileSync(tsconfig, JSON.stringify(tsconfigOf(sources)));
  rmSync(api, { force: true });
  const nameless = (NAMELESS.get(manifest.name) ?? []).flatMap((name) => ["--intentionallyNotExported", name]);
  await typedoc([
    ...["--options", join(TOOLS, "package-options.json"), "--tsconfig", tsconfig, "--name", manifest.name],
    ...["--readme", join(directory, "README.md"), "--entryPoints", ...sources, "--json", api, ...nameless],
  ]);
  if (existsSync(api)) nameEntries(api, new Map(entries.map(({ name, source }) => [basename(source, ".ts"), name])));
  return api;
}

/** typedoc names entries after their files; users know them by what they import. */
function nameEntries(file: string, names: ReadonlyMap<string, string>): void {
  const api = JSON.parse(readFileSync(file, "utf8")) as { children?: { kind: number; name: string }[] };
  for (const child of api.children ?? [])
    if (child.kind === KIND_MODULE) child.name = names.get(child.name) ?? child.name;
  writeFileSync(file, JSON.stringify(api));
}

/** The workspace's own options, without what only a build needs. */
function tsconfigOf(files: readonly string[]): object {
  const compilerOptions = {
    composite: false,
    declaration: true,
    noEmit: true,
    rewriteRelativeImportExtensions: false,
    allowImportingTsExtensions: true,
    rootDir: ROOT,
    typeRoots: [join(ROOT, "node_modules/@types")],
  };
  return { extends: join(ROOT, "tsconfig.base.json"), compilerOptions, files };
}

/** Runs it, and keeps what it complains about. */
async function typedoc(args: readonly string[]): Promise<void> {
  try {
    await run(process.execPath, [join(CACHE, "node_modules/typedoc/bin/typedoc"), ...args], CACHE);
  } catch (error) {
    faults.push(stripVTControlCharacters(error instanceof Error ? error.message : String(error)));
  }
}
