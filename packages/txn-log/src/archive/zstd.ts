// Named imports would keep older versions of Node.js from loading this module.
import zlib from "node:zlib";

/** Whether this Node.js has zstd: from 22.15 and 23.8 on. */
export const hasZstd: boolean = typeof zlib.zstdCompressSync === "function";

/**
 * Three times as fast as the default level, and a tenth larger. Faster levels spare little: their
 * larger results take longer to sum and to write.
 */
const LEVEL = 1;

/** With a checksum of the content, which {@link unpacked} compares. */
export function packed(bytes: Uint8Array): Buffer {
  const { ZSTD_c_compressionLevel, ZSTD_c_checksumFlag } = zlib.constants;
  const params = { [ZSTD_c_compressionLevel]: LEVEL, [ZSTD_c_checksumFlag]: 1 };
  // The result keeps the memory of its chunk, which is 64 KiB by default.
  return zlib.zstdCompressSync(bytes, { params, chunkSize: packedBytesMax(bytes.length) });
}

/** As zstd's own bound. */
function packedBytesMax(length: number): number {
  return length + (length >> 8) + 128;
}

/** @returns why the bytes are none that {@link packed} made of this length, or the content */
export function unpacked(bytes: Uint8Array, length: number): Buffer | string {
  try {
    const content = zlib.zstdDecompressSync(bytes, { maxOutputLength: Math.max(1, length) });
    return content.length === length ? content : `${content.length} bytes, not ${length}`;
  } catch (cause) {
    if (cause instanceof RangeError) return `more than ${length} bytes`;
    if (cause instanceof Error && "code" in cause && /^Z(STD)?_/.test(String(cause.code))) return cause.message;
    throw cause;
  }
}
