import { type DurableLog, StoreError } from "@zooid/txn-log";
import { readStore } from "@zooid/txn-log/sqlite";
import { ConfigError } from "../config.ts";
import { FOLLOWER_ID } from "./follower-id.ts";

/** @throws ConfigError */
export function refuseFollowed({ identity }: Pick<DurableLog, "identity">): void {
  if (identity.ensembleId === FOLLOWER_ID)
    throw new ConfigError([
      "the data directory follows an Apache ensemble, and no clients are served from it: continue with zooid-server follow, or name another dataDir",
    ]);
}

/** @throws ConfigError */
export function refuseOrdinary({ identity }: Pick<DurableLog, "identity">): void {
  if (identity.ensembleId !== FOLLOWER_ID)
    throw new ConfigError([
      "the data directory has the data of a server that served clients, and zooid-server follow replaces all data: name a dataDir that is empty",
    ]);
}

/**
 * Opens a data directory. Of one that is of the other kind, the sentence above says so, whatever
 * else about it is another server's.
 */
export async function openOfKind<T>(
  directories: { readonly directory: string; readonly logDirectory: string },
  refuse: (log: Pick<DurableLog, "identity">) => void,
  open: () => Promise<T>,
): Promise<T> {
  try {
    return await open();
  } catch (error) {
    if (error instanceof StoreError && error.code === "FOREIGN") {
      const { log } = readStore(directories);
      if (log !== undefined) refuse(log);
    }
    throw error;
  }
}
