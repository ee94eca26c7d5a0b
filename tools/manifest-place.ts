import type { Manifest } from "./pack/public-packages.ts";

/**
 * The fields by which a package's source says where it lives: those of the root's package.json,
 * with the package's own folder.
 *
 * @param directory the package's place in the repository
 */
export function placeOf(
  { repository = { type: "git", url: "." }, bugs = {} }: Manifest,
  directory: string,
): Pick<Manifest, "repository" | "bugs"> {
  return { repository: { ...repository, directory }, bugs };
}
