import { MemoryTxnLog } from "@zooid/txn-log";

/** A log in memory whose writes take effect a moment later, as those of a disk do. */
export class PumpedMemoryLog extends MemoryTxnLog {
  #isPumping = false;

  protected override queued(): void {
    if (this.#isPumping) return;
    this.#isPumping = true;
    setImmediate(() => {
      this.#isPumping = false;
      this.syncAll();
    });
  }
}
