import { uncompress } from "snappyjs";

/**
 * The stream that Java programs write with the library snappy-java, Apache ZooKeeper's among them:
 *
 * ```
 *  header  0x82 "SNAPPY" 0 · version i32 · least version that reads it i32
 *  block   length i32 · a block of Snappy's raw format
 * ```
 *
 * Where files were joined, a header may follow a block.
 */
const MAGIC = Buffer.from([0x82, 0x53, 0x4e, 0x41, 0x50, 0x50, 0x59, 0]);
const HEADER_BYTES = MAGIC.length + 8;
const VERSION = 1;
const LENGTH_BYTES = 4;
/** The longest block, packed or not. The library writes blocks of 32 KiB. */
const BLOCK_BYTES_MAX = 1024 * 1024;

/** Bytes are no stream of Snappy's; the message says where. */
export class SnappyError extends Error {
  override readonly name = "SnappyError";
}

/**
 * Unpacks a stream, block by block.
 *
 * @throws SnappyError
 */
export async function* unpackSnappy(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer, void, undefined> {
  let waiting: Buffer = Buffer.alloc(0);
  let at = 0;
  for await (const piece of source) {
    waiting = waiting.length === 0 ? piece : Buffer.concat([waiting, piece]);
    for (let length = partLength(waiting, at); length <= waiting.length; length = partLength(waiting, at)) {
      const part = waiting.subarray(0, length);
      if (isHeader(part, at)) checkHeader(part, at);
      else yield unpacked(part.subarray(LENGTH_BYTES), at);
      waiting = waiting.subarray(length);
      at += length;
    }
  }
  if (waiting.length > 0 || at === 0) throw new SnappyError(`it ends within what begins at byte ${at}`);
}

/** How many bytes have to be there before the next part, or its length, can be taken. */
function partLength(bytes: Buffer, at: number): number {
  if (isHeader(bytes, at)) return HEADER_BYTES;
  if (bytes.length < LENGTH_BYTES) return LENGTH_BYTES;
  const length = bytes.readInt32BE(0);
  if (length < 0 || length > BLOCK_BYTES_MAX) throw new SnappyError(`a block of ${length} bytes at byte ${at}`);
  return LENGTH_BYTES + length;
}

/** Before a block there is a length, whose first byte is another one. */
function isHeader(bytes: Buffer, at: number): boolean {
  return at === 0 || bytes[0] === MAGIC[0];
}

function checkHeader(header: Buffer, at: number): void {
  if (!header.subarray(0, MAGIC.length).equals(MAGIC)) throw new SnappyError(`no header of snappy-java at byte ${at}`);
  const least = header.readInt32BE(MAGIC.length + 4);
  if (least > VERSION) throw new SnappyError(`version ${least} at byte ${at}, where ${VERSION} is known`);
}

function unpacked(block: Buffer, at: number): Buffer {
  try {
    return uncompress(block, BLOCK_BYTES_MAX);
  } catch (cause) {
    throw new SnappyError(`no block at byte ${at}: ${cause instanceof Error ? cause.message : cause}`, { cause });
  }
}
