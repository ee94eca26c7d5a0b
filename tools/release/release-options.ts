import { parseArgs } from "node:util";
import { type Origin, TRIAL_ORIGIN } from "../pack/published-manifest.ts";

export interface ReleaseOptions {
  readonly dryRun: boolean;
  /** Where the sources are, and where reports go; that of a trial in a dry run that names none. */
  readonly origin: Origin;
  /** The distribution tag of npm. */
  readonly tag: string;
  readonly keep: boolean;
  /** Only the pages are written. */
  readonly firstRelease: boolean;
}

export const USAGE = `Packs every public package, checks the tarballs, and publishes them.

    npm run release -- --dry-run [--repository URL --contact ADDRESS] [--keep]
    npm run release -- --repository URL --contact ADDRESS [--tag latest]
    npm run release -- --first-release

  --dry-run           check everything, publish nothing
  --repository URL    where the sources are: https://host/path; addresses in the root's package.json are relative to it
  --contact ADDRESS   where reports go: a mail address, or an https URL
  --tag NAME          the distribution tag; default: latest
  --first-release     write the pages as they are once packages are published: the lines
                      with npm install lead; to be committed before the first tag
  --keep              leave the tarballs in place, and print where`;

export class ReleaseError extends Error {
  override readonly name = "ReleaseError";
}

/** @throws {ReleaseError} that lists all that is wrong with the arguments */
export function parseReleaseOptions(argv: readonly string[]): ReleaseOptions {
  const { values } = parse(argv);
  const { repository, contact } = values;
  const dryRun = values["dry-run"];
  const firstRelease = values["first-release"];
  const isNeeded = (!dryRun && !firstRelease) || repository !== undefined || contact !== undefined;
  const faults = [
    ...(isNeeded ? missing({ repository, contact }) : []),
    ...(repository === undefined || isUrl(repository) ? [] : [`--repository is an https URL, found ${repository}`]),
    ...(contact === undefined || isMailAddress(contact) || isUrl(contact)
      ? []
      : [`--contact is a mail address or an https URL, found ${contact}`]),
    ...(/^[a-z][a-z0-9-]*$/.test(values.tag) ? [] : [`--tag is a word of lower-case letters, found ${values.tag}`]),
  ];
  if (faults.length > 0) throw new ReleaseError(faults.join("\n"));
  const origin = repository === undefined || contact === undefined ? TRIAL_ORIGIN : { repository, contact };
  return { dryRun, origin, tag: values.tag, keep: values.keep, firstRelease };
}

function parse(argv: readonly string[]) {
  try {
    return parseArgs({
      args: [...argv],
      options: {
        "dry-run": { type: "boolean", default: false },
        repository: { type: "string" },
        contact: { type: "string" },
        tag: { type: "string", default: "latest" },
        keep: { type: "boolean", default: false },
        "first-release": { type: "boolean", default: false },
      },
    });
  } catch (error) {
    throw new ReleaseError(`${error instanceof Error ? error.message : error}\n\n${USAGE}`);
  }
}

function missing(options: Readonly<Record<string, string | undefined>>): readonly string[] {
  return Object.entries(options)
    .filter(([, value]) => value === undefined || value === "")
    .map(([name]) => `nothing is published without --${name}`);
}

function isUrl(text: string): boolean {
  return text === "" || (URL.canParse(text) && /^https:\/\/[^/]+\/.+/.test(text));
}

function isMailAddress(text: string): boolean {
  return /^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(text);
}
