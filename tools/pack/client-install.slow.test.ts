import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Manifest, publicPackages, ROOT, readManifest } from "./public-packages.ts";
import { pack } from "./tarball.ts";

let directory = "";
/** As they would be published. */
let published: ReadonlyMap<string, Manifest>;
beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), "client-install-"));
  const tarballs = await pack(publicPackages(), directory);
  published = new Map(tarballs.map(({ manifest }) => [manifest.name, manifest]));
}, 300_000);
afterAll(() => rmSync(directory, { recursive: true, force: true }));

function neededPeers({ peerDependencies = {}, peerDependenciesMeta = {} }: Manifest): readonly string[] {
  return Object.keys(peerDependencies).filter((peer) => peerDependenciesMeta[peer]?.optional !== true);
}

/**
 * The packages that npm installs for a package: itself, and those that each asks for. Packages of
 * others are as they lie in node_modules.
 */
function installOf(name: string, installed: ReadonlySet<string> = new Set()): ReadonlySet<string> {
  if (installed.has(name)) return installed;
  const manifest = published.get(name) ?? readManifest(join(ROOT, "node_modules", name, "package.json"));
  const { dependencies = {}, optionalDependencies = {} } = manifest;
  return [...Object.keys(dependencies), ...Object.keys(optionalDependencies), ...neededPeers(manifest)].reduce(
    (all, dependency) => installOf(dependency, all),
    new Set([...installed, name]) as ReadonlySet<string>,
  );
}

test("the client installs rxjs, the one package that rxjs asks for, and nothing else from outside", () => {
  const outside = [...installOf("@zooid/client")].filter((name) => !name.startsWith("@zooid/"));
  expect(outside.sort()).toEqual(["rxjs", "tslib"]);
});

test("what the client installs of ours asks for nothing from outside but rxjs, which the program brings", () => {
  const ours = [...installOf("@zooid/client")].flatMap((name) => published.get(name) ?? []);
  const fromOutside = (packages: readonly string[]): readonly string[] =>
    packages.filter((name) => !name.startsWith("@zooid/"));
  expect(ours.flatMap(({ dependencies = {} }) => fromOutside(Object.keys(dependencies)))).toEqual([]);
  expect(new Set(ours.flatMap((manifest) => fromOutside(neededPeers(manifest))))).toEqual(new Set(["rxjs"]));
});
