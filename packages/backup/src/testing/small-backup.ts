import { cpSync } from "node:fs";
import { join } from "node:path";
import { ARCHIVE_START, baseOf, fileBehind } from "@zooid/txn-log/testing/archive-pieces";

/** A backup in a directory: two bases, and three files behind the first of them. */
export async function makeSmallBackup(directory: string): Promise<void> {
  const archive = join(directory, "archive-of-server");
  const first = fileBehind(archive, ARCHIVE_START, [1000, 2000]);
  await baseOf(archive, first, 2500);
  const second = fileBehind(archive, first, [3000, 4000]);
  await baseOf(archive, second, 4500);
  fileBehind(archive, second, [5000]);
  copyToBackup(archive, directory);
}

/** A server's archive has the layout of a backup. */
export function copyToBackup(archive: string, directory: string): void {
  for (const folder of ["log", "base"]) cpSync(join(archive, folder), join(directory, folder), { recursive: true });
}
