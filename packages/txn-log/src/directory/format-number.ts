import type { Database } from "../database.ts";
import { StoreError } from "../store-error.ts";

/**
 * The number of a file's format stands in two places: in a row of the file, and as `user_version` in SQLite's header. A flipped bit in the
 * row is no newer format then: a version that knows nothing of the row's other columns, their sum included, can tell the two apart.
 *
 * Files of the formats below are older than this rule and may have 0 in the header. Each later format has both numbers.
 */
export function stampFormat(database: Database, format: number): void {
  database.pragma(`user_version = ${format}`);
}

export interface FoundFormat {
  readonly file: string;
  /** The row that the number stands in. */
  readonly place: string;
  readonly found: number;
  /** The newest format that this version knows. */
  readonly known: number;
}

/** Throws `NEWER_FORMAT`, or `DAMAGED` where the header knows nothing of the newer format. */
export function refuseNewerFormat(database: Database, { file, place, found, known }: FoundFormat): void {
  if (found <= known) return;
  const stamp = database.pragma("user_version", { simple: true });
  if (stamp === found) throw new StoreError({ code: "NEWER_FORMAT", file, known, found });
  const both = `format ${found}, and ${String(stamp)} in the header of the file`;
  throw new StoreError({ code: "DAMAGED", file, place, found: both });
}
