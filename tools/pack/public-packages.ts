import { globSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";

export const ROOT: string = resolve(import.meta.dirname, "../..");

/** The fields of a package.json that npm looks at, as far as they are looked at here. */
export interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly private?: boolean;
  readonly description?: string;
  readonly license?: string;
  readonly author?: string;
  readonly keywords?: readonly string[];
  readonly homepage?: string;
  readonly repository?: { readonly type: string; readonly url: string; readonly directory?: string };
  readonly bugs?: { readonly url?: string; readonly email?: string };
  readonly engines?: Readonly<Record<string, string>>;
  readonly bin?: Readonly<Record<string, string>>;
  readonly main?: string;
  readonly types?: string;
  readonly typesVersions?: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>>;
  readonly exports?: Readonly<Record<string, Readonly<Record<string, string>>>>;
  readonly imports?: Readonly<Record<string, Readonly<Record<string, string>>>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>;
}

export interface PublicPackage {
  /** Absolute. */
  readonly directory: string;
  readonly manifest: Manifest;
}

/** Every package that is not private, by name; applications too. */
export function publicPackages(): readonly PublicPackage[] {
  return globSync(["apps/*/package.json", "packages/*/package.json"], { cwd: ROOT })
    .sort()
    .map((file) => ({ directory: join(ROOT, dirname(file)), manifest: readManifest(join(ROOT, file)) }))
    .filter(({ manifest }) => manifest.private !== true);
}

/** An application is there for its programs, a package for what it exports; it may have one too. */
export function isApp(manifest: Manifest): boolean {
  return manifest.bin !== undefined && publishedExports(manifest).length === 0;
}

/** The repository's own package.json, which says what holds for all packages. */
export function readRootManifest(): Manifest {
  return readManifest(join(ROOT, "package.json"));
}

export function readManifest(file: string): Manifest {
  return JSON.parse(readFileSync(file, "utf8")) as Manifest;
}

/**
 * The condition by which packages of this repository find each other's sources, which are not
 * published.
 */
export const SOURCE_CONDITION = "@zooid/source";

/** The entries that are published: those with another form than their source, which stays here. */
export function publishedExports({
  exports = {},
}: Manifest): readonly (readonly [string, Readonly<Record<string, string>>])[] {
  return Object.entries(exports).filter(([, forms]) => Object.keys(forms).some((form) => form !== SOURCE_CONDITION));
}

/** The entries that a user imports: `@zooid/wire`, `@zooid/wire/txn`. */
export function entriesOf(manifest: Manifest): readonly string[] {
  return publishedExports(manifest).map(([entry]) => manifest.name + entry.slice(1));
}

/** The package that an import is of; undefined for files and for what Node.js brings. */
export function packageOf(specifier: string): string | undefined {
  if (specifier.startsWith(".") || specifier.startsWith("node:") || specifier.startsWith("#")) return undefined;
  return specifier.split("/", specifier.startsWith("@") ? 2 : 1).join("/");
}
