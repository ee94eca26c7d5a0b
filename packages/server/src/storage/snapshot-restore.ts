import type { Zxid } from "@zooid/model";
import { counted } from "@zooid/model";
import { type ReceivedSnapshot, type SnapshotReceiver, StoreError } from "@zooid/txn-log";
import { APACHE_EPOCH_GAP, type ImportedSessions } from "@zooid/txn-log/sqlite";
import type { Driver } from "../driver/driver.ts";
import type { LogFields } from "../operators/log-fields.ts";
import type { Storage } from "./storage.ts";

/** The running server, as a restore needs it. */
export interface RestoreHost {
  storage(): Storage;
  driver(): Driver;
  /** Whether it stops or has failed. */
  isEnding(): boolean;
  /** Serves the new content of the data directory. */
  serveAgain(): Promise<void>;
  warn(text: string, fields: LogFields): void;
  /** The server has failed. */
  fail(error: unknown): void;
}

/**
 * Restores a snapshot into a standalone server, as if it had been stopped, its data replaced, and
 * started again; but its ports stay open, and clients that connect meanwhile wait.
 */
export class SnapshotRestore {
  readonly #host: RestoreHost;
  #restoring: Promise<void> | undefined;

  constructor(host: RestoreHost) {
    this.#host = host;
  }

  /** Changes nothing before the snapshot has arrived completely and is valid. */
  async restore(pieces: AsyncIterable<Uint8Array>, sessions: ImportedSessions): Promise<Zxid> {
    const epochGap = sessions === "keep" ? { epochGap: APACHE_EPOCH_GAP } : {};
    const receiver = await this.#host.storage().importSnapshot({ sessions, ...epochGap });
    let received: ReceivedSnapshot;
    try {
      received = await receiveAll(receiver, pieces);
      if (this.#host.isEnding()) throw new StoreError({ code: "CLOSED" });
    } catch (error) {
      await receiver.abandon();
      throw error;
    }
    this.#restoring = this.#replace(received);
    await this.#restoring;
    return received.position.zxid;
  }

  /** Resolves when no restore is in progress; the operator who requested it learns how it ended. */
  async settled(): Promise<void> {
    await this.#restoring?.catch(() => {});
  }

  async #replace(received: ReceivedSnapshot): Promise<void> {
    const driver = this.#host.driver();
    const storage = this.#host.storage();
    this.#host.warn(
      `a snapshot of ${counted(received.nodeCount, "znode")} and ${counted(received.sessionCount, "session")} ` +
        "replaces all data of this server; all clients are disconnected",
      { event: "restoring" },
    );
    try {
      await driver.stop();
      await storage.takeOver(received);
      await storage[Symbol.asyncDispose]();
      await this.#host.serveAgain();
    } catch (error) {
      this.#host.fail(error);
      throw error;
    }
  }
}

/** Reads the snapshot to its end even if it is faulty: its sender reads the answer only then. */
async function receiveAll(receiver: SnapshotReceiver, pieces: AsyncIterable<Uint8Array>): Promise<ReceivedSnapshot> {
  let failure: unknown;
  for await (const piece of pieces) {
    if (failure !== undefined) continue;
    try {
      await receiver.add(piece);
    } catch (error) {
      failure = error;
    }
  }
  if (failure !== undefined) throw failure;
  return await receiver.finish();
}
