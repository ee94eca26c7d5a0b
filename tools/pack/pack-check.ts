/**
 * Packs every public package and tries each as its users will: installed alone, outside this
 * repository, on every Node.js that is supported; imported, type-checked, its README's examples
 * run; the applications by npx; on the newest Node.js also bundled by each bundler, and an
 * application beside the oldest and the newest RxJS of the client's range. Prints tables; exit
 * status 1 if anything does not hold.
 *
 *     npm run pack-check -- [--package @zooid/wire …] [--node 24 …] [--foreign kazoo …] [--quick] [--keep]
 *
 * With --foreign, scenarios of foreign clients run against the installed server, too. With --quick,
 * esbuild is the only bundler, and the oldest RxJS the only one.
 */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { nodeBinary } from "@zooid/trials/internal/processes/node-binary";
import { run } from "@zooid/trials/internal/processes/run";
import { checkApps } from "./app-check.ts";
import { checkBundles } from "./bundle-check.ts";
import { loadBundlers, loadEsbuild } from "./bundlers.ts";
import { metadataFaults } from "./metadata-faults.ts";
import { checkPackage, type PackageReport } from "./package-check.ts";
import { isApp, publicPackages, ROOT } from "./public-packages.ts";
import { TRIAL_ORIGIN } from "./published-manifest.ts";
import { checkRxjs, supportedRxjs } from "./rxjs-check.ts";
import { pack, type Tarball } from "./tarball.ts";
import { tarballFaults } from "./tarball-faults.ts";
import { serveTarballs } from "./tarball-registry.ts";

/**
 * The oldest and the newest Node.js that packages are for, with the types that their users have.
 */
const SUPPORTED = [
  { version: "22.23.3", types: "22.20.5" },
  { version: "24.21.0", types: "24.13.6" },
] as const;

const { values: options } = parseArgs({
  options: {
    package: { type: "string", multiple: true },
    node: { type: "string", multiple: true },
    foreign: { type: "string", multiple: true, default: [] },
    keep: { type: "boolean", default: false },
    quick: { type: "boolean", default: false },
  },
});
const NODES = SUPPORTED.filter(({ version }) => options.node?.includes(version.slice(0, 2)) ?? true);
if (options.node?.some((major) => !SUPPORTED.some(({ version }) => version.startsWith(`${major}.`))) === true) {
  console.error(
    `--node is one of ${SUPPORTED.map(({ version }) => version.slice(0, 2)).join(", ")}, not ${options.node}`,
  );
  process.exit(2);
}
const all = publicPackages();
const wanted = all.filter(({ manifest }) => options.package?.includes(manifest.name) ?? true);
const wantedApps = wanted.filter(({ manifest }) => isApp(manifest));
const folder = mkdtempSync(join(tmpdir(), "pack-check-"));
let intactCount = 0;
/** Whether something failed that belongs to no single package. */
let failed = false;

try {
  await checkAll();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  failed = true;
} finally {
  if (options.keep) console.log(`kept in ${folder}`);
  else rmSync(folder, { recursive: true, force: true });
}
console.log(`packages: ${intactCount} of ${wanted.length}`);
if (failed) process.exitCode = 1;
if (intactCount < wanted.length) process.exitCode = 1;

