/** The part of a lock file that is read here. */
export interface LockFile {
  readonly packages: Readonly<Record<string, LockedPackage>>;
}

interface LockedPackage {
  readonly version?: string;
  readonly license?: string;
  readonly link?: boolean;
  readonly resolved?: string;
  readonly optional?: boolean;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

/** Their terms allow use with software under Apache-2.0, and ask for no more than a notice. */
const PERMISSIVE: ReadonlySet<string> = new Set([
  ...["0BSD", "Apache-2.0", "BlueOak-1.0.0", "BSD-2-Clause", "BSD-3-Clause", "ISC", "MIT", "Python-2.0"],
  ...["CC0-1.0", "CC-BY-4.0", "Unlicense", "Zlib"],
]);
/** Tools are not distributed; of MPL-2.0, changed files would have to be published. */
const FOR_TOOLS: ReadonlySet<string> = new Set([...PERMISSIVE, "MPL-2.0"]);

export interface LicenceReport {
  /** How many packages have each licence, of those that users install. */
  readonly installed: ReadonlyMap<string, number>;
  /** The same of those that only work on this repository needs. */
  readonly tools: ReadonlyMap<string, number>;
  readonly faults: readonly string[];
}

/**
 * Reads the licence of every package of others that a lock file names.
 *
 * @param published places of the packages that users install, such as `packages/model`
 */
export function licenceReport(lock: LockFile, published: readonly string[]): LicenceReport {
  const reached = placesReached(lock, published);
  const foreign = Object.entries(lock.packages).filter(
    ([place, { link }]) => place.includes("node_modules/") && link !== true,
  );
  const installed = foreign.filter(([place]) => reached.has(place));
  const tools = foreign.filter(([place]) => !reached.has(place));
  const refused = [
    ...installed.filter(([, { license }]) => !isAllowed(license, PERMISSIVE)),
    // One for another platform, which the registry in use does not carry, has its owner's licence.
    ...tools.filter(
      ([, { license, optional }]) => !(license === undefined && optional === true) && !isAllowed(license, FOR_TOOLS),
    ),
  ];
  return {
    installed: countLicences(installed.map(([, one]) => one)),
    tools: countLicences(tools.map(([, one]) => one)),
    faults: refused.map(
      ([place, { version, license = "no licence" }]) =>
        `${place}@${version}: ${license} is not among the permitted licences`,
    ),
  };
}

/** Everything that npm installs for some packages, by their places in the lock file. */
function placesReached({ packages }: LockFile, roots: readonly string[]): ReadonlySet<string> {
  const reached = new Set<string>();
  const next = [...roots];
  for (let place = next.pop(); place !== undefined; place = next.pop()) {
    const one = packages[place];
    if (one === undefined || reached.has(place)) continue;
    reached.add(place);
    if (one.link === true) next.push(one.resolved ?? "");
    for (const name of Object.keys({ ...one.dependencies, ...one.optionalDependencies })) {
      next.push(nearest(packages, place, name));
    }
  }
  return reached;
}

/** Where Node.js finds a package that one at `from` imports: beside it, or further up. */
function nearest(packages: LockFile["packages"], from: string, name: string): string {
  for (let folder = from; ; folder = folder.slice(0, Math.max(folder.lastIndexOf("/"), 0))) {
    const place = folder === "" ? `node_modules/${name}` : `${folder}/node_modules/${name}`;
    if (packages[place] !== undefined || folder === "") return place;
  }
}

/** Whether one of several alternatives is permitted; where licences hold together, each must be. */
function isAllowed(licence: string | undefined, permitted: ReadonlySet<string>): boolean {
  if (licence === undefined) return false;
  const alternatives = licence.replace(/^\((.*)\)$/, "$1").split(" OR ");
  return alternatives.some((one) => one.split(" AND ").every((name) => permitted.has(name)));
}

function countLicences(packages: readonly LockedPackage[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { license = "none" } of packages) counts.set(license, (counts.get(license) ?? 0) + 1);
  return new Map([...counts].sort(([a], [b]) => a.localeCompare(b, "en")));
}
