import { join } from "node:path";
import { openStore, type Store } from "./sqlite.ts";
import { createStateFile } from "./state-file.ts";
import { TemporaryDirectory } from "./temporary-directory.ts";
import type { LogHandler, LogPosition, TxnLog } from "./txn-log.ts";
import { describeTxnLog, type TxnLogHarness } from "./txn-log-contract.ts";

class SqliteHarness implements TxnLogHarness {
  readonly #directory = new TemporaryDirectory();
  #store: Store | undefined;

  async open(handler: LogHandler, options: { readonly takeEpoch?: boolean }): Promise<TxnLog> {
    this.#store = await openStore({ directory: join(this.#directory.path, "data"), sid: 3, handler, ...options });
    return this.#store.log;
  }
  async settle(log: TxnLog): Promise<void> {
    // A write is answered after everything before it was reported.
    await log.setConfigs({});
  }
  async putState(name: string, applied: LogPosition): Promise<void> {
    createStateFile(join(this.#directory.path, "data", name), applied);
  }
  async kill(): Promise<void> {
    await this.#store?.[Symbol.asyncDispose]();
  }
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#store?.[Symbol.asyncDispose]();
    this.#directory[Symbol.dispose]();
  }
}

describeTxnLog("the SQLite log", async () => new SqliteHarness());
