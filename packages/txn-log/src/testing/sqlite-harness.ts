import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { inspectDirectory, WITNESS_FILE } from "../directory/inspect-directory.ts";
import { openSqliteLog, type SqliteTxnLog } from "../log/sqlite-txn-log.ts";
import type { LogHandler, LogPosition, StoreLog } from "../log/txn-log.ts";
import { ReaderLeases } from "../segments/reader-leases.ts";
import { createStateFile } from "../state/state-file.ts";
import type { PromisedLog } from "./promised-log.ts";
import { TemporaryDirectory } from "./temporary-directory.ts";
import type { TxnLogHarness } from "./txn-log-contract.ts";

const MIB = 1024 * 1024;

/** As `openStore` does it, but for the thread that checkpoints the state. */
export class SqliteHarness implements TxnLogHarness {
  readonly #directory = new TemporaryDirectory();
  readonly #data: string = join(this.#directory.path, "data");
  readonly #segmentBytes: number;
  #log: SqliteTxnLog | undefined;

  /** @param segmentBytes small ones make a log of many segments */
  constructor(segmentBytes: number = 16 * MIB) {
    this.#segmentBytes = segmentBytes;
    mkdirSync(this.#data);
  }

  async open(handler: LogHandler, options: { readonly takeEpoch?: boolean }): Promise<StoreLog> {
    const sid = 3;
    const found = inspectDirectory({ directory: this.#data, logDirectory: this.#data }, { sid });
    const log = await openSqliteLog({
      file: {
        directory: this.#data,
        witnessFile: join(this.#data, WITNESS_FILE),
        sid,
        ensembleId: undefined,
        takeEpoch: options.takeEpoch === true,
        amnesiac: false,
        applied: found.applied,
        leases: new ReaderLeases().memory,
        testBreak: undefined,
      },
      handler,
      ringBytes: 4 * MIB,
      segmentBytes: this.#segmentBytes,
      settings: { logKeepBytes: 64 * MIB, retentionMs: 0, fsyncWarnMs: 1_000 },
    });
    this.#log = log;
    if (!found.hasState) createStateFile(join(this.#data, log.durable.stateFile));
    return log;
  }
  async settle(log: PromisedLog): Promise<void> {
    // A write is answered after everything before it was reported.
    await log.setConfigs({});
  }
  async putState(name: string, applied: LogPosition): Promise<void> {
    createStateFile(join(this.#data, name), applied);
  }
  async kill(): Promise<void> {
    await this.#log?.[Symbol.asyncDispose]();
  }
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#log?.[Symbol.asyncDispose]();
    this.#directory[Symbol.dispose]();
  }
}
