import { createReadStream } from "node:fs";
import { pipeline } from "node:stream/promises";
import { createGunzip } from "node:zlib";
import { StoreError } from "@zooid/txn-log";
import { ApacheSnapshotDecoder, type ApacheSnapshotParts } from "@zooid/txn-log/sqlite";
import { OfflineError } from "../offline-error.ts";
import { SnappyError, unpackSnappy } from "./snappy-stream.ts";

const READ_BYTES = 1024 * 1024;

/**
 * Reads a snapshot of Apache's, by gzip or snappy where its name says so.
 *
 * @param bytesMax of a compressed one, unpacked: it could be a bomb
 * @returns the last transaction's zxid; undefined before version 3.9
 * @throws StoreError DAMAGED, OfflineError where it unpacks to more
 */
export async function readSnapshot(
  file: string,
  parts: ApacheSnapshotParts,
  bytesMax: number,
): Promise<bigint | undefined> {
  const decoder = new ApacheSnapshotDecoder(parts);
  let last: bigint | undefined;
  const decode = async (pieces: AsyncIterable<Buffer>): Promise<void> => {
    for await (const piece of pieces) decoder.add(piece);
    last = decoder.end();
  };
  const bounded = (pieces: AsyncIterable<Buffer>): AsyncIterable<Buffer> => upTo(bytesMax, pieces, file);
  const source = createReadStream(file, { highWaterMark: READ_BYTES });
  try {
    if (file.endsWith(".gz")) await pipeline(source, createGunzip(), bounded, decode);
    else if (file.endsWith(".snappy")) await pipeline(source, unpackSnappy, bounded, decode);
    else await pipeline(source, decode);
    return last;
  } catch (cause) {
    if (cause instanceof StoreError) throw damagedBy(file, cause);
    if (!isPackingError(cause)) throw cause;
    throw new StoreError({ code: "DAMAGED", file, place: "its compressed form", found: cause.message }, { cause });
  }
}

/** The greatest size that a tree can be unpacked to. */
export function memoryLeft(): number {
  return process.availableMemory();
}

/** A snapshot that was refused is a damaged file here. */
export function damagedBy(file: string, cause: StoreError): StoreError {
  const { detail } = cause;
  if (detail.code !== "SNAPSHOT_REFUSED") return cause;
  return new StoreError({ code: "DAMAGED", file, place: detail.place, found: detail.found }, { cause });
}

async function* upTo(
  bytesMax: number,
  pieces: AsyncIterable<Buffer>,
  file: string,
): AsyncGenerator<Buffer, void, undefined> {
  let left = bytesMax;
  for await (const piece of pieces) {
    left -= piece.length;
    if (left < 0) throw new OfflineError([`${file} unpacks to more than the memory that is left, ${bytesMax} bytes`]);
    yield piece;
  }
}

function isPackingError(cause: unknown): cause is Error {
  if (cause instanceof SnappyError) return true;
  return cause instanceof Error && "code" in cause && String(cause.code).startsWith("Z_");
}
