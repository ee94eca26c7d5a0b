/** The formats of a data directory, as a version that knows none of them finds them. */
import { closeSync, openSync, readdirSync, readSync } from "node:fs";
import { join } from "node:path";

/** Where SQLite has `user_version`, in big-endian order, in a file's header. */
const STAMP_AT = 60;
const STATE_FILE = /^state-(\d+)\.db$/;

export interface FormatStamps {
  /** That of the mark, which versions read before all other files. */
  readonly log: number;
  /** That of the newest state file. */
  readonly state: number;
}

export function formatStamps(dataDir: string): FormatStamps {
  const states = readdirSync(dataDir).flatMap((name) => STATE_FILE.exec(name)?.[1] ?? []);
  const newest = Math.max(...states.map(Number));
  return { log: stampOf(join(dataDir, "log.db")), state: stampOf(join(dataDir, `state-${newest}.db`)) };
}

function stampOf(file: string): number {
  const handle = openSync(file, "r");
  try {
    const bytes = Buffer.alloc(4);
    readSync(handle, bytes, 0, bytes.length, STAMP_AT);
    return bytes.readUInt32BE(0);
  } finally {
    closeSync(handle);
  }
}
