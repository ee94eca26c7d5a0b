import { type ApacheSnapshotParts, ByteCursor, int, SnapshotBody } from "@zooid/wire/apache";
import { ApachePeerError } from "./peer-error.ts";

const SIGNATURE_TEXT = Buffer.from("BenWasHere");
/** The string that ends a snapshot in a link. */
export const SNAPSHOT_SIGNATURE: Buffer = Buffer.concat([int(SIGNATURE_TEXT.length), SIGNATURE_TEXT]);

/**
 * Takes the snapshot apart that a leader sends behind SNAP: sessions, access lists and nodes as in
 * a file, without header and sums, then the signature. It keeps no more than one node that is not
 * whole.
 */
export class SnapshotStream {
  readonly #parts: ApacheSnapshotParts;
  readonly #body: SnapshotBody;
  #pieces: Buffer[] = [];
  #waiting = 0;
  #need = 1;
  #byteCount = 0;
  #isEnded = false;

  /** @param fieldBytesMax the longest path or data that is accepted */
  constructor(parts: ApacheSnapshotParts, fieldBytesMax: number) {
    this.#parts = parts;
    this.#body = new SnapshotBody(parts, { fieldBytesMax, refuse: (found) => this.#malformed(found) });
  }

  /** Whether the signature was there. */
  get isEnded(): boolean {
    return this.#isEnded;
  }

  get nodeCount(): number {
    return this.#body.nodeCount;
  }

  /**
   * Takes the next piece.
   *
   * @returns how much of it belongs to the snapshot; the rest are packets again
   * @throws ApachePeerError MALFORMED
   */
  take(piece: Buffer): number {
    this.#byteCount += piece.length;
    this.#pieces.push(piece);
    this.#waiting += piece.length;
    if (this.#waiting < this.#need) return piece.length;
    const only = this.#pieces.length === 1 ? this.#pieces[0] : undefined;
    const bytes = only ?? Buffer.concat(this.#pieces);
    let at = 0;
    for (;;) {
      const cursor = new ByteCursor(bytes, at);
      if (!this.#takePart(cursor)) {
        this.#need = Math.max(cursor.needed - at, bytes.length - at + 1);
        break;
      }
      at = cursor.at;
      if (this.#isEnded) break;
    }
    this.#parts.rest();
    const rest = bytes.length - at;
    if (this.#isEnded) {
      this.#pieces = [];
      return piece.length - rest;
    }
    this.#waiting = rest;
    this.#pieces = rest === 0 ? [] : [bytes.subarray(at)];
    return piece.length;
  }

  #takePart(cursor: ByteCursor): boolean {
    if (!this.#body.isEnded) return this.#body.take(cursor);
    if (!cursor.has(SNAPSHOT_SIGNATURE.length)) return false;
    if (!cursor.bytesOf(SNAPSHOT_SIGNATURE.length).equals(SNAPSHOT_SIGNATURE))
      throw this.#malformed("no signature at its end");
    this.#isEnded = true;
    return true;
  }

  #malformed(found: string): ApachePeerError {
    const place = `within its first ${this.#byteCount} bytes, behind ${this.#body.nodeCount} nodes`;
    return new ApachePeerError({ code: "MALFORMED", found: `a snapshot with ${found}, ${place}` });
  }
}
