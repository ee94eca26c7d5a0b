import type { ConnectionRef } from "@zooid/model";
import type { Replica } from "@zooid/replica";

/** Most frames that a resumed connection is read in one turn. */
export const READ_ON_COUNT_MAX = 4;
const NO_BYTES = new Uint8Array(0);

interface FramesWatcher {
  /** The replica is about to read a frame of a connection. */
  reading(ref: ConnectionRef): void;
  /** A connection is not read for now. */
  stalled(): void;
}

/**
 * Frames from clients: those of a connection with too much unanswered wait until the replica
 * resumes it.
 */
export class ClientFrames {
  readonly #replica: Replica;
  readonly #watcher: FramesWatcher;
  /** Frames of the connections that are not read for now. */
  readonly #unread = new Map<ConnectionRef, Uint8Array[]>();
  readonly #resumed = new Set<ConnectionRef>();

  constructor(replica: Replica, watcher: FramesWatcher) {
    this.#replica = replica;
    this.#watcher = watcher;
  }

  get hasResumed(): boolean {
    return this.#resumed.size > 0;
  }

  isStalled(ref: ConnectionRef): boolean {
    return this.#unread.has(ref);
  }

  receive(ref: ConnectionRef, frame: Uint8Array): void {
    const unread = this.#unread.get(ref);
    if (unread !== undefined) unread.push(frame);
    else if (!this.#read(ref, frame)) {
      this.#unread.set(ref, []);
      this.#watcher.stalled();
    }
  }

  /** The connection has ended: its number may be given to another one. */
  forget(ref: ConnectionRef): void {
    this.#unread.delete(ref);
    this.#resumed.delete(ref);
  }

  /**
   * As the server's driver, passes over a connection that is read: it may be stalled before its
   * turn to be read on comes.
   */
  resume(ref: ConnectionRef): void {
    if (this.#unread.has(ref)) this.#resumed.add(ref);
  }

  /**
   * Reads some frames of each resumed connection.
   *
   * @param readMore called for each connection that has frames left and can be read on in a further
   * turn
   */
  readOn(readMore: () => void): void {
    for (const ref of [...this.#resumed]) {
      this.#resumed.delete(ref);
      const unread = this.#unread.get(ref);
      if (unread === undefined) continue;
      let isRead = true;
      for (let i = 0; i < READ_ON_COUNT_MAX && unread.length > 0 && isRead; i++) {
        isRead = this.#read(ref, unread.shift() ?? NO_BYTES);
      }
      if (!isRead) this.#watcher.stalled();
      else if (unread.length === 0) this.#unread.delete(ref);
      else {
        this.#resumed.add(ref);
        readMore();
      }
    }
  }

  /** @returns false when the connection is not to be read for now */
  #read(ref: ConnectionRef, frame: Uint8Array): boolean {
    this.#watcher.reading(ref);
    // As a socket's buffer, the bytes are lent for the call, and a `slice` of them is no copy.
    const lent = Buffer.from(frame);
    const mayGoOn = this.#replica.request(ref, lent, 0, lent.length);
    lent.fill(0xff);
    if (mayGoOn || this.#replica.connection(ref)?.phase !== "open") return true;
    // Resumed and stalled again by one frame.
    this.#resumed.delete(ref);
    return false;
  }
}
