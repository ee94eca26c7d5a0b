import { dirname } from "node:path";
import type { Database } from "../database.ts";
import { StoreError } from "../store-error.ts";

/**
 * The number of a file's format is stored twice: in a row of the file, and as `user_version` in
 * SQLite's header. So a version that knows none of the row's other columns, the sum included,
 * distinguishes another format from a flipped bit in the row.
 */
export function stampFormat(database: Database, format: number): void {
  database.pragma(`user_version = ${format}`);
}

export interface FoundFormat {
  readonly file: string;
  /** The row that holds the number. */
  readonly place: string;
  readonly found: number;
  /** The only format that this version reads. */
  readonly known: number;
}

/**
 * @throws StoreError NEWER_FORMAT for a file of a later version, FOREIGN for one of an unreleased
 *   earlier version, DAMAGED where the header has another number than the row
 */
export function refuseOtherFormat(database: Database, { file, place, found, known }: FoundFormat): void {
  if (found === known) return;
  const stamp = database.pragma("user_version", { simple: true });
  if (stamp !== found) {
    const both = `format ${found}, and ${String(stamp)} in the header of the file`;
    throw new StoreError({ code: "DAMAGED", file, place, found: both });
  }
  if (found > known) throw new StoreError({ code: "NEWER_FORMAT", file, known, found });
  throw new StoreError({
    code: "FOREIGN",
    directory: dirname(file),
    expected: `files of format ${known}`,
    found: `${file} of format ${found}, which no released version writes`,
  });
}
