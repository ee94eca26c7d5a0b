import { type Acl, type SessionId, sessionIdFromHalves } from "@zooid/model/storage";
import { refused } from "../snapshots/snapshot-format.ts";
import {
  Adler32,
  APACHE_HEADER_BYTES,
  APACHE_MAGIC,
  APACHE_SESSION_BYTES,
  APACHE_STAT_BYTES,
  APACHE_VERSION,
  DIGEST_BYTES,
  END_PATH,
  LAST_ZXID_BYTES,
  SEAL_BYTES,
} from "./apache-format.ts";

/**
 * What a snapshot of Apache's is made of, in the order of the stream. Bytes are lent for the call.
 */
export interface ApacheSnapshotParts {
  /** Default: sessions are passed over. */
  session?(id: SessionId, timeoutMs: number): void;
  acl(key: bigint, acl: Acl): void;
  /** @param data null is the protocol's null; `stat` has 60 bytes */
  node(path: Buffer, data: Buffer | null, aclKey: bigint, stat: Buffer): void;
  /** What was handed over since the last call is done with. */
  rest(): void;
}

/** No node has longer data: the limit is well above what a server can be configured to accept. */
const FIELD_BYTES_MAX = 256 * 1024 * 1024;
/** Entries of one list. */
const ACL_COUNT_MAX = 100_000;
/** What follows the first seal is short. */
const TAIL_BYTES_MAX = 1024;
const GZIP = 0x1f8b;

type Phase = "header" | "sessions" | "lists" | "nodes" | "seal" | "tail";

/**
 * Takes a snapshot of Apache's apart as it comes, in pieces of any size, keeping no more than one
 * node of it. Whatever is not a whole snapshot is refused, with the place.
 */
export class ApacheSnapshotDecoder {
  readonly #parts: ApacheSnapshotParts;
  readonly #sum = new Adler32();
  /** What came and is not taken apart yet. */
  #pieces: Buffer[] = [];
  #waiting = 0;
  /** How much has to be there before the next part can be whole. */
  #need = APACHE_HEADER_BYTES;
  /** How much was taken apart, for messages. */
  #taken = 0;
  #phase: Phase = "header";
  /**
   * Number of sessions or ACL lists that are still to come; undefined before their count is read.
   */
  #left: number | undefined;
  #nodeCount = 0;

  constructor(parts: ApacheSnapshotParts) {
    this.#parts = parts;
  }

  /** The bytes are the caller's again afterwards, but for what is kept of them: that is copied. */
  add(piece: Buffer): void {
    this.#pieces.push(piece);
    this.#waiting += piece.length;
    if (this.#waiting >= this.#need) this.#takeApart();
    // A part that is not whole is kept beyond this call.
    const last = this.#pieces.pop();
    if (last !== undefined) this.#pieces.push(Buffer.from(last));
  }

  /**
   * After the last piece.
   *
   * @returns the last transaction's zxid; undefined where the snapshot does not say it, being of a
   *   version before 3.9
   */
  end(): bigint | undefined {
    if (this.#phase !== "tail") throw this.#refused("nothing more came, and this is not its end");
    const tail = Buffer.concat(this.#pieces);
    const withDigest = DIGEST_BYTES + SEAL_BYTES;
    const withLast = LAST_ZXID_BYTES + SEAL_BYTES;
    const hasDigest = tail.length === withDigest || tail.length === withDigest + withLast;
    const hasLast = tail.length === withLast || tail.length === withDigest + withLast;
    if (!hasDigest && !hasLast && tail.length > 0)
      throw this.#refused(`${tail.length} bytes are left, which are no end of it`);
    let at = 0;
    if (hasDigest) at = this.#checkSeal(tail, DIGEST_BYTES, 0);
    if (!hasLast) return undefined;
    const last = tail.readBigInt64BE(at);
    this.#checkSeal(tail, at + LAST_ZXID_BYTES, at);
    return last;
  }

  get nodeCount(): number {
    return this.#nodeCount;
  }

  #takeApart(): void {
    const only = this.#pieces.length === 1 ? this.#pieces[0] : undefined;
    const bytes = only ?? Buffer.concat(this.#pieces);
    let at = 0;
    while (this.#phase !== "tail") {
      const cursor = new Cursor(bytes, at);
      const before = this.#phase;
      if (!this.#takePart(cursor)) {
        this.#need = Math.max(cursor.needed - at, bytes.length - at + 1);
        break;
      }
      // A seal is checked against what comes before it.
      if (before !== "seal") this.#sum.add(bytes, at, cursor.at);
      this.#taken += cursor.at - at;
      at = cursor.at;
    }
    this.#parts.rest();
    if (this.#phase === "tail") this.#need = 0;
    this.#waiting = bytes.length - at;
    this.#pieces = this.#waiting === 0 ? [] : [bytes.subarray(at)];
    if (this.#phase === "tail" && this.#waiting > TAIL_BYTES_MAX) throw this.#refused("more follows its end");
  }

  /** Takes the next part, or nothing where it is not whole. */
  #takePart(cursor: Cursor): boolean {
    switch (this.#phase) {
      case "header":
        return this.#takeHeader(cursor);
      case "sessions":
        return this.#takeCounted(cursor, "lists", () => this.#takeSession(cursor));
      case "lists":
        return this.#takeCounted(cursor, "nodes", () => this.#takeList(cursor));
      case "nodes":
        return this.#takeNode(cursor);
      case "seal":
        return this.#takeSeal(cursor);
      case "tail":
        return false;
    }
  }

  #takeHeader(cursor: Cursor): boolean {
    if (!cursor.has(APACHE_HEADER_BYTES)) return false;
    const magic = cursor.int() >>> 0;
    const version = cursor.int();
    cursor.long();
    if (magic >>> 16 === GZIP) throw this.#refused("it is compressed by gzip; send what gunzip makes of it");
    if (magic !== APACHE_MAGIC) throw this.#refused("it is no snapshot of Apache ZooKeeper's");
    if (version !== APACHE_VERSION) throw this.#refused(`it has version ${version}, where ${APACHE_VERSION} is known`);
    this.#phase = "sessions";
    return true;
  }

  /** Takes a count, then that number of items. */
  #takeCounted(cursor: Cursor, next: Phase, takeOne: () => boolean): boolean {
    if (this.#left === undefined) {
      if (!cursor.has(4)) return false;
      this.#left = cursor.int();
      if (this.#left < 0) throw this.#refused(`a count of ${this.#left}`);
    } else {
      if (!takeOne()) return false;
      this.#left--;
    }
    if (this.#left === 0) {
      this.#left = undefined;
      this.#phase = next;
    }
    return true;
  }

  #takeSession(cursor: Cursor): boolean {
    if (!cursor.has(APACHE_SESSION_BYTES)) return false;
    const id = sessionIdFromHalves(cursor.int(), cursor.int());
    const timeoutMs = cursor.int();
    this.#parts.session?.(id, timeoutMs);
    return true;
  }

  #takeList(cursor: Cursor): boolean {
    if (!cursor.has(12)) return false;
    const key = cursor.long();
    const count = cursor.int();
    if (count < 0 || count > ACL_COUNT_MAX) throw this.#refused(`an access list of ${count} entries`);
    const acl: Acl[number][] = [];
    for (let i = 0; i < count; i++) {
      if (!cursor.has(4)) return false;
      const perms = cursor.int();
      const scheme = this.#field(cursor);
      const id = scheme === undefined ? undefined : this.#field(cursor);
      if (scheme === undefined || id === undefined) return false;
      if (scheme === null || id === null) throw this.#refused("an access list without a scheme or a name");
      acl.push({ perms, scheme: scheme.toString(), id: id.toString() });
    }
    this.#parts.acl(key, acl);
    return true;
  }

  #takeNode(cursor: Cursor): boolean {
    const path = this.#field(cursor);
    if (path === undefined) return false;
    if (path === null) throw this.#refused("a node without a path");
    if (path.length === END_PATH.length && path.toString("latin1") === END_PATH) {
      this.#phase = "seal";
      return true;
    }
    const data = this.#field(cursor);
    if (data === undefined || !cursor.has(8 + APACHE_STAT_BYTES)) return false;
    const key = cursor.long();
    this.#parts.node(path, data, key, cursor.bytesOf(APACHE_STAT_BYTES));
    this.#nodeCount++;
    return true;
  }

