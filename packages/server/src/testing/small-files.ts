import { cp, mkdtemp, readdir, rm, stat as statOf } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ServerOptions } from "../config.ts";
import type { LogEvent } from "../operators/log-events.ts";

/** Files that hold a few writes each. */
export const SMALL_FILES: Pick<ServerOptions, "stateLagBytesMax" | "retention"> = {
  stateLagBytesMax: 64 * 1024,
  retention: { bytes: 64 * 1024 },
};

/** Lines of a start that was no plain one, or of damage. */
const REPAIRS: readonly LogEvent[] = [
  "applied-beyond",
  "failed",
  "file-damaged",
  "file-healed",
  "histories-differ",
  "history-missing-here",
  "history-not-the-leaders",
  "state-not-received",
  "storage-repaired",
  "storage-unreadable",
];

export function isRepair(event: LogEvent): boolean {
  return REPAIRS.includes(event);
}

/**
 * A new directory with the files of another one, as a kill would leave them while nothing is
 * written.
 */
export async function imageOf(directory: string): Promise<string> {
  const image = await mkdtemp(join(tmpdir(), "zooid-history-"));
  for (let before = ""; ; ) {
    const now = await filesOf(directory);
    if (now === before) return image;
    await rm(image, { recursive: true });
    // A file may be removed meanwhile: then the next look differs.
    await cp(directory, image, { recursive: true }).catch(() => undefined);
    before = now;
  }
}

/** Names, sizes and times of all files but those that are shared memory. */
async function filesOf(directory: string): Promise<string> {
  const lines: string[] = [];
  for (const name of (await readdir(directory)).filter((name) => !name.endsWith("-shm")).sort()) {
    const found = await statOf(join(directory, name), { bigint: true }).catch(() => undefined);
    lines.push(`${name} ${found?.size} ${found?.mtimeNs} ${found?.ino}`);
  }
  return lines.join("\n");
}
