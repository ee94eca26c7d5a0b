/** Integers in Curator's format: big-endian, in four or eight bytes. */
import type { Codec } from "@zooid/client";
import { RecipeError } from "../recipe-error.ts";

function bytesOf(bytes: Uint8Array | null, length: number): DataView {
  if (bytes?.length === length) return new DataView(bytes.buffer, bytes.byteOffset, length);
  const found = bytes === null ? "nothing" : `${bytes.length}`;
  throw new RecipeError("NOT_OURS", `a number of ${length} bytes was expected, found ${found}`);
}

export const int32: Codec<number> = {
  encode(value) {
    const bytes = new Uint8Array(4);
    new DataView(bytes.buffer).setInt32(0, value);
    return bytes;
  },
  decode: (bytes) => bytesOf(bytes, 4).getInt32(0),
};

export const int64: Codec<bigint> = {
  encode(value) {
    const bytes = new Uint8Array(8);
    new DataView(bytes.buffer).setBigInt64(0, value);
    return bytes;
  },
  decode: (bytes) => bytesOf(bytes, 8).getBigInt64(0),
};
