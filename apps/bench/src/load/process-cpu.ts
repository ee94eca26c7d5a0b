import { readFileSync } from "node:fs";

/** The unit of /proc on every Linux, whatever the kernel counts in. */
const TICK_MS = 10;

/**
 * CPU time of a process of this machine, all threads together, in milliseconds; undefined where the
 * system does not provide it.
 */
export function processCpuMs(pid: number): number | undefined {
  try {
    // The name in parentheses may contain anything. Behind it user and system time are the 12th and
    // the 13th field.
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8")
      .replace(/^.*\) /s, "")
      .split(" ");
    return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
  } catch {
    return undefined;
  }
}
