import {
  AddWatchMode,
  type ByteSlice,
  ErrorCode,
  isAddWatchMode,
  isWatchSelector,
  newRequest,
  OpCode,
  PRICES,
  type Request,
  type RequestDecoder,
  type Zxid,
} from "@zooid/model";
import type { Connection } from "../connections/connection.ts";
import type { WatchNotifications } from "../delivery/watch-notifications.ts";
import type { GroundParts } from "../parts/ground.ts";
import { pathWork } from "../path-work.ts";

interface Parts extends GroundParts {
  readonly notifications: WatchNotifications;
}

/** The path of watches on the protocol's null: a byte that is no UTF-8, so no path of a client. */
const NULL_PATH: Readonly<ByteSlice> = { bytes: Uint8Array.of(0xff), start: 0, end: 1 };
const PARTS_READ_PER_UNIT_LOG2 = PRICES.setWatchesPathsReadPerUsLog2;
/** The work of one short path of a setWatches. */
const RESTORE_WORK = PRICES.restoredWatchUs;

/** Carries out requests that arm, look up, remove and restore watches. */
export class WatchRequests {
  readonly #parts: Parts;
  readonly #part: Request = newRequest();

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /**
   * addWatch: on any path, as in Apache: one that does not exist, one that is not readable, a text
   * that is no path, or null.
   */
  add({ ref }: Connection, { hasPath, mode, path, xid }: Request, zxid: Zxid): void {
    const { sinks, tree } = this.#parts;
    if (!isAddWatchMode(mode)) {
      sinks.replies.header(ref, xid, zxid, ErrorCode.MARSHALLING_ERROR);
      return;
    }
    const watched = hasPath ? path : NULL_PATH;
    const { bytes, start, end } = watched;
    if (!tree.isWatchable(watched)) return sinks.replies.integer(ref, xid, zxid, ErrorCode.OK);
    if (mode === AddWatchMode.PERSISTENT) tree.watches.armPersistent(bytes, start, end, ref);
    else tree.watches.armRecursive(bytes, start, end, ref);
    sinks.replies.integer(ref, xid, zxid, ErrorCode.OK);
  }

  /** checkWatches and removeWatches. @returns the answer's code */
  find({ ref }: Connection, { op, hasPath, mode, path }: Request): ErrorCode {
    const { watches } = this.#parts.tree;
    if (!isWatchSelector(mode)) return ErrorCode.MARSHALLING_ERROR;
    const { bytes, start, end } = hasPath ? path : NULL_PATH;
    const isFound =
      op === OpCode.REMOVE_WATCHES
        ? watches.remove(bytes, start, end, ref, mode)
        : watches.contains(bytes, start, end, ref, mode);
    return isFound ? ErrorCode.OK : ErrorCode.NO_WATCHER;
  }

  /**
   * Decodes paths of a setWatches, from where the decoder stands. Throws for one that is
   * unreadable.
   *
   * @param workMax the work of this call; at least one path is read
   * @returns whether it was the last path
   */
  checkPaths(parts: RequestDecoder, workMax: number): boolean {
    const countMax = Math.max(1, workMax << PARTS_READ_PER_UNIT_LOG2);
    let count = 0;
    while (count < countMax && parts.nextPart(this.#part)) count++;
    this.#parts.requestWork.count += count >> PARTS_READ_PER_UNIT_LOG2;
    return count < countMax;
  }

  /**
   * setWatches: restores watches of the client's last connection. Where one has missed a change,
   * its event is sent at once if the client may read the node, before the answer. The paths are
   * read from where the decoder stands.
   *
   * @param workMax the work of this call; at least one path is read
   * @returns whether it was the last path, and the request is answered
   */
  restore(connection: Connection, request: Request, parts: RequestDecoder, zxid: Zxid, workMax: number): boolean {
    const { sinks, tree, notifications, requestWork } = this.#parts;
    const { ref } = connection;
    const part = this.#part;
    const workEnd = requestWork.count + workMax;
    while (parts.nextPart(part)) {
      tree.restoreWatch(part.mode, part.path, ref, request.relativeZxid, notifications);
      requestWork.count += RESTORE_WORK + pathWork(part.path);
      if (requestWork.count >= workEnd) return false;
    }
    sinks.replies.header(ref, request.xid, zxid, ErrorCode.OK);
    return true;
  }
}
