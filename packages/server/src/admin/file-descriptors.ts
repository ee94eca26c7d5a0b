import { readdirSync, readFileSync } from "node:fs";

/** How many files and sockets the process has open, and may have; -1 where the system does not tell. */
export function fileDescriptors(): { readonly open: number; readonly max: number } {
  try {
    const open = readdirSync("/proc/self/fd").length;
    const limit = /^Max open files\s+(\d+)/m.exec(readFileSync("/proc/self/limits", "utf8"))?.[1];
    return { open, max: limit === undefined ? -1 : Number(limit) };
  } catch {
    return { open: -1, max: -1 };
  }
}
