import type {
  Chain,
  EpochPromise,
  HistoryInstall,
  LogConfigs,
  LoggedRun,
  LogPosition,
  LogState,
  ReadResult,
  RunMarks,
  TxnLog,
  Zxid,
} from "@zooid/model";

/**
 * The log, fenced by role. Each role has a generation: a write of an older one that completes is
 * counted and calls nothing back, and a new role begins when no write of the old one is under way.
 */
export class FencedLog {
  readonly #log: TxnLog;
  #generation = 0;
  #underWay = 0;

  constructor(log: TxnLog) {
    this.#log = log;
  }

  get generation(): number {
    return this.#generation;
  }

  get durable(): LogState {
    return this.#log.durable;
  }

  /** Whether every write that was ever asked for has completed. */
  get isQuiet(): boolean {
    // rule: a-role-begins-on-a-quiet-disk
    return this.#underWay === 0;
  }

  nextGeneration(): void {
    this.#generation++;
  }

  append(run: LoggedRun, committed: Zxid, marks?: RunMarks): void {
    this.#underWay++;
    this.#log.append(run, this.#generation, committed, marks);
  }

  setConfigs(configs: LogConfigs, done: () => void): void {
    this.#log.setConfigs(configs, this.#write(done));
  }

  /** An append has completed. @returns whether the present role asked for it */
  appended(generation: number): boolean {
    this.#underWay--;
    return generation === this.#generation;
  }

  setPromise(promise: EpochPromise, done: () => void): void {
    this.#log.setPromise(promise, this.#write(done));
  }

  setCurrentEpoch(epoch: number, done: () => void): void {
    this.#log.setCurrentEpoch(epoch, this.#write(done));
  }

  setEnsembleId(ensembleId: string, done: () => void): void {
    this.#log.setEnsembleId(ensembleId, this.#write(done));
  }

  beginStage(after: LogPosition): void {
    this.#log.beginStage(
      after,
      this.#write(() => {}),
    );
  }

  stage(run: LoggedRun, done: () => void): void {
    this.#log.stage(run, this.#write(done));
  }

  dropStage(): void {
    this.#log.dropStage(this.#write(() => {}));
  }

  /**
   * @param always called whatever has become of the role: the log has changed under it
   */
  installHistory(install: HistoryInstall, always: () => void, done: () => void): void {
    const fenced = this.#write(done);
    this.#log.installHistory(install, () => {
      always();
      fenced();
    });
  }

  read(after: Zxid, bytesMax: number, done: (result: ReadResult) => void): void {
    const generation = this.#generation;
    this.#log.read(after, bytesMax, (result) => {
      if (generation === this.#generation) done(result);
    });
  }

  chainAt(zxid: Zxid, done: (chain: Chain | undefined) => void): void {
    const generation = this.#generation;
    this.#log.chainAt(zxid, (chain) => {
      if (generation === this.#generation) done(chain);
    });
  }

  #write(done: () => void): () => void {
    const generation = this.#generation;
    this.#underWay++;
    return () => {
      this.#underWay--;
      if (generation === this.#generation) done();
    };
  }
}
