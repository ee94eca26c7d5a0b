import { existsSync, statfsSync } from "node:fs";
import { dirname } from "node:path";
import { OfflineError } from "../offline-error.ts";

/** @throws OfflineError where a directory's disk has less room than is needed */
export function checkRoom(directory: string, neededBytes: number, freeBytes: number = freeBytesFor(directory)): void {
  if (freeBytes >= neededBytes) return;
  throw new OfflineError([
    `the disk of ${directory} has ${mebibytes(freeBytes)} MiB left, and about ${mebibytes(neededBytes)} MiB are needed`,
  ]);
}

/** Free bytes on the disk that a directory has, or will have. */
function freeBytesFor(directory: string): number {
  let place = directory;
  while (!existsSync(place) && dirname(place) !== place) place = dirname(place);
  const { bavail, bsize } = statfsSync(place);
  return bavail * bsize;
}

function mebibytes(bytes: number): number {
  return Math.ceil(bytes / 1024 / 1024);
}
