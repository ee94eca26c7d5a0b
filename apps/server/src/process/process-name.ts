import { writeFileSync } from "node:fs";

const NAME = "zooid-server";

/**
 * Names the process, with its arguments, for `ps` and `pgrep -f`, and without them for `pgrep -x`,
 * `pidof` and `killall`: Linux cuts the short name off after 15 characters, which would have the
 * beginning of an argument.
 */
export function nameProcess(argv: readonly string[]): void {
  process.title = [NAME, ...argv].join(" ");
  try {
    writeFileSync("/proc/self/comm", NAME);
  } catch {
    // Only Linux has the file.
  }
}
