import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { run } from "@zooid/trials/internal/processes/run";
import { type Manifest, type PublicPackage, ROOT, readManifest } from "./public-packages.ts";
import { type Origin, publishedManifest } from "./published-manifest.ts";

export interface Tarball {
  /** As npm wrote it into the tarball. */
  readonly manifest: Manifest;
  /** Where it lies. */
  readonly file: string;
  /** Where it lies unpacked. */
  readonly directory: string;
  /** Subresource integrity, as lock files have it. */
  readonly integrity: string;
  readonly sizeBytes: number;
  /** The text of each file in it. */
  readonly files: ReadonlyMap<string, string>;
}

/**
 * Packs packages as they are published, and looks into what became of them; all below one
 * directory.
 *
 * @param origin what each package.json says about it; undefined where packages are only tried
 */
export async function pack(
  packages: readonly PublicPackage[],
  directory: string,
  origin?: Origin,
): Promise<readonly Tarball[]> {
  const staged = await unpackAll(await npmPack(packages, join(directory, "staged")));
  const places = new Map(packages.map(({ manifest, directory: place }) => [manifest.name, relative(ROOT, place)]));
  for (const { manifest, directory: place, files } of staged) {
    for (const [file, text] of files) {
      const published = withoutMapReference(file, text);
      if (published !== text) writeFileSync(join(place, file), published);
    }
    const published = publishedManifest(manifest, { directory: places.get(manifest.name) ?? "", origin });
    writeFileSync(join(place, "package.json"), `${JSON.stringify(published, null, 2)}\n`);
  }
  return await unpackAll(await npmPack(staged, directory));
}

/**
 * Maps are not published: a reference to one makes debuggers and bundlers warn about a file that is
 * not there.
 */
function withoutMapReference(file: string, text: string): string {
  return /\.(?:js|d\.ts)$/.test(file) ? text.replace(/\n\/\/# sourceMappingURL=[^\n]*\n?$/, "\n") : text;
}

interface PackedByNpm {
  readonly name: string;
  readonly filename: string;
  readonly integrity: string;
  readonly size: number;
  readonly files: readonly { readonly path: string }[];
}

interface Packed extends PackedByNpm {
  readonly file: string;
  /** Where it is to be unpacked. */
  readonly place: string;
}

async function npmPack(packages: readonly PublicPackage[], directory: string): Promise<readonly Packed[]> {
  mkdirSync(directory, { recursive: true });
  const sources = packages.map((one) => one.directory);
  const { stdout } = await run("npm", ["pack", "--json", `--pack-destination=${directory}`, ...sources], ROOT);
  // An array or, from newer versions of npm, a record by name.
  const answers = Object.values(JSON.parse(stdout) as Readonly<Record<string, PackedByNpm>>);
  const files = new Set(answers.map(({ filename }) => filename));
  if (files.size < packages.length) throw new Error(`npm wrote ${files.size} files for ${packages.length} packages`);
  return answers.map((one) => ({
    ...one,
    file: join(directory, one.filename),
    place: join(directory, "unpacked", one.name),
  }));
}

function unpackAll(packed: readonly Packed[]): Promise<readonly Tarball[]> {
  return Promise.all(
    packed.map(async ({ file, place, integrity, size, files }) => {
      mkdirSync(place, { recursive: true });
      await run("tar", ["-xzf", file, "-C", place, "--strip-components=1"], ROOT);
      const texts = files.map(({ path }) => [path, readFileSync(join(place, path), "utf8")] as const);
      const manifest = readManifest(join(place, "package.json"));
      return { manifest, file, directory: place, integrity, sizeBytes: size, files: new Map(texts) };
    }),
  );
}
