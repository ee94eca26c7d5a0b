import { StoreError } from "@zooid/txn-log";
import { readStore } from "@zooid/txn-log/sqlite";

/**
 * Whether an ensemble has agreed on its members, and the data says which they are. Data that cannot
 * be read, as those of a running server, may say so.
 */
export function hasConfiguration({
  dataDir,
  logDir,
}: {
  readonly dataDir?: string | undefined;
  readonly logDir?: string | undefined;
}): boolean {
  if (dataDir === undefined) return false;
  try {
    const { log, shortened } = readStore({ directory: dataDir, logDirectory: logDir ?? dataDir });
    return shortened !== undefined || log?.committedConfig !== undefined || log?.lastSeenConfig !== undefined;
  } catch (error) {
    if (error instanceof StoreError) return true;
    throw error;
  }
}