async function checkAll(): Promise<void> {
  await run(
    process.execPath,
    [join(ROOT, "node_modules/typescript/bin/tsc"), "-b", ...all.map((one) => one.directory)],
    ROOT,
  );
  const nodes = await Promise.all(
    NODES.map(async ({ version, types }) => ({ version, types, binary: await nodeBinary(version) })),
  );
  const tarballs = await pack(all, folder, TRIAL_ORIGIN);
  await using registry = await serveTarballs(tarballs);
  const bundlers = options.quick ? [await loadEsbuild()] : await loadBundlers();
  const rows: Record<string, unknown>[] = [];
  for (const one of wanted.filter(({ manifest }) => !isApp(manifest))) {
    const tarball = tarballs.find(({ manifest }) => manifest.name === one.manifest.name);
    if (tarball === undefined) throw new Error(`npm did not pack ${one.manifest.name}`);
    const faults = faultsOf(tarball);
    // Two at a time, since much of it is waiting.
    const reports = await Promise.all(
      nodes.map(async ({ version, types, binary }) => {
        const directory = join(folder, "consumers", `${one.manifest.name}-${version}`);
        try {
          return await checkPackage(one, {
            directory,
            nodeBinary: binary,
            registryUrl: registry.url,
            nodeTypes: types,
          });
        } catch (error) {
          faults.push(`on Node.js ${version}: ${error instanceof Error ? error.message : error}`);
          return undefined;
        }
      }),
    );
    const newest = nodes.at(-1);
    if (newest !== undefined) {
      const directory = join(folder, "bundled", one.manifest.name);
      const where = { directory, nodeBinary: newest.binary, registryUrl: registry.url };
      faults.push(...(await checkBundles(one.manifest, bundlers, where)));
    }
    for (const fault of faults) console.error(`${one.manifest.name}: ${fault}`);
    if (faults.length === 0) intactCount++;
    rows.push(rowOf(tarball, reports));
  }
  if (rows.length > 0) console.table(rows);
  if (wantedApps.length > 0) await checkAllApps(tarballs, nodes, registry.url);
  const newest = nodes.at(-1);
  if (newest !== undefined && wanted.some(({ manifest }) => manifest.name === "@zooid/client")) {
    for (const rxjs of options.quick ? supportedRxjs().slice(0, 1) : supportedRxjs()) {
      const directory = join(folder, "consumers", `rxjs-${rxjs}`);
      const { binary, types } = newest;
      await checkRxjs(rxjs, { directory, nodeBinary: binary, registryUrl: registry.url, nodeTypes: types });
      console.log(`a NestJS application with rxjs ${rxjs}: one copy, compiled and run`);
    }
  }
}

/**
 * All applications are tried together, since the command line and the load generator need the
 * server.
 */
async function checkAllApps(
  tarballs: readonly Tarball[],
  nodes: readonly { readonly version: string; readonly binary: string }[],
  registryUrl: string,
): Promise<void> {
  const apps = tarballs.filter(({ manifest }) => isApp(manifest));
  const faults = apps.flatMap((app) => faultsOf(app).map((fault) => `${app.manifest.name}: ${fault}`));
  const rows: Record<string, unknown>[] = [];
  for (const { version, binary } of nodes) {
    const directory = join(folder, "consumers", `apps-${version}`);
    try {
      const { readyMs, outside } = await checkApps(apps, {
        directory,
        nodeBinary: binary,
        registryUrl,
        foreign: options.foreign,
      });
      rows.push({ "Node.js": version, "ms to serve": Math.round(readyMs), "from outside": outside.length });
    } catch (error) {
      faults.push(`applications on Node.js ${version}: ${error instanceof Error ? error.message : error}`);
    }
  }
  for (const fault of faults) console.error(fault);
  if (faults.length === 0) intactCount += wantedApps.length;
  console.table(rows);
  console.table(
    apps.map(({ manifest, files, sizeBytes }) => ({
      application: manifest.name,
      files: files.size,
      KiB: Math.ceil(sizeBytes / 1024),
    })),
  );
}

function faultsOf(tarball: Tarball): string[] {
  const license = tarball.files.get("LICENSE");
  const isOurs = license === undefined || license === readFileSync(join(ROOT, "LICENSE"), "utf8");
  return [
    ...tarballFaults(tarball),
    ...metadataFaults(tarball.manifest, TRIAL_ORIGIN),
    ...(isOurs ? [] : ["LICENSE is not the repository's"]),
  ];
}

function rowOf(
  { manifest, files, sizeBytes }: Tarball,
  reports: readonly (PackageReport | undefined)[],
): Record<string, unknown> {
  const report = reports.find((one) => one !== undefined);
  return {
    package: manifest.name,
    files: files.size,
    KiB: Math.ceil(sizeBytes / 1024),
    ...Object.fromEntries(NODES.map(({ version }, i) => [version, reports[i] === undefined ? "fails" : "runs"])),
    entries: report?.entryCount,
    types: report?.needsNodeTypes === true ? "with @types/node" : "alone",
    examples: report?.exampleCount,
    "examples add": report?.exampleNeeds.join(" "),
    "from outside": report?.outside.join(" "),
  };
}
