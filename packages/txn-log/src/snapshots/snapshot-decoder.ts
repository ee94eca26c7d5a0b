import { crc32 } from "node:zlib";
import type { StateSession } from "../state/state-store.ts";
import {
  decodeHeader,
  decodeTrailer,
  isLastChunk,
  openChunk,
  RECORD_BYTES_MAX,
  RECORD_HEADER_BYTES,
  refused,
  SESSION_RECORD_BYTES,
  SNAPSHOT_MAGIC,
  type SnapshotHeader,
  SnapshotRecord,
} from "./snapshot-format.ts";

/**
 * The parts of a snapshot, in the order of the stream. Bytes are lent for the call, rows until the
 * chunk's {@link rest}.
 */
export interface SnapshotParts {
  header(header: SnapshotHeader): void;
  session(session: Readonly<StateSession>): void;
  /** Numbered from 1 in the order they come. */
  acl(id: number, content: string): void;
  /** A row as a state file keeps it, its sum not yet checked. */
  node(row: Buffer): void;
  /** A chunk's records are done with. */
  rest(): void;
}

/** Takes a snapshot's chunks apart. Whatever is not a whole snapshot is refused, with the place. */
export class SnapshotDecoder {
  readonly #parts: SnapshotParts;
  #index = 0;
  /** A record's beginning, until the chunk with its end comes. */
  #pending: Buffer = NO_BYTES;
  #sum = 0;
  #header: SnapshotHeader | undefined;
  #hasMagic = false;
  #isComplete = false;
  #aclCount = 0;
  #nodeCount = 0;
  #sessionCount = 0;

  constructor(parts: SnapshotParts) {
    this.#parts = parts;
  }

  /** The chunk is the caller's again afterwards. */
  add(chunk: Buffer): void {
    if (this.#isComplete) throw refused(`chunk ${this.#index}`, "the last one came before it");
    const piece = openChunk(chunk, this.#index);
    const bytes = this.#pending.length === 0 ? piece : Buffer.concat([this.#pending, piece]);
    const end = this.#records(bytes);
    this.#sum = crc32(bytes.subarray(0, end), this.#sum);
    this.#parts.rest();
    this.#pending = Buffer.from(bytes.subarray(end));
    if (isLastChunk(chunk) !== this.#isComplete) {
      throw refused(
        `chunk ${this.#index}`,
        this.#isComplete ? "the trailer comes early" : "it ends without its trailer",
      );
    }
    this.#index++;
  }

  /** After the last chunk: what the snapshot said of itself. */
  end(): SnapshotHeader {
    if (this.#header === undefined || !this.#isComplete) {
      throw refused(`chunk ${this.#index}`, "nothing more came, and the last one was not among what came");
    }
    return this.#header;
  }

  /** Hands over every record that is whole; returns where the first one begins that is not. */
  #records(bytes: Buffer): number {
    let at = this.#hasMagic ? 0 : this.#magic(bytes);
    while (bytes.length - at >= RECORD_HEADER_BYTES) {
      const kind = bytes.readUInt8(at);
      const length = bytes.readUInt32BE(at + 1);
      if (length > RECORD_BYTES_MAX) throw refused(`chunk ${this.#index}`, `a record of ${length} bytes`);
      const start = at + RECORD_HEADER_BYTES;
      const end = start + length;
      if (end > bytes.length) break;
      if (kind === SnapshotRecord.TRAILER) {
        this.#trailer(bytes, at, start, end);
        return end;
      }
      this.#record(kind, bytes.subarray(start, end));
      at = end;
    }
    return at;
  }

  #magic(bytes: Buffer): number {
    const { length } = SNAPSHOT_MAGIC;
    if (bytes.toString("latin1", 0, length) !== SNAPSHOT_MAGIC) throw refused("chunk 0", "it is no snapshot");
    this.#hasMagic = true;
    return length;
  }

  #record(kind: number, body: Buffer): void {
    if ((kind === SnapshotRecord.HEADER) !== (this.#header === undefined)) throw this.#misplaced(kind);
    switch (kind) {
      case SnapshotRecord.HEADER:
        this.#header = decodeHeader(body);
        return this.#parts.header(this.#header);
      case SnapshotRecord.SESSION:
        if (body.length < SESSION_RECORD_BYTES || this.#aclCount > 0) throw this.#misplaced(kind);
        this.#sessionCount++;
        return this.#parts.session({
          idHigh: body.readInt32BE(0),
          idLow: body.readInt32BE(4),
          timeoutMs: body.readUInt32BE(8),
          passwordHash: body.subarray(SESSION_RECORD_BYTES),
        });
      case SnapshotRecord.ACL:
        return this.#parts.acl(++this.#aclCount, body.toString());
      case SnapshotRecord.NODE:
        this.#nodeCount++;
        return this.#parts.node(body);
      default:
        throw this.#misplaced(kind);
    }
  }

  #trailer(bytes: Buffer, at: number, start: number, end: number): void {
    const header = this.#header;
    if (header === undefined) throw this.#misplaced(SnapshotRecord.TRAILER);
    const trailer = decodeTrailer(bytes.subarray(start, end));
    const sum = crc32(bytes.subarray(0, at), this.#sum);
    if (sum !== trailer.sum) throw refused("its trailer", "the sum over all that came is another one");
    expectCount("nodes", this.#nodeCount, [header.nodeCount, trailer.nodeCount]);
    expectCount("sessions", this.#sessionCount, [header.sessionCount, trailer.sessionCount]);
    if (header.digestHigh !== trailer.digestHigh || header.digestLow !== trailer.digestLow) {
      throw refused("its trailer", "the digest is not the header's");
    }
    if (end !== bytes.length) throw refused("its trailer", `${bytes.length - end} bytes follow`);
    this.#isComplete = true;
  }

  #misplaced(kind: number): Error {
    return refused(`chunk ${this.#index}`, `a record of kind ${kind} where it does not belong`);
  }
}

const NO_BYTES = Buffer.alloc(0);

function expectCount(what: string, found: number, expected: readonly number[]): void {
  for (const each of expected) {
    if (each !== found) throw refused("its trailer", `${found} ${what} came, not ${each}`);
  }
}
