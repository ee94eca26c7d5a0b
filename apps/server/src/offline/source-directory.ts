import { existsSync, realpathSync } from "node:fs";
import { dirname, join, relative, sep } from "node:path";
import { BackupError } from "@zooid/backup";
import { OfflineError } from "@zooid/embedded-server";

/** The folder of the archive, which may be below a data directory. */
export function archiveOf(from: string): string {
  const below = join(from, "archive");
  return existsSync(below) ? below : from;
}

/**
 * The folder of the archive that a new directory is made from.
 *
 * @param made what will be made: it must lie elsewhere, since the source keeps its own files only
 * @throws BackupError `NO_TARGET` where the source does not exist, OfflineError for a place in it
 */
export function sourceArchive(from: string, made: readonly string[]): string {
  if (!existsSync(from)) throw new BackupError({ code: "NO_TARGET", target: from, reason: "no directory is there" });
  const inside = made.filter((place) => isBelow(realPlace(place), realpathSync(from)));
  if (inside.length > 0) {
    throw new OfflineError(inside.map((place) => `${place} lies in ${from}, which it would be made from`));
  }
  return archiveOf(from);
}

function isBelow(place: string, folder: string): boolean {
  const [first] = relative(folder, place).split(sep);
  return first !== undefined && first !== "" && first !== "..";
}

/** A path without links, of which the last names need not exist. */
function realPlace(place: string): string {
  if (existsSync(place) || dirname(place) === place) return realpathSync(place);
  return join(realPlace(dirname(place)), relative(dirname(place), place));
}
