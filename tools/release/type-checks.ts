import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Tarball } from "../pack/tarball.ts";

/** The parts of the libraries that are used here; they are installed for this tool alone. */
interface Publint {
  publint(options: {
    pkgDir: string;
    pack: false;
    strict: boolean;
  }): Promise<{ readonly messages: readonly Message[] }>;
}
interface PublintUtils {
  formatMessage(message: Message, manifest: object): string;
}
interface Message {
  readonly type: "suggestion" | "warning" | "error";
}
interface AreTheTypesWrong {
  createPackageFromTarballData(bytes: Uint8Array): unknown;
  checkPackage(archive: unknown): Promise<{ readonly types: unknown; readonly problems?: readonly Problem[] }>;
}
interface Problem {
  readonly kind: string;
  readonly entrypoint?: string;
  readonly resolutionKind?: string;
}

/**
 * Packages are ECMAScript modules, for Node.js 22.15 and newer: resolution of before `exports`, and
 * `require` in the eyes of TypeScript before 5.8, are left out.
 */
const RESOLUTIONS_LEFT_OUT: ReadonlySet<string> = new Set(["node10", "node16-cjs"]);

/** publint and arethetypeswrong, from a folder in which they are installed. */
export class TypeChecks {
  readonly #publint: Publint & PublintUtils;
  readonly #types: AreTheTypesWrong;

  private constructor(publint: Publint & PublintUtils, types: AreTheTypesWrong) {
    this.#publint = publint;
    this.#types = types;
  }

  static async load(folder: string): Promise<TypeChecks> {
    const load = async (name: string): Promise<unknown> =>
      await import(pathToFileURL(createRequire(join(folder, "package.json")).resolve(name)).href);
    const [publint, utils, types] = await Promise.all(["publint", "publint/utils", "@arethetypeswrong/core"].map(load));
    return new TypeChecks({ ...(publint as Publint), ...(utils as PublintUtils) }, types as AreTheTypesWrong);
  }

  /** The faults of a package's names for its files and types, one sentence each. */
  async faultsOf({ manifest, directory, file }: Tarball): Promise<readonly string[]> {
    const { messages } = await this.#publint.publint({ pkgDir: directory, pack: false, strict: true });
    const faults = messages
      .filter(({ type }) => type !== "suggestion")
      .map((message) => `publint: ${this.#publint.formatMessage(message, manifest)}`);
    if (manifest.exports === undefined) return faults;
    const { types, problems = [] } = await this.#types.checkPackage(
      this.#types.createPackageFromTarballData(readFileSync(file)),
    );
    if (types === false) return [...faults, "arethetypeswrong: the package has no types"];
    return [
      ...faults,
      ...problems
        .filter(({ resolutionKind = "" }) => !RESOLUTIONS_LEFT_OUT.has(resolutionKind))
        .map(({ kind, entrypoint = "", resolutionKind = "" }) =>
          `arethetypeswrong: ${kind} ${entrypoint} ${resolutionKind}`.trimEnd(),
        ),
    ];
  }
}
