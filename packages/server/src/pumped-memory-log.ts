import type { EpochPromise, LogPosition } from "@zooid/model";
import { type AppendBatch, type Flip, MemoryTxnLog } from "@zooid/txn-log";

/** A log in memory whose writes take effect a moment later, as those of a disk do. */
export class PumpedMemoryLog extends MemoryTxnLog {
  #isPumping = false;

  override append(batch: AppendBatch): void {
    super.append(batch);
    this.#pump();
  }

  override setPromise(promise: EpochPromise): Promise<void> {
    return this.#pumped(super.setPromise(promise));
  }

  override setCurrentEpoch(epoch: number): Promise<void> {
    return this.#pumped(super.setCurrentEpoch(epoch));
  }

  override setEnsembleId(ensembleId: string): Promise<void> {
    return this.#pumped(super.setEnsembleId(ensembleId));
  }

  override beginStage(after: LogPosition): Promise<void> {
    return this.#pumped(super.beginStage(after));
  }

  override stage(bytes: Uint8Array, start: number, end: number): Promise<LogPosition> {
    return this.#pumped(super.stage(bytes, start, end));
  }

  override dropStage(): Promise<void> {
    return this.#pumped(super.dropStage());
  }

  override flip(flip: Flip): Promise<LogPosition> {
    return this.#pumped(super.flip(flip));
  }

  #pumped<T>(write: Promise<T>): Promise<T> {
    this.#pump();
    return write;
  }

  #pump(): void {
    if (this.#isPumping) return;
    this.#isPumping = true;
    setImmediate(() => {
      this.#isPumping = false;
      this.syncAll();
    });
  }
}
