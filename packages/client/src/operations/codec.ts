import { gunzipSync, gzipSync } from "node:zlib";
import { ArgumentError, found } from "@zooid/model";
import { type StandardSchema, validated } from "./standard-schema.ts";

/** Converts payloads to values and back. */
export interface Codec<T> {
  encode(value: T): Uint8Array;
  /** Throws if the bytes are no such value. */
  decode(bytes: Uint8Array | null): T;
}

/** JSON in UTF-8. The type is not checked. */
export function json<T>(): Codec<T>;
/**
 * JSON in UTF-8 that a schema accepts: any that implements Standard Schema, as those of zod, valibot and
 * arktype do. Values are checked where they are read; a schema with defaults or transformations applies them.
 */
export function json<T>(schema: StandardSchema<T>): Codec<T>;
export function json<T>(schema?: StandardSchema<T>): Codec<T> {
  return {
    encode: encodedJson,
    decode: (bytes) => {
      // A byte order mark is no part of JSON.
      const value: unknown = JSON.parse(bytes === null ? "" : plainDecoder.decode(bytes));
      return schema === undefined ? (value as T) : validated(schema, value);
    },
  };
}

function encodedJson(value: unknown): Uint8Array {
  const encoded: string | undefined = JSON.stringify(value);
  if (encoded === undefined)
    throw new ArgumentError("json", [`a value that JSON can have was expected, found ${found(value)}`]);
  return Buffer.from(encoded);
}

/** UTF-8; null and empty payloads both decode to the empty string. */
export const text: Codec<string> = {
  encode: (value) => Buffer.from(value),
  decode: textOf,
};

const plainDecoder = new TextDecoder();
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

function textOf(bytes: Uint8Array | null): string {
  return bytes === null ? "" : decoder.decode(bytes);
}

/** The bytes themselves; null decodes to an empty array. */
export const raw: Codec<Uint8Array> = {
  encode: (value) => value,
  decode: (bytes) => bytes ?? new Uint8Array(),
};

const UNPACKED_BYTES_MAX = 64 * 1024 * 1024;

/** Bytes compressed with gzip, compatible with Curator's clients. */
export function gzip(): Codec<Uint8Array>;
/**
 * Values compressed with gzip.
 *
 * @param inner codec of the uncompressed payload
 * @param unpackedBytesMax limit of the uncompressed size: a small payload can expand to a large
 *   one. Default 64 MiB
 */
export function gzip<T>(inner: Codec<T>, unpackedBytesMax?: number): Codec<T>;
export function gzip(inner: Codec<unknown> = raw, unpackedBytesMax: number = UNPACKED_BYTES_MAX): Codec<unknown> {
  return {
    encode: (value) => gzipSync(inner.encode(value)),
    // An empty payload stays empty.
    decode: (bytes) =>
      inner.decode(
        bytes === null || bytes.length === 0 ? bytes : gunzipSync(bytes, { maxOutputLength: unpackedBytesMax }),
      ),
  };
}
