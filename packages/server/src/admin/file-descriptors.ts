import { readdirSync, readFileSync } from "node:fs";

/**
 * Open files and sockets of the process, and their limit; -1 where the system does not report them.
 */
export function fileDescriptors(): { readonly open: number; readonly max: number } {
  try {
    const open = readdirSync("/proc/self/fd").length;
    const limit = /^Max open files\s+(\d+)/m.exec(readFileSync("/proc/self/limits", "utf8"))?.[1];
    return { open, max: limit === undefined ? -1 : Number(limit) };
  } catch {
    return { open: -1, max: -1 };
  }
}
