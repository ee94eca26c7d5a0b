import { dirname } from "node:path";
import { FEATURE_LEVELS, type FileFormats, levelOfFormat, OWN_LEVELS, readableFormats } from "@zooid/model/storage";
import type { Database } from "../disk/database.ts";
import { StoreError } from "../store/store-error.ts";

/**
 * The number of a file's format is stored twice: in a row of the file, and as `user_version` in
 * SQLite's header. So a version that knows none of the row's other columns, the sum included,
 * distinguishes another format from a flipped bit in the row.
 */
export function stampFormat(database: Database, format: number): void {
  database.pragma(`user_version = ${format}`);
}

/** The number in SQLite's header. */
export function stampedFormat(database: Database): unknown {
  return database.pragma("user_version", { simple: true });
}

export interface FoundFormat {
  readonly file: string;
  readonly kind: keyof FileFormats;
  /** The row that holds the number. */
  readonly place: string;
  readonly found: number;
  /** The level that a later version says the format belongs to, and the first version of it. */
  readonly isOf?: { readonly level: number; readonly since: string } | undefined;
}

/**
 * Refuses the formats that do not belong to a feature level of this version.
 *
 * @throws StoreError NEWER_FORMAT for a file of a later version, UNKNOWN_LEVEL for one of a level
 *   that this version knows no longer, FOREIGN for one of an unreleased version, DAMAGED where the
 *   header has another number than the row
 */
export function refuseOtherFormat(database: Database, { file, kind, place, found, isOf }: FoundFormat): void {
  const readable = readableFormats(kind);
  if (readable.includes(found)) return;
  const stamp = stampedFormat(database);
  if (stamp !== found) {
    const both = `format ${found}, and ${String(stamp)} in the header of the file`;
    throw new StoreError({ code: "DAMAGED", file, place, found: both });
  }
  const known = Math.max(...FEATURE_LEVELS.map(({ formats }) => formats[kind]));
  if (found > known) throw new StoreError({ code: "NEWER_FORMAT", file, known, found, ...isOf });
  const level = levelOfFormat(kind, found);
  if (level !== undefined) throw new StoreError({ code: "UNKNOWN_LEVEL", directory: file, level, known: OWN_LEVELS });
  throw new StoreError({
    code: "FOREIGN",
    directory: dirname(file),
    expected: `files of format ${readable.join(" or ")}`,
    found: `${file} of format ${found}, which no released version writes`,
  });
}
