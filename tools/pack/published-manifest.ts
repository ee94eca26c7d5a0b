import { type Manifest, SOURCE_CONDITION } from "./public-packages.ts";

/** Where a release's sources are, and where reports go. */
export interface Origin {
  /** An https URL. */
  readonly repository: string;
  /** A mail address, or an https URL. */
  readonly contact: string;
}

/** The first Node.js of which a process can replace itself (`process.execve`), as zooid-server does. */
export const ENGINES: NonNullable<Manifest["engines"]> = { node: ">=22.15" };

/**
 * A package.json as it is published: with the versions of Node.js that it runs on, which npm would
 * warn about in this repository, whose scripts bring a Node.js of their own; and without what only
 * this repository can use, which are its scripts, its tools, the condition for sources, and entries that have nothing else.
 *
 * @param directory the package's place in the repository
 * @param origin undefined where the package is only tried
 */
export function publishedManifest(manifest: Manifest, directory: string, origin?: Origin): Manifest {
  const { exports, ...rest } = manifest;
  const kept = Object.entries(rest).filter(([field]) => field !== "scripts" && field !== "devDependencies");
  return {
    ...(Object.fromEntries(kept) as unknown as Manifest),
    engines: ENGINES,
    ...(exports === undefined ? {} : { exports: publishedExports(exports) }),
    ...(origin === undefined ? {} : originFields(origin, directory)),
  };
}

function publishedExports(exports: NonNullable<Manifest["exports"]>): NonNullable<Manifest["exports"]> {
  const entries = Object.entries(exports).map(
    ([entry, forms]) =>
      [entry, Object.fromEntries(Object.entries(forms).filter(([form]) => form !== SOURCE_CONDITION))] as const,
  );
  return Object.fromEntries(entries.filter(([, forms]) => Object.keys(forms).length > 0));
}

function originFields({ repository, contact }: Origin, directory: string): object {
  const url = `git+${repository.replace(/(?:\.git)?\/?$/, "")}.git`;
  const bugs = contact.includes("@") ? { email: contact } : { url: contact };
  return { repository: { type: "git", url, directory }, bugs };
}
