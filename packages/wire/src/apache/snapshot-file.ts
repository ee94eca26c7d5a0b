import {
  Adler32,
  APACHE_HEADER_BYTES,
  APACHE_MAGIC,
  APACHE_VERSION,
  DIGEST_BYTES,
  END_PATH,
  LAST_ZXID_BYTES,
  SEAL_BYTES,
} from "./apache-format.ts";
import { ByteCursor } from "./byte-cursor.ts";
import { type ApacheSnapshotParts, SnapshotBody } from "./snapshot-body.ts";

/** No node has longer data: the limit is well above what a server can be configured to accept. */
const FIELD_BYTES_MAX = 256 * 1024 * 1024;
/** The bytes behind the first seal are few. */
const TAIL_BYTES_MAX = 1024;
const GZIP = 0x1f8b;

type Phase = "header" | "body" | "seal" | "tail";

/**
 * Takes a file of Apache's snapshots apart as it comes, in pieces of any size, keeping no more than
 * one node of it. Whatever is not a whole snapshot is refused, with the place.
 */
export class SnapshotFile {
  readonly #parts: ApacheSnapshotParts;
  readonly #refuse: (place: string, found: string) => Error;
  readonly #body: SnapshotBody;
  readonly #sum = new Adler32();
  /** The pieces that are not taken apart yet. */
  #pieces: Buffer[] = [];
  #waiting = 0;
  /** How much has to be there before the next part can be whole. */
  #need = APACHE_HEADER_BYTES;
  /** How much was taken apart, for messages. */
  #taken = 0;
  #phase: Phase = "header";

  /** @param refuse makes the error that is thrown for bytes that are no snapshot */
  constructor(parts: ApacheSnapshotParts, refuse: (place: string, found: string) => Error) {
    this.#parts = parts;
    this.#refuse = refuse;
    this.#body = new SnapshotBody(parts, {
      fieldBytesMax: FIELD_BYTES_MAX,
      refuse: (found) => this.#refused(found),
    });
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
    return this.#body.nodeCount;
  }

  #takeApart(): void {
    const only = this.#pieces.length === 1 ? this.#pieces[0] : undefined;
    const bytes = only ?? Buffer.concat(this.#pieces);
    let at = 0;
    while (this.#phase !== "tail") {
      const cursor = new ByteCursor(bytes, at);
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
  #takePart(cursor: ByteCursor): boolean {
    switch (this.#phase) {
      case "header":
        return this.#takeHeader(cursor);
      case "body": {
        const isTaken = this.#body.take(cursor);
        if (this.#body.isEnded) this.#phase = "seal";
        return isTaken;
      }
      case "seal":
        return this.#takeSeal(cursor);
      case "tail":
        return false;
    }
  }

  #takeHeader(cursor: ByteCursor): boolean {
    if (!cursor.has(APACHE_HEADER_BYTES)) return false;
    const magic = cursor.int() >>> 0;
    const version = cursor.int();
    cursor.long();
    if (magic >>> 16 === GZIP) throw this.#refused("it is compressed by gzip; send what gunzip makes of it");
    if (magic !== APACHE_MAGIC) throw this.#refused("it is no snapshot of Apache ZooKeeper's");
    if (version !== APACHE_VERSION) throw this.#refused(`it has version ${version}, where ${APACHE_VERSION} is known`);
    this.#phase = "body";
    return true;
  }

  #takeSeal(cursor: ByteCursor): boolean {
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

  #refused(found: string): Error {
    return this.#refuse(`byte ${this.#taken}, behind ${this.nodeCount} nodes`, found);
  }
}
