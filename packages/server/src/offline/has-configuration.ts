import { ZXID_NONE } from "@zooid/model";
import { StoreError } from "@zooid/txn-log";
import { readStore } from "@zooid/txn-log/sqlite";
import { decodeMembers } from "@zooid/zab";

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
    return shortened !== undefined || [log?.committedConfig, log?.lastSeenConfig].some(isAgreed);
  } catch (error) {
    if (error instanceof StoreError) return true;
    throw error;
  }
}

/** The list of a server's files is kept with the version 0 where a change of it was cut. */
function isAgreed(config: Uint8Array | undefined): boolean {
  return config !== undefined && decodeMembers(config)?.version !== ZXID_NONE;
}
