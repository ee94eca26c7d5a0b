import type { WriteParts } from "../parts/writes.ts";
import type { Connection, HeldWrite } from "./connection.ts";

/**
 * Back-pressure: whether a connection may be read on. It is not read for a while when it has too
 * much unanswered itself, or when all connections together have too many writes in flight.
 */
export class Admission {
  readonly #parts: WriteParts;
  readonly #carryOut: (connection: Connection, frame: Uint8Array) => void;
  readonly #stalled: Connection[] = [];
  /**
   * Connections with a write that waits for its address's share, in the order in which they came.
   */
  #held: Connection[] = [];

  /** @param carryOut carries out a write that was held, and has room now */
  constructor(parts: WriteParts, carryOut: (connection: Connection, frame: Uint8Array) => void) {
    this.#parts = parts;
    this.#carryOut = carryOut;
  }

  /** Whether there is no room for further writes of any connection. */
  get isFull(): boolean {
    const { config, tools, zab, proposer, inFlightWrites } = this.#parts;
    const { batcher } = tools;
    return (
      zab.isFull ||
      zab.isExhausted ||
      batcher.sizeBytes >= config.outstandingBytesMax ||
      batcher.count >= config.outstandingCountMax ||
      proposer.isFull ||
      inFlightWrites.count >= config.outstandingCountMax ||
      inFlightWrites.sizeBytes >= config.outstandingBytesMax
    );
  }

  /** Whether a connection may be read on; where not, `resume` is called when it may. */
  admits(connection: Connection): boolean {
    if (connection.phase !== "open") return false;
    if (!this.isFull && this.#hasRoom(connection)) return true;
    if (!connection.stalled) {
      connection.stalled = true;
      this.#stalled.push(connection);
    }
    return false;
  }

  /**
   * Keeps a write until there is room for its work: see `WriteShares`. The connection is not read
   * until then; other connections are, and those of other addresses go ahead.
   */
  holdWrite(connection: Connection, write: HeldWrite): void {
    connection.heldWrite = write;
    this.#held.push(connection);
  }

  /** A request of a connection was answered. */
  answered(connection: Connection): void {
    if (!connection.stalled || this.isFull || !this.#hasRoom(connection)) return;
    connection.stalled = false;
    this.#parts.sinks.resume(connection.ref);
  }

  /** Writes have committed: resumes the connections for which there is room now. */
  committed(): void {
    if (this.#held.length > 0) this.#releaseHeld();
    if (this.#stalled.length > 0 && !this.isFull) this.#resumeStalled();
  }

  clear(): void {
    this.#stalled.length = 0;
    this.#held.length = 0;
  }

  #hasRoom(connection: Connection): boolean {
    return connection.heldWrite === undefined && this.#mayTakeMore(connection);
  }

  #mayTakeMore(connection: Connection): boolean {
    const { config, proposer } = this.#parts;
    return (
      connection.unfinished === undefined &&
      connection.history === "none" &&
      // While a multi is prepared in part, each connection has one write that waits for it.
      !(connection.unanswered > 0 && proposer.isPreparing) &&
      connection.inFlight < config.inFlightCountMax &&
      // rule: waiting-answers-are-bounded
      (connection.waiting?.answerBytes ?? 0) < config.waitingAnswerBytesMax &&
      (connection.waiting?.sizeBytes ?? 0) + connection.syncBytes < config.inFlightBytesMax
    );
  }

  #releaseHeld(): void {
    const held = this.#held;
    this.#held = [];
    for (const connection of held) {
      const { heldWrite } = connection;
      if (heldWrite === undefined || connection.phase !== "open") continue;
      // 1. A connection has a write in flight and one that is held.
      // 2. A multi of another one is prepared in part, and each connection may have one write that
      //    waits for it.
      // 3. The held one would be a second.
      const isDue = !this.isFull && this.#mayTakeMore(connection) && this.#isBehindNone(heldWrite);
      if (!isDue || !this.#parts.writeShares.admits(connection, heldWrite.priceUs)) {
        this.#held.push(connection);
        continue;
      }
      connection.heldWrite = undefined;
      this.#carryOut(connection, heldWrite.frame);
      this.answered(connection);
    }
  }

  /** A large multi waits for the writes that came before it, but not for all that come. */
  #isBehindNone({ priceUs, after }: HeldWrite): boolean {
    const { inFlightWrites, writeShares } = this.#parts;
    return !writeShares.isLarge(priceUs) || inFlightWrites.mayPrepareLarge(after);
  }

  #resumeStalled(): void {
    const stalled = this.#stalled.splice(0);
    for (const connection of stalled) {
      if (!connection.stalled || connection.phase !== "open") continue;
      if (this.#hasRoom(connection)) {
        connection.stalled = false;
        this.#parts.sinks.resume(connection.ref);
      } else {
        this.#stalled.push(connection);
      }
    }
  }
}
