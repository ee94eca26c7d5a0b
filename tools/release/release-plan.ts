import type { Manifest } from "../pack/public-packages.ts";
import { isBeforeFirstRelease } from "./first-release.ts";

/** The facts by which a release is judged, beyond its tarballs. */
export interface ReleaseFacts {
  readonly version: string;
  readonly manifests: readonly Manifest[];
  /** The text of CHANGELOG.md. */
  readonly changelog: string;
  /** The text of README.md. */
  readonly readme: string;
  /** Names of changesets that no version has collected. */
  readonly changesets: readonly string[];
  /** The output of `git status --porcelain`; undefined in a dry run, where it does not matter. */
  readonly status: string | undefined;
  /** Tags of the commit; undefined in a dry run. */
  readonly tags: readonly string[] | undefined;
}

/** The obstacles to publishing a release, one sentence each. */
export function releaseFaults(facts: ReleaseFacts): readonly string[] {
  const { version, manifests, changelog, readme, changesets, status, tags } = facts;
  const ours = new Map(manifests.map((manifest) => [manifest.name, manifest.version]));
  return [
    ...manifests
      .filter((manifest) => manifest.version !== version)
      .map((manifest) => `${manifest.name} has version ${manifest.version}, the release ${version}`),
    ...manifests.flatMap(({ name, dependencies = {} }) =>
      Object.entries(dependencies)
        .filter(([dependency]) => dependency.startsWith("@zooid/") || dependency.startsWith("zooid-"))
        .filter(([dependency, range]) => ours.get(dependency) !== range)
        .map(([dependency, range]) => `${name} needs ${dependency} ${range}, which is not part of this release`),
    ),
    ...(changelog.split("\n").includes(`## ${version}`) ? [] : [`CHANGELOG.md has no section "## ${version}"`]),
    ...(tags !== undefined && isBeforeFirstRelease(readme)
      ? ["README.md says that nothing is published yet; npm run release -- --first-release moves its lines"]
      : []),
    ...(tags !== undefined && changesets.length > 0
      ? [`changesets are left: ${changesets.join(", ")}; npx changeset version collects them`]
      : []),
    ...(status === undefined || status.trim() === "" ? [] : [`the working tree has changes: ${status.trim()}`]),
    ...(tags === undefined || tags.includes(`v${version}`) ? [] : [`the commit has no tag v${version}`]),
  ];
}

/** Dependencies first, so that each package can be installed as soon as it is there. */
export function publishingOrder(manifests: readonly Manifest[]): readonly string[] {
  const byName = new Map(manifests.map((manifest) => [manifest.name, manifest]));
  const order = new Set<string>();
  const add = (name: string): void => {
    const manifest = byName.get(name);
    if (manifest === undefined || order.has(name)) return;
    for (const dependency of Object.keys(manifest.dependencies ?? {})) add(dependency);
    order.add(name);
  };
  for (const { name } of manifests) add(name);
  return [...order];
}