  #takeSeal(cursor: Cursor): boolean {
    if (!cursor.has(SEAL_BYTES)) return false;
    const start = cursor.at;
    this.#checkSeal(cursor.bytes, start, start);
    cursor.skip(SEAL_BYTES);
    this.#phase = "tail";
    return true;
  }

  /**
   * Compares a seal with the sum of all that comes before it, and goes behind it.
   *
   * @param unsummed from where on the bytes before the seal are not in the sum yet
   */
  #checkSeal(bytes: Buffer, at: number, unsummed: number): number {
    this.#sum.add(bytes, unsummed, at);
    const isWhole =
      bytes.readBigInt64BE(at) === BigInt(this.#sum.value) &&
      bytes.readInt32BE(at + 8) === END_PATH.length &&
      bytes.toString("latin1", at + 12, at + SEAL_BYTES) === END_PATH;
    if (!isWhole) throw this.#refused("its sum is another one: what came is not what was written");
    this.#sum.add(bytes, at, at + SEAL_BYTES);
    return at + SEAL_BYTES;
  }

  /**
   * Bytes behind their length; undefined where they are not all there, null for the protocol's
   * null.
   */
  #field(cursor: Cursor): Buffer | null | undefined {
    if (!cursor.has(4)) return undefined;
    const length = cursor.int();
    if (length === -1) return null;
    if (length < 0 || length > FIELD_BYTES_MAX) throw this.#refused(`a field of ${length} bytes`);
    return cursor.has(length) ? cursor.bytesOf(length) : undefined;
  }

  #refused(found: string): Error {
    return refused(`byte ${this.#taken}, behind ${this.#nodeCount} nodes`, found);
  }
}

/** Walks over bytes; what was asked for and is not there says how much is needed. */
class Cursor {
  readonly bytes: Buffer;
  at: number;
  /** Where the bytes have to reach to. */
  needed = 0;

  constructor(bytes: Buffer, at: number) {
    this.bytes = bytes;
    this.at = at;
  }

  has(count: number): boolean {
    this.needed = this.at + count;
    return this.needed <= this.bytes.length;
  }

  int(): number {
    this.at += 4;
    return this.bytes.readInt32BE(this.at - 4);
  }

  long(): bigint {
    this.at += 8;
    return this.bytes.readBigInt64BE(this.at - 8);
  }

  bytesOf(count: number): Buffer {
    this.at += count;
    return this.bytes.subarray(this.at - count, this.at);
  }

  skip(count: number): boolean {
    if (!this.has(count)) return false;
    this.at += count;
    return true;
  }
}
