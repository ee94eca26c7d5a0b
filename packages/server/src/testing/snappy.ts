import { compress } from "snappyjs";

const BLOCK_BYTES = 32 * 1024;
export const SNAPPY_HEADER: Buffer = Buffer.concat([
  Buffer.from("\x82SNAPPY\0", "latin1"),
  Buffer.from([0, 0, 0, 1, 0, 0, 0, 1]),
]);

/** A block of a stream, behind its length. */
export function snappyBlock(bytes: Buffer): Buffer {
  const block = compress(bytes);
  const length = Buffer.alloc(4);
  length.writeInt32BE(block.length);
  return Buffer.concat([length, block]);
}

/** A stream as snappy-java writes it. */
export function snappyStream(bytes: Buffer): Buffer {
  const parts = [SNAPPY_HEADER];
  for (let at = 0; at < bytes.length; at += BLOCK_BYTES) parts.push(snappyBlock(bytes.subarray(at, at + BLOCK_BYTES)));
  return Buffer.concat(parts);
}
