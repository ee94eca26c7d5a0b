/**
 * Keeps the lock file such that `npm ci` is complete and quiet on every machine that package.json
 * accepts.
 *
 * Three things need a hand. npm copies engine ranges into the file and warns about each that the
 * machine's Node misses, though every npm script of ours runs on the Node pinned as a dev
 * dependency; so it does with those of our own packages, which packing adds. And npm leaves out an
 * optional package for another platform when the registry in use does not carry it; `npm ci` then
 * refuses the whole file. And npm 10, which comes with Node.js 20 and 22, compiles each package
 * that has a binding.gyp, unless the file has the package's own word against it (`gypfile: false`),
 * which npm leaves out. `--write` mends all of them (`npm run lock` does it after updating the
 * file).
 */
import { existsSync, globSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

interface Entry {
  readonly version?: string;
  readonly dev?: boolean;
  readonly engines?: unknown;
  readonly gypfile?: boolean;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly [field: string]: unknown;
}
interface Manifest {
  readonly engines?: unknown;
  readonly gypfile?: boolean;
}
interface LockFile {
  packages: Record<string, Entry>;
}

const root = join(import.meta.dirname, "..");
const file = join(root, "package-lock.json");
const lock = JSON.parse(readFileSync(file, "utf8")) as LockFile;

const ranged = Object.keys(lock.packages).filter(
  (place) => place !== "" && lock.packages[place]?.engines !== undefined,
);
const missing = Object.entries(lock.packages).flatMap(([place, entry]) =>
  Object.entries(entry.optionalDependencies ?? {})
    .map(([name, version]) => ({ place: placeOf(name, place), entry: platformEntry(name, version, entry) }))
    .filter((added) => lock.packages[added.place] === undefined && added.entry !== undefined),
);

/** Packages that come compiled, beside the sources that npm 10 would compile. */
const compiled = Object.keys(lock.packages).filter(
  (place) =>
    place.includes("node_modules/") &&
    existsSync(join(root, place, "binding.gyp")) &&
    (JSON.parse(readFileSync(join(root, place, "package.json"), "utf8")) as Manifest).gypfile === false &&
    lock.packages[place]?.gypfile !== false,
);

if (process.argv.includes("--write")) {
  for (const place of ranged) {
    const { engines: _, ...rest } = lock.packages[place] ?? {};
    lock.packages[place] = rest;
  }
  for (const place of compiled) lock.packages[place] = { ...lock.packages[place], gypfile: false };
  for (const { place, entry } of missing) if (entry !== undefined) lock.packages[place] = entry;
  lock.packages = Object.fromEntries(Object.entries(lock.packages).sort(([a], [b]) => a.localeCompare(b, "en")));
  writeFileSync(file, `${JSON.stringify(lock, null, 2)}\n`);
} else {
  report("package-lock.json has engine ranges, which make npm ci warn (npm run lock repairs the file)", ranged);
  report(
    "package-lock.json lacks packages for other platforms (npm run lock repairs the file)",
    missing.map(({ place }) => place),
  );
}
report(
  "package-lock.json lacks gypfile: false, without which npm 10 compiles (npm run lock repairs the file)",
  compiled,
);
const workspaces = globSync(["packages/*/package.json", "apps/*/package.json", "examples/package.json"], { cwd: root });
report(
  "workspace packages with engines, which make npm ci warn (tools/pack/published-manifest.ts adds them)",
  workspaces.filter((path) => (JSON.parse(readFileSync(join(root, path), "utf8")) as Manifest).engines !== undefined),
);

function report(complaint: string, places: readonly string[]): void {
  if (places.length === 0) return;
  console.error(`${complaint}: ${places.join(", ")}`);
  process.exitCode = 1;
}

/** Where npm puts an optional dependency: at the top, or beside its nested owner. */
function placeOf(name: string, owner: string): string {
  const nested = owner.lastIndexOf("/node_modules/");
  return nested === -1 ? `node_modules/${name}` : `${owner.slice(0, nested)}/node_modules/${name}`;
}

/**
 * The entry of a package such as `@biomejs/cli-linux-x64-musl`, whose name says where it runs; else
 * undefined.
 */
function platformEntry(name: string, version: string, owner: Entry): Entry | undefined {
  const words = name.split("-");
  const os = ["aix", "android", "darwin", "freebsd", "linux", "openharmony", "win32"].find((word) =>
    words.includes(word),
  );
  const cpu = ["arm64", "arm", "ia32", "ppc64", "riscv64", "s390x", "x64"].find((word) => words.includes(word));
  if (os === undefined || cpu === undefined || !/^\d/.test(version)) return undefined;
  const libc = words.includes("musl") ? { libc: ["musl"] } : {};
  return { version, cpu: [cpu], ...(owner.dev ? { dev: true } : {}), ...libc, optional: true, os: [os] };
}
