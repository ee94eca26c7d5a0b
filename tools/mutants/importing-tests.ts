import { existsSync, globSync, readFileSync, statSync } from "node:fs";
import { dirname, join, normalize } from "node:path";

/** Imports of values, modules of threads and processes among them; types do not run. */
const IMPORT =
  /^(?:import|export)(?! type\b)[^;]*?\bfrom "([^"]+)"|\bimport\("([^"]+)"\)|new URL\("(\.[^"]+)", import\.meta\.url\)/gm;
/** A thread that is started by its name, which is a file of the package. */
const THREAD = /"((?:[\w-]+\/)?[\w-]+-thread)"/g;
const SIDE_EFFECT = /^import "([^"]+)"/gm;

/**
 * Which test files import a source file, and over how many others.
 *
 * @param root of the repository
 */
export class ImportingTests {
  readonly #root: string;
  /** By name: a package may have another name than its folder. */
  readonly #packages: ReadonlyMap<string, Package>;
  readonly #imports = new Map<string, readonly string[]>();
  /** By test: how far each file is away that it imports. */
  readonly #distances = new Map<string, ReadonlyMap<string, number>>();

  constructor(root: string, tests: readonly string[]) {
    this.#root = root;
    this.#packages = packagesIn(root);
    for (const test of tests) this.#distances.set(test, this.#distancesFrom(test));
  }

  /**
   * Those in the file's own folder come before the nearest ones elsewhere; a file that none imports
   * has all tests of its package. Slow ones count in the file's own folder.
   */
  of(file: string): readonly string[] {
    const found = [...this.#distances].flatMap(([test, distances]) => {
      const distance = distances.get(file) ?? Number.POSITIVE_INFINITY;
      const isBeside = dirname(test) === dirname(file);
      return isBeside || !test.endsWith(".slow.test.ts") ? [{ test, distance, isBeside }] : [];
    });
    const importing = found.filter(({ distance }) => distance < Number.POSITIVE_INFINITY);
    const inPackage = found.filter(({ test }) => packageOf(test) === packageOf(file));
    return (importing.length > 0 ? importing : inPackage)
      .sort((a, b) => Number(b.isBeside) - Number(a.isBeside) || a.distance - b.distance || (a.test < b.test ? -1 : 1))
      .map(({ test }) => test);
  }

  /**
   * Over how many others the nearest test imports a file: 1 where it does itself; infinite where
   * none does.
   */
  distanceTo(file: string): number {
    const distances = [...this.#distances.values()].map((each) => each.get(file) ?? Number.POSITIVE_INFINITY);
    return Math.min(...distances);
  }

  #distancesFrom(test: string): ReadonlyMap<string, number> {
    const found = new Map([[test, 0]]);
    for (const [file, distance] of found) {
      for (const next of this.#importsOf(file)) if (!found.has(next)) found.set(next, distance + 1);
    }
    return found;
  }

  #importsOf(file: string): readonly string[] {
    const known = this.#imports.get(file);
    if (known !== undefined) return known;
    const text = readFileSync(join(this.#root, file), "utf8");
    const specifiers = [...text.matchAll(IMPORT), ...text.matchAll(SIDE_EFFECT)].map(
      ([, a, b, c]) => a ?? b ?? c ?? "",
    );
    const threads = [...text.matchAll(THREAD)].flatMap(([, name = ""]) =>
      globSync(`${packageOf(file)}/src/**/${name}.ts`, { cwd: this.#root }),
    );
    const imports = [...specifiers.flatMap((specifier) => this.#resolve(file, specifier) ?? []), ...threads];
    this.#imports.set(file, imports);
    return imports;
  }

  #resolve(from: string, specifier: string): string | undefined {
    if (specifier.startsWith(".")) return this.#existing(normalize(join(dirname(from), specifier)));
    const [, name = "", entry] = /^(@zooid\/[\w-]+|zooid-\w+)(?:\/(.+))?$/.exec(specifier) ?? [];
    const found = this.#packages.get(name);
    const source = found === undefined ? undefined : sourceOf(found, entry === undefined ? "." : `./${entry}`);
    return found === undefined || source === undefined
      ? undefined
      : this.#existing(normalize(join(found.place, source)));
  }

  #existing(file: string): string | undefined {
    const path = join(this.#root, file);
    return file.endsWith(".ts") && existsSync(path) && statSync(path).isFile() ? file : undefined;
  }
}

interface Package {
  readonly place: string;
  /** Private packages name the source alone. */
  readonly exports: Readonly<Record<string, string | { readonly "@zooid/source"?: string }>>;
}

/** The source behind an entry; `./internal/*` stands for all entries that begin so. */
function sourceOf({ exports }: Package, entry: string): string | undefined {
  const pattern = Object.keys(exports).find((key) => key.endsWith("*") && entry.startsWith(key.slice(0, -1)));
  const forms = exports[entry] ?? (pattern === undefined ? undefined : exports[pattern]);
  const source = typeof forms === "string" ? forms : forms?.["@zooid/source"];
  return pattern === undefined || entry in exports ? source : source?.replace("*", entry.slice(pattern.length - 1));
}

function packagesIn(root: string): ReadonlyMap<string, Package> {
  const manifests = globSync("{packages,apps}/*/package.json", { cwd: root }).map((file) => {
    const { name, exports = {} } = JSON.parse(readFileSync(join(root, file), "utf8"));
    return [String(name), { place: dirname(file), exports }] as const;
  });
  return new Map(manifests);
}

/** The folder of its package. */
export function packageOf(file: string): string {
  return file.split("/").slice(0, 2).join("/");
}
