import { gunzipSync, gzipSync } from "node:zlib";

/** Payloads to values and back. */
export interface Codec<T> {
  encode(value: T): Uint8Array;
  /** Throws where the bytes are no such value. */
  decode(bytes: Uint8Array | null): T;
}

/** JSON in UTF-8. The type is the caller's claim: nothing checks it. */
export function json<T>(): Codec<T> {
  return {
    encode: (value) => Buffer.from(JSON.stringify(value)),
    decode: (bytes) => JSON.parse(textOf(bytes)) as T,
  };
}

/** UTF-8; null and empty payloads are both the empty text. */
export const text: Codec<string> = {
  encode: (value) => Buffer.from(value),
  decode: textOf,
};

const decoder = new TextDecoder();

function textOf(bytes: Uint8Array | null): string {
  return bytes === null ? "" : decoder.decode(bytes);
}

/** The bytes themselves; null is taken for none. */
export const raw: Codec<Uint8Array> = {
  encode: (value) => value,
  decode: (bytes) => bytes ?? new Uint8Array(),
};

const UNPACKED_BYTES_MAX = 64 * 1024 * 1024;

/** Bytes, compressed by gzip, as Curator's clients do: theirs can read ours and the other way round. */
export function gzip(): Codec<Uint8Array>;
/**
 * Values, compressed by gzip.
 *
 * @param inner what is compressed
 * @param unpackedBytesMax of what is unpacked: small payloads can hide large ones. Default 64 MiB
 */
export function gzip<T>(inner: Codec<T>, unpackedBytesMax?: number): Codec<T>;
export function gzip(inner: Codec<unknown> = raw, unpackedBytesMax: number = UNPACKED_BYTES_MAX): Codec<unknown> {
  return {
    encode: (value) => gzipSync(inner.encode(value)),
    // Nothing, compressed or not, is nothing.
    decode: (bytes) =>
      inner.decode(
        bytes === null || bytes.length === 0 ? bytes : gunzipSync(bytes, { maxOutputLength: unpackedBytesMax }),
      ),
  };
}
