import { type EntryRun, FRAME_HEADER_BYTES, frameLength, frameZxid, type Zxid } from "@zooid/model";
import type { FencedLog } from "./fenced-log.ts";
import type { ProposalQueue } from "./proposal-queue.ts";
import type { ZabApplication } from "./sinks.ts";

const READ_BYTES = 256 * 1024;

/**
 * Delivers committed entries to the application, each once and in order. The role's initial history
 * is in the log; entries after it are still in memory. Entries that must be read from the log first
 * are delivered by a later call.
 */
export class Delivery {
  readonly #log: FencedLog;
  readonly #application: ZabApplication;
  readonly #queue: ProposalQueue;
  /** Up to here entries are in the log alone. */
  readonly #historyEnd: Zxid;
  readonly #damaged: (reason: string) => void;
  #run: { readonly bytes: Uint8Array; at: number } | undefined;
  #isReading = false;

  constructor(parts: {
    readonly log: FencedLog;
    readonly application: ZabApplication;
    readonly queue: ProposalQueue;
    readonly historyEnd: Zxid;
    readonly damaged: (reason: string) => void;
  }) {
    this.#log = parts.log;
    this.#application = parts.application;
    this.#queue = parts.queue;
    this.#historyEnd = parts.historyEnd;
    this.#damaged = parts.damaged;
  }

  /**
   * Delivers at most `most` entries up to and including `through`, which must be committed and
   * durable here.
   *
   * @returns whether more can be delivered now
   */
  deliver(through: Zxid, most: number): boolean {
    const applied = this.#application.applied();
    if (applied >= through) return false;
    if (applied < this.#historyEnd) return this.#deliverHistory(through, most);
    const count = this.#queue.deliver(through, most, this.#application);
    return count === most && this.#queue.hasUpTo(through);
  }

  #deliverHistory(through: Zxid, most: number): boolean {
    if (this.#run === undefined) {
      this.#read();
      return false;
    }
    const run = this.#run;
    const { bytes } = run;
    const limit = Math.min(through, this.#historyEnd);
    for (let i = 0; i < most; i++) {
      if (run.at >= bytes.length) {
        this.#run = undefined;
        return this.#application.applied() < through;
      }
      const zxid = frameZxid(bytes, run.at);
      if (zxid > limit) {
        // Entries after the history are in memory. Entries not committed yet are read again once
        // they are.
        this.#run = undefined;
        return this.#application.applied() < through;
      }
      const start = run.at + FRAME_HEADER_BYTES;
      run.at = start + frameLength(bytes, run.at);
      if (!this.#application.deliver(zxid, bytes, start, run.at)) break;
    }
    return true;
  }

  #read(): void {
    if (this.#isReading) return;
    this.#isReading = true;
    const applied = this.#application.applied();
    this.#log.read(applied, READ_BYTES, (result) => {
      this.#isReading = false;
      if (typeof result === "string") {
        this.#damaged(`the log cannot be read after the last applied entry: ${result}`);
        return;
      }
      this.#keep(result);
    });
  }

  #keep({ bytes, after, count }: EntryRun): void {
    if (after.zxid !== this.#application.applied() || count === 0) return;
    this.#run = { bytes, at: 0 };
  }
}
