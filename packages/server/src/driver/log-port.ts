import type { Chain, EntryRun, EpochPromise, HistoryInstall, LogPosition, LogState, Zxid } from "@zooid/model";
import { StoreError, type TxnLog } from "@zooid/txn-log";
import type { LoggedRun, ZabLog } from "@zooid/zab";

/**
 * The log as the replica sees it: completions become inputs of the turn loop. A failed write never
 * completes; the log reports the failure itself, and the server ends.
 */
export class LogPort implements ZabLog {
  readonly #log: TxnLog;
  readonly #input: (step: () => void) => void;
  readonly #appending: (run: LoggedRun) => void;

  /**
   * @param input steps the replica in a turn
   * @param appending called with each run before the log gets it
   */
  constructor(log: TxnLog, input: (step: () => void) => void, appending: (run: LoggedRun) => void) {
    this.#log = log;
    this.#input = input;
    this.#appending = appending;
  }

  get durable(): LogState {
    return this.#log.durable;
  }

  append(run: LoggedRun, generation: number, committed: Zxid, lastSeenConfig?: Uint8Array): void {
    this.#appending(run);
    const { bytes, start, end } = run;
    const config = lastSeenConfig === undefined ? {} : { lastSeenConfig };
    this.#log.append({ generation, bytes, start, end, committed, ...config });
  }

  setConfigs(configs: { readonly committed?: Uint8Array; readonly lastSeen?: Uint8Array }, done: () => void): void {
    this.#completed(this.#log.setConfigs(configs), done);
  }

  setPromise(promise: EpochPromise, done: () => void): void {
    this.#completed(this.#log.setPromise(promise), done);
  }

  setCurrentEpoch(epoch: number, done: () => void): void {
    this.#completed(this.#log.setCurrentEpoch(epoch), done);
  }

  setEnsembleId(ensembleId: string, done: () => void): void {
    this.#completed(this.#log.setEnsembleId(ensembleId), done);
  }

  beginStage(after: LogPosition, done: () => void): void {
    this.#completed(this.#log.beginStage(after), done);
  }

  stage({ bytes, start, end }: LoggedRun, done: () => void): void {
    this.#completed(this.#log.stage(bytes, start, end), done);
  }

  dropStage(done: () => void): void {
    this.#completed(this.#log.dropStage(), done);
  }

  installHistory(install: HistoryInstall, done: () => void): void {
    this.#completed(this.#log.flip(install), done);
  }

  read(after: Zxid, bytesMax: number, done: (result: EntryRun | "below-floor" | "damaged") => void): void {
    this.#log.read(after, bytesMax).then(
      (run) => this.#input(() => done(run)),
      (error: unknown) => {
        if (!(error instanceof StoreError)) throw error;
        const { code } = error.detail;
        if (code === "BELOW_FLOOR") this.#input(() => done("below-floor"));
        else if (code === "DAMAGED") this.#input(() => done("damaged"));
      },
    );
  }

  chainAt(zxid: Zxid, done: (chain: Chain | undefined) => void): void {
    this.#log.chainAt(zxid).then(
      (chain) => this.#input(() => done(chain)),
      () => {
        // The log has failed and reports it.
      },
    );
  }

  #completed(write: Promise<unknown>, done: () => void): void {
    write.then(
      () => this.#input(done),
      () => {
        // The log has failed and reports it.
      },
    );
  }
}
