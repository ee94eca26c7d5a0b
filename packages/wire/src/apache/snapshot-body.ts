import { type Acl, type SessionId, sessionIdFromHalves } from "@zooid/model/storage";
import { APACHE_SESSION_BYTES, APACHE_STAT_BYTES, END_PATH } from "./apache-format.ts";
import type { ByteCursor } from "./byte-cursor.ts";

/** The parts of a snapshot of Apache's, in the order of the stream. Bytes are lent for the call. */
export interface ApacheSnapshotParts {
  /** Default: sessions are passed over. */
  session?(id: SessionId, timeoutMs: number): void;
  acl(key: bigint, acl: Acl): void;
  /** @param data null is the protocol's null; `stat` has 60 bytes */
  node(path: Buffer, data: Buffer | null, aclKey: bigint, stat: Buffer): void;
  /** The bytes that were handed over since the last call are done with. */
  rest(): void;
}

export interface SnapshotBodyOptions {
  /** The longest path, data, scheme or id that is accepted. */
  readonly fieldBytesMax: number;
  /** Makes the error that is thrown for bytes that are no snapshot. */
  refuse(found: string): Error;
}

/** Entries of one list. */
const ACL_COUNT_MAX = 100_000;

type Phase = "sessions" | "lists" | "nodes" | "ended";

/** A list of which the entries are still to come. */
interface PartialList {
  readonly key: bigint;
  readonly acl: Acl[number][];
  left: number;
  bytes: number;
}

/**
 * Sessions, access lists and nodes, up to the path that ends them: the part that a snapshot's file
 * and the one that a leader sends have in common. It keeps no bytes.
 */
export class SnapshotBody {
  readonly #parts: ApacheSnapshotParts;
  readonly #options: SnapshotBodyOptions;
  #phase: Phase = "sessions";
  /** Number of sessions or lists still to come; undefined before their count is read. */
  #left: number | undefined;
  #list: PartialList | undefined;
  #nodeCount = 0;

  constructor(parts: ApacheSnapshotParts, options: SnapshotBodyOptions) {
    this.#parts = parts;
    this.#options = options;
  }

  get nodeCount(): number {
    return this.#nodeCount;
  }

  get isEnded(): boolean {
    return this.#phase === "ended";
  }

  /** Takes the next part; false, and the cursor stands anywhere, where it is not whole. */
  take(cursor: ByteCursor): boolean {
    switch (this.#phase) {
      case "sessions":
      case "lists":
        return this.#takeCounted(cursor);
      case "nodes":
        return this.#takeNode(cursor);
      case "ended":
        return false;
    }
  }

  /** Takes the count of sessions or lists, then one of them, or a part of a list. */
  #takeCounted(cursor: ByteCursor): boolean {
    if (this.#left === undefined) {
      if (!cursor.has(4)) return false;
      this.#left = cursor.int();
      if (this.#left < 0) throw this.#options.refuse(`a count of ${this.#left}`);
    } else if (!(this.#phase === "sessions" ? this.#takeSession(cursor) : this.#takeListPart(cursor))) {
      return false;
    }
    if (this.#left === 0) {
      this.#left = undefined;
      this.#phase = this.#phase === "sessions" ? "lists" : "nodes";
    }
    return true;
  }

  #takeSession(cursor: ByteCursor): boolean {
    if (!cursor.has(APACHE_SESSION_BYTES)) return false;
    const id = sessionIdFromHalves(cursor.int(), cursor.int());
    const timeoutMs = cursor.int();
    this.#parts.session?.(id, timeoutMs);
    this.#endOne();
    return true;
  }

  /** Takes the head of a list, or one entry: a long list comes in many pieces. */
  #takeListPart(cursor: ByteCursor): boolean {
    if (this.#list === undefined) {
      if (!cursor.has(12)) return false;
      const [key, left] = [cursor.long(), cursor.int()];
      if (left < 0 || left > ACL_COUNT_MAX) throw this.#options.refuse(`an access list of ${left} entries`);
      this.#list = { key, acl: [], left, bytes: 0 };
    } else if (!this.#takeEntry(cursor, this.#list)) {
      return false;
    }
    const { key, acl, left } = this.#list;
    if (left > 0) return true;
    this.#list = undefined;
    this.#parts.acl(key, acl);
    this.#endOne();
    return true;
  }

  #takeEntry(cursor: ByteCursor, list: PartialList): boolean {
    const { refuse, fieldBytesMax } = this.#options;
    const start = cursor.at;
    if (!cursor.has(4)) return false;
    const perms = cursor.int();
    const scheme = this.#field(cursor);
    const id = scheme === undefined ? undefined : this.#field(cursor);
    if (scheme === undefined || id === undefined) return false;
    if (scheme === null || id === null) throw refuse("an access list without a scheme or a name");
    list.acl.push({ perms, scheme: scheme.toString(), id: id.toString() });
    list.left--;
    list.bytes += cursor.at - start;
    if (list.bytes > fieldBytesMax) throw refuse(`an access list of more than ${fieldBytesMax} bytes`);
    return true;
  }

  #endOne(): void {
    if (this.#left !== undefined) this.#left--;
  }

  #takeNode(cursor: ByteCursor): boolean {
    const path = this.#field(cursor);
    if (path === undefined) return false;
    if (path === null) throw this.#options.refuse("a node without a path");
    if (path.length === END_PATH.length && path.toString("latin1") === END_PATH) {
      this.#phase = "ended";
      return true;
    }
    const data = this.#field(cursor);
    if (data === undefined || !cursor.has(8 + APACHE_STAT_BYTES)) return false;
    const key = cursor.long();
    this.#parts.node(path, data, key, cursor.bytesOf(APACHE_STAT_BYTES));
    this.#nodeCount++;
    return true;
  }

  /**
   * Bytes behind their length; undefined where they are not all there, null for the protocol's
   * null.
   */
  #field(cursor: ByteCursor): Buffer | null | undefined {
    if (!cursor.has(4)) return undefined;
    const length = cursor.int();
    if (length === -1) return null;
    if (length < 0 || length > this.#options.fieldBytesMax) throw this.#options.refuse(`a field of ${length} bytes`);
    return cursor.has(length) ? cursor.bytesOf(length) : undefined;
  }
}
