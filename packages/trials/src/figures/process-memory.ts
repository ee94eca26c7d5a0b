import { existsSync, readFileSync } from "node:fs";

/**
 * The memory of a process as Linux reports it: the present resident memory, or its peak.
 *
 * @returns MiB; 0 without the process
 */
export function memoryMib(pid: number, figure: "VmRSS" | "VmHWM" = "VmRSS"): number {
  const file = `/proc/${pid}/status`;
  const status = existsSync(file) ? readFileSync(file, "utf8") : "";
  const kib = new RegExp(`^${figure}:\\s+(\\d+) kB$`, "m").exec(status)?.[1];
  return Math.round(Number(kib ?? 0) / 1024);
}
