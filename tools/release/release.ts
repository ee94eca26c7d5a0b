/**
 * Packs every public package, checks the tarballs as they would be published, and publishes them.
 * Repository and contact are options and are written into each package, with what the root's
 * package.json says of all packages.
 *
 *     npm run release -- --dry-run
 *     npm run release -- --repository https://… --contact …
 *
 * Exit status 1 where something does not hold; nothing is published then. 2 for wrong options.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join, relative } from "node:path";
import { run } from "@zooid/trials/internal/processes/run";
import { cachedInstall } from "../cached-install.ts";
import { metadataFaults } from "../pack/metadata-faults.ts";
import { isApp, publicPackages, ROOT } from "../pack/public-packages.ts";
import type { Origin } from "../pack/published-manifest.ts";
import { pack, type Tarball } from "../pack/tarball.ts";
import { tarballFaults } from "../pack/tarball-faults.ts";
import { firstReleasePages, sinceFirstRelease } from "./first-release.ts";
import { type LockFile, licenceReport } from "./licences.ts";
import { parseReleaseOptions, ReleaseError, type ReleaseOptions } from "./release-options.ts";
import { publishingOrder, type ReleaseFacts, releaseFaults } from "./release-plan.ts";
import { TypeChecks } from "./type-checks.ts";

const PACKAGES = publicPackages();

process.exitCode = await main();

async function main(): Promise<number> {
  try {
    return await release(parseReleaseOptions(process.argv.slice(2)));
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    return error instanceof ReleaseError ? 2 : 1;
  }
}

async function release(options: ReleaseOptions): Promise<number> {
  if (options.firstRelease) return writeFirstReleasePages();
  const folder = mkdtempSync(join(tmpdir(), "release-"));
  try {
    await run("npm", ["run", "build"], ROOT);
    const tarballs = await pack(PACKAGES, folder, options.origin);
    const version = readRoot("package.json")["version"] as string;
    const faults = [
      ...releaseFaults(await factsOf(version, options)),
      ...licenceFaults(),
      ...(await faultsOf(tarballs, options.origin)),
    ];
    for (const fault of faults) console.error(fault);
    console.log(`${tarballs.length} packages of version ${version}, faults: ${faults.length}`);
    if (faults.length > 0) return 1;
    if (options.dryRun) console.log("a dry run: nothing was published");
    else await publish(tarballs, options.tag);
    return 0;
  } finally {
    if (options.keep) console.log(`kept in ${folder}`);
    else rmSync(folder, { recursive: true, force: true });
  }
}

function writeFirstReleasePages(): number {
  const apps = PACKAGES.filter(({ manifest }) => isApp(manifest)).map(({ directory }) => basename(directory));
  const names = firstReleasePages(apps);
  const pages = Object.fromEntries(names.map((name) => [name, readFileSync(join(ROOT, name), "utf8")]));
  for (const [name, text] of Object.entries(sinceFirstRelease(pages, apps))) writeFileSync(join(ROOT, name), text);
  console.log(`written, to be committed: ${names.join(", ")}`);
  return 0;
}

async function factsOf(version: string, { dryRun }: ReleaseOptions): Promise<ReleaseFacts> {
  const git = async (...args: readonly string[]): Promise<string> => (await run("git", args, ROOT)).stdout;
  return {
    version,
    manifests: PACKAGES.map(({ manifest }) => manifest),
    changelog: readFileSync(join(ROOT, "CHANGELOG.md"), "utf8"),
    readme: readFileSync(join(ROOT, "README.md"), "utf8"),
    changesets: readdirSync(join(ROOT, ".changeset")).filter((file) => file.endsWith(".md") && file !== "README.md"),
    status: dryRun ? undefined : await git("status", "--porcelain"),
    tags: dryRun ? undefined : (await git("tag", "--points-at", "HEAD")).split("\n"),
  };
}

function licenceFaults(): readonly string[] {
  const lock = readRoot("package-lock.json") as unknown as LockFile;
  const published = PACKAGES.map(({ directory }) => relative(ROOT, directory));
  const { installed, faults } = licenceReport(lock, published);
  console.log(
    `licences of what users install: ${[...installed].map(([name, count]) => `${count} ${name}`).join(", ")}`,
  );
  return faults;
}

async function faultsOf(tarballs: readonly Tarball[], origin: Origin): Promise<readonly string[]> {
  const checks = await TypeChecks.load(await cachedInstall(import.meta.dirname));
  const faults: string[] = [];
  for (const tarball of tarballs) {
    const { manifest } = tarball;
    const found = [...tarballFaults(tarball), ...metadataFaults(manifest, origin), ...(await checks.faultsOf(tarball))];
    faults.push(...found.map((fault) => `${manifest.name}: ${fault}`));
  }
  return faults;
}

/** One after the other; what fails ends it, and says which packages are out already. */
async function publish(tarballs: readonly Tarball[], tag: string): Promise<void> {
  const done: string[] = [];
  for (const name of publishingOrder(tarballs.map(({ manifest }) => manifest))) {
    const { file = "" } = tarballs.find(({ manifest }) => manifest.name === name) ?? {};
    try {
      await run("npm", ["publish", file, "--access", "public", "--tag", tag], ROOT);
    } catch (cause) {
      const before = done.length === 0 ? "nothing was published before it" : `published before it: ${done.join(", ")}`;
      throw new Error(`${name} was not published (${before}): ${cause instanceof Error ? cause.message : cause}`, {
        cause,
      });
    }
    done.push(name);
    console.log(`published ${name}`);
  }
}

function readRoot(file: string): Readonly<Record<string, unknown>> {
  return JSON.parse(readFileSync(join(ROOT, file), "utf8")) as Readonly<Record<string, unknown>>;
}
