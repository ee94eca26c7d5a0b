import { type LogHandler, StoreError } from "@zooid/txn-log";
import { openStore, type Store } from "@zooid/txn-log/sqlite";

export interface OfflineStoreOptions {
  readonly directory: string;
  readonly logDirectory?: string;
  readonly sid: number;
  /** Whether a damaged log is taken as far as it is whole. */
  readonly takesDamaged?: boolean;
  /** Whether the command that opens it makes the directory. Default: such a one is refused. */
  readonly isUnfinished?: boolean;
  warn(text: string): void;
}

/**
 * Opens a store that serves no client, and closes it after its use.
 *
 * @throws StoreError, also where a write fails or its disk has no room, and what `use` throws
 */
export async function withOfflineStore<T>(
  { takesDamaged = false, isUnfinished = false, warn, ...places }: OfflineStoreOptions,
  use: (store: Store) => Promise<T>,
): Promise<T> {
  const { promise: failure, reject } = Promise.withResolvers<never>();
  failure.catch(() => {});
  const handler: LogHandler = {
    appended: () => {},
    roomChanged: (missing) => {
      if (missing !== undefined) reject(new StoreError({ code: "DISK_FULL", file: places.directory, reason: missing }));
    },
    failed: reject,
    warned: warn,
  };
  await using store = await openStore({ ...places, handler, allowAmnesia: takesDamaged, isUnfinished });
  return await Promise.race([use(store), failure]);
}
