import { type Manifest, readRootManifest, SOURCE_CONDITION } from "./public-packages.ts";

/** The place that hosts the repository, and where reports go. */
export interface Origin {
  /** An https URL. */
  readonly repository: string;
  /** A mail address, or an https URL. */
  readonly contact: string;
}

/**
 * An origin for packages that are only tried. The name's top-level domain is reserved (RFC 6761),
 * so that it belongs to no one.
 */
export const TRIAL_ORIGIN: Origin = {
  repository: "https://repository.invalid/team/zooid",
  contact: "reports@repository.invalid",
};

/**
 * The first Node.js of which a process can replace itself (`process.execve`), as zooid-server does.
 */
export const ENGINES: NonNullable<Manifest["engines"]> = { node: ">=22.15" };

export interface PublishedManifestOptions {
  /** The package's place in the repository. */
  readonly directory: string;
  /** Undefined where the package is only tried: it then says nothing about its place. */
  readonly origin?: Origin | undefined;
  /** The repository's own package.json. */
  readonly root?: Manifest;
}

/**
 * A package.json as it is published: with the versions of Node.js that it runs on, which npm would
 * warn about in this repository, whose scripts bring a Node.js of their own; with the author, the
 * keywords and the addresses of the root's package.json; and without what only this repository can
 * use, which are its scripts, its tools, the condition for sources, and entries that have nothing
 * else.
 */
export function publishedManifest(manifest: Manifest, options: PublishedManifestOptions): Manifest {
  const { directory, origin, root = readRootManifest() } = options;
  const { imports, ...rest } = manifest;
  const exports = withoutSources(manifest.exports ?? {});
  const kept = Object.entries(rest).filter(([field]) => field !== "exports" && !LEFT_OUT.includes(field));
  return {
    ...(Object.fromEntries(kept) as unknown as Manifest),
    ...(root.author === undefined ? {} : { author: root.author }),
    keywords: [...new Set([...(root.keywords ?? []), ...(manifest.keywords ?? [])])],
    engines: ENGINES,
    ...(imports === undefined ? {} : { imports: withoutSources(imports) }),
    // An application's entries are for this repository's trials alone.
    ...(Object.keys(exports).length === 0 ? {} : fieldsOfEntries(exports)),
    ...(origin === undefined ? {} : addressFields(root, origin, directory)),
  };
}

const LEFT_OUT: readonly string[] = ["scripts", "devDependencies", "repository", "bugs"];

function withoutSources(places: NonNullable<Manifest["exports"]>): NonNullable<Manifest["exports"]> {
  const entries = Object.entries(places).map(
    ([entry, forms]) =>
      [entry, Object.fromEntries(Object.entries(forms).filter(([form]) => form !== SOURCE_CONDITION))] as const,
  );
  return Object.fromEntries(entries.filter(([, forms]) => Object.keys(forms).length > 0));
}

/**
 * The entries, for resolvers of today and for those of before `exports`
 * (`moduleResolution: node10`), which look for types at `types` and `typesVersions`.
 */
function fieldsOfEntries(exports: NonNullable<Manifest["exports"]>): Partial<Manifest> {
  const { ".": top, ...others } = exports;
  const types = Object.entries(others).flatMap(([entry, forms]) =>
    forms["types"] === undefined ? [] : [[entry.slice("./".length), [forms["types"]]] as const],
  );
  return {
    ...(top?.["default"] === undefined ? {} : { main: top["default"] }),
    ...(top?.["types"] === undefined ? {} : { types: top["types"] }),
    ...(types.length === 0 ? {} : { typesVersions: { "*": Object.fromEntries(types) } }),
    exports,
  };
}

/**
 * Addresses in the root's package.json are absolute, or relative to the place that hosts the
 * repository.
 */
function addressFields(
  root: Manifest,
  { repository: place, contact }: Origin,
  directory: string,
): Pick<Manifest, "homepage" | "repository" | "bugs"> {
  const named = root.repository?.url.replace(/^git\+/, "") ?? ".";
  const repository = withoutEnding(new URL(named, `${withoutEnding(place)}/`).href);
  const reports = new URL(root.bugs?.url ?? "./issues", `${repository}/`).href;
  return {
    homepage: `${repository}#readme`,
    repository: { type: "git", url: `git+${repository}.git`, directory },
    bugs: contact.includes("@") ? { url: reports, email: contact } : { url: contact },
  };
}

/** The form of a repository's address that is compared: without `.git` and a slash at the end. */
export function withoutEnding(url: string): string {
  return url.replace(/(?:\.git)?\/?$/, "");
}
