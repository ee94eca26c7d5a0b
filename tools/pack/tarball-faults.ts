import { posix } from "node:path";
import { type Manifest, SOURCE_CONDITION } from "./public-packages.ts";

export interface PackageContents {
  readonly manifest: Manifest;
  /** The text of each file, by its path inside the package. */
  readonly files: ReadonlyMap<string, string>;
}

/** The faults of a package as it would be published, one sentence each. */
export function tarballFaults({ manifest, files }: PackageContents): readonly string[] {
  const names = [...files.keys()];
  const places = [...Object.values(manifest.exports ?? {}), ...Object.values(manifest.imports ?? {})];
  const targets = places.flatMap((conditions) =>
    Object.entries(conditions)
      .filter(([condition]) => condition !== SOURCE_CONDITION)
      .map(([, target]) => target.slice("./".length)),
  );
  const programs = Object.values(manifest.bin ?? {});
  const reached = reachedFrom([...targets, ...programs], files);
  // Nothing but types that other modules use inside.
  const isEmpty = (module: string): boolean => files.get(`${module}.js`)?.startsWith("export {};") === true;
  const page = filesOfPage(files);
  return [
    ...names
      .filter((file) => !isExpected(file) && !page.has(file))
      .map((file) => `${file} does not belong into a package`),
    ...names
      .filter(
        (file) =>
          isExpected(file) &&
          !AT_THE_TOP.includes(file) &&
          !page.has(file) &&
          !reached.has(moduleOf(file)) &&
          !isEmpty(moduleOf(file)),
      )
      .map((file) => `${file} is of no use: no entry leads to it`),
    ...exposedTypes(files)
      .filter((name) => manifest.peerDependencies?.[name] === undefined)
      .map((name) => `types of ${name} are exposed: it is a peer, so that a program has one copy of it`),
    ...names
      .filter((file) => BREAKS_ON_PURPOSE.test(files.get(file) ?? ""))
      .map((file) => `${file} can be broken on purpose: that belongs into tools`),
    ...names
      .filter((file) => !page.has(file) && refersToMissingMap(file, files))
      .map((file) => `${file} refers to a map that is not shipped`),
    ...names
      .filter((file) => OF_NEXT_VERSION.test(files.get(file) ?? ""))
      .map((file) => `${file} has a part of the next version that a trial makes: that is for copies of the sources`),
    ...AT_THE_TOP.filter((file) => !files.has(file)).map((file) => `${file} is missing`),
    ...targets
      .filter((target) => !files.has(target))
      .map((target) => `exports or imports name ${target}, which is missing`),
    ...programs.filter((file) => !files.has(file)).map((file) => `bin names ${file}, which is missing`),
    ...programs
      .filter((file) => files.get(file)?.startsWith("#!/usr/bin/env node\n") === false)
      .map((file) => `${file} does not begin with #!/usr/bin/env node`),
    ...(["description", "license"] as const)
      .filter((field) => manifest[field] === undefined)
      .map((field) => `package.json has no ${field}`),
  ];
}

/** Packages of others whose objects users get or pass, and have of their own. */
const SHARED_WITH_USERS: readonly string[] = ["rxjs"];

function exposedTypes(files: ReadonlyMap<string, string>): readonly string[] {
  const declarations = [...files].filter(([file]) => file.endsWith(".d.ts")).map(([, text]) => text);
  return SHARED_WITH_USERS.filter((name) => declarations.some((text) => text.includes(`"${name}"`)));
}

/** Damage that tests ask for, by the environment or an option of the server. */
const BREAKS_ON_PURPOSE = /ZOOID_TEST_BREAK|POWER_CUT_BREAK|synchronous-normal|reply-before-sync/;
/** Names that `packages/trials/src/upgrade/next-version.ts` gives to what it adds. */
const OF_NEXT_VERSION = /TRIAL_SET|trial[_-]?ping/i;
const AT_THE_TOP: readonly string[] = ["package.json", "README.md", "LICENSE"];

function refersToMissingMap(file: string, files: ReadonlyMap<string, string>): boolean {
  const [, map] = /\n\/\/# sourceMappingURL=([^\n]*)\n?$/.exec(files.get(file) ?? "") ?? [];
  return map !== undefined && !files.has(posix.join(posix.dirname(file), map));
}

/** Programs, code and its types, also generated. Maps would lead to sources that are not there. */
function isExpected(file: string): boolean {
  return AT_THE_TOP.includes(file) || /^(?:dist|gen)\/.*(?:\.js|\.d\.ts)$|^bin\/[^/]*\.cjs$/.test(file);
}

const PAGE = "dist/page/";

/**
 * The files of a page for browsers that its first file leads to, and the licences of bundled
 * libraries.
 */
function filesOfPage(files: ReadonlyMap<string, string>): ReadonlySet<string> {
  if (!files.has(`${PAGE}index.html`)) return new Set();
  const reached = new Set([`${PAGE}licences.txt`]);
  const next = [`${PAGE}index.html`];
  for (let file = next.pop(); file !== undefined; file = next.pop()) {
    if (reached.has(file)) continue;
    reached.add(file);
    const text = files.get(file) ?? "";
    // A chunk is loaded by its name, which has a hash.
    next.push(...[...files.keys()].filter((other) => other.startsWith(PAGE) && text.includes(posix.basename(other))));
  }
  return reached;
}

/**
 * Modules that some entry leads to, by imports of code or types, or by naming a thread's file. What
 * else was built serves tests, or comes from a source that is gone.
 */
function reachedFrom(entries: readonly string[], files: ReadonlyMap<string, string>): ReadonlySet<string> {
  const reached = new Set<string>();
  const next = entries.map(moduleOf);
  for (let module = next.pop(); module !== undefined; module = next.pop()) {
    if (reached.has(module)) continue;
    reached.add(module);
    const text = [".js", ".cjs", ".d.ts"].map((ending) => files.get(module + ending) ?? "").join("");
    for (const [, relative = ""] of text.matchAll(/["'](\.\.?\/[^"']+\.(?:c?js|ts))["']/g)) {
      next.push(moduleOf(posix.join(posix.dirname(module), relative)));
    }
    for (const [, name = ""] of text.matchAll(/["']([\w/-]+)["']/g)) {
      // A thread's file is named from beside it, or from the top.
      next.push(
        ...[posix.dirname(module), "dist"]
          .map((from) => posix.join(from, name))
          .filter((file) => files.has(`${file}.js`)),
      );
    }
  }
  return reached;
}

/** A file without what distinguishes a module's code from its types. */
function moduleOf(file: string): string {
  return file.replace(/(?:\.d\.ts|\.c?js|\.ts)$/, "");
}
