import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { isApp, type Manifest, type PublicPackage, ROOT, readManifest } from "./public-packages.ts";
import { run } from "./run.ts";

export interface Tarball {
  /** As npm wrote it into the tarball. */
  readonly manifest: Manifest;
  /** Where it lies. */
  readonly file: string;
  /** Subresource integrity, as lock files have it. */
  readonly integrity: string;
  readonly sizeBytes: number;
  /** What each file in it says. */
  readonly files: ReadonlyMap<string, string>;
}

/** Packs packages, and looks into what became of them; all below one directory. */
export async function pack(packages: readonly PublicPackage[], directory: string): Promise<readonly Tarball[]> {
  const packed = [
    ...(await packInto(
      directory,
      packages.filter(({ manifest }) => !isApp(manifest)),
    )),
    // In a folder of its own: @zooid/server and zooid-server have tarballs of the same name.
    ...(await packInto(
      join(directory, "apps"),
      packages.filter(({ manifest }) => isApp(manifest)),
    )),
  ];
  return Promise.all(
    packed.map(async ({ name, file, integrity, size, files }) => {
      const unpacked = join(directory, name);
      mkdirSync(unpacked, { recursive: true });
      await run("tar", ["-xzf", file, "-C", unpacked, "--strip-components=1"], directory);
      const texts = files.map(({ path }) => [path, readFileSync(join(unpacked, path), "utf8")] as const);
      const manifest = readManifest(join(unpacked, "package.json"));
      return { manifest, file, integrity, sizeBytes: size, files: new Map(texts) };
    }),
  );
}

async function packInto(
  directory: string,
  packages: readonly PublicPackage[],
): Promise<readonly (PackedByNpm & { readonly file: string })[]> {
  if (packages.length === 0) return [];
  mkdirSync(directory, { recursive: true });
  const workspaces = packages.map(({ manifest }) => `--workspace=${manifest.name}`);
  const { stdout } = await run("npm", ["pack", "--json", `--pack-destination=${directory}`, ...workspaces], ROOT);
  // An array or, from newer versions of npm, a record by name.
  const packed = Object.values(JSON.parse(stdout) as Readonly<Record<string, PackedByNpm>>);
  return packed.map((one) => ({ ...one, file: join(directory, one.filename) }));
}

interface PackedByNpm {
  readonly name: string;
  readonly filename: string;
  readonly integrity: string;
  readonly size: number;
  readonly files: readonly { readonly path: string }[];
}
