import { readdirSync, readlinkSync } from "node:fs";

/** The paths of this process's open files, one for each time that a file is open. */
export function openFiles(): readonly string[] {
  return readdirSync("/proc/self/fd").flatMap((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`);
    } catch {
      // The folder's own, which is closed by now.
      return [];
    }
  });
}
