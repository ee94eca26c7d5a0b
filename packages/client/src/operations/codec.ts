import { gunzipSync, gzipSync } from "node:zlib";
import { ArgumentError, checkArgument, found, hasMethods, type Rule, rules, wholeNumberRule } from "@zooid/model";
import { type StandardSchema, validated } from "./standard-schema.ts";

/** Converts payloads to values and back. */
export interface Codec<T> {
  encode(value: T): Uint8Array;
  /** Throws if the bytes are no such value. */
  decode(bytes: Uint8Array | null): T;
}

/** Those of arktype are functions. */
const schemaRule: Rule = {
  expected: "a schema that implements Standard Schema, as those of zod, valibot and arktype do",
  accepts: (value) =>
    (typeof value === "function" || rules.record.accepts(value)) &&
    hasMethods((value as Readonly<Record<string, unknown>>)["~standard"], ["validate"]),
};

/** JSON in UTF-8. The type is not checked. */
export function json<T>(): Codec<T>;
/**
 * JSON in UTF-8 that a schema accepts: any that implements Standard Schema, as those of zod,
 * valibot and arktype do. Values are checked where they are read; a schema with defaults or
 * transformations applies them.
 */
export function json<T>(schema: StandardSchema<T>): Codec<T>;
export function json<T>(schema?: StandardSchema<T>): Codec<T> {
  if (schema !== undefined) checkArgument("json", "the schema", schema, schemaRule);
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
  const encoded = jsonText(value);
  if (encoded === undefined)
    throw new ArgumentError("json", [`a value that JSON can have was expected, found ${found(value)}`]);
  return Buffer.from(encoded);
}

/**
 * Undefined for what JSON does not have. @throws ArgumentError for a bigint, and for an object that
 * is in itself
 */
function jsonText(value: unknown): string | undefined {
  try {
    return JSON.stringify(value);
  } catch (cause) {
    throw new ArgumentError("json", [`the value cannot be written as JSON: ${String(cause)}`], { cause });
  }
}

/** UTF-8; null and empty payloads both decode to the empty string. */
export const text: Codec<string> = {
  encode: (value) => {
    checkArgument("text", "the value", value, rules.text);
    return Buffer.from(value);
  },
  decode: textOf,
};

// Bytes that are no text are no value: characters in their place would be written back as data.
const plainDecoder = new TextDecoder("utf-8", { fatal: true });
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

function textOf(bytes: Uint8Array | null): string {
  checkArgument("decode", "the data", bytes, rules.bytesOrNull);
  return bytes === null ? "" : decoder.decode(bytes);
}

/** The bytes themselves; null decodes to an empty array. */
export const raw: Codec<Uint8Array> = {
  encode: (value) => {
    checkArgument("raw", "the value", value, rules.bytes);
    return value;
  },
  decode: (bytes) => {
    checkArgument("decode", "the data", bytes, rules.bytesOrNull);
    return bytes ?? new Uint8Array();
  },
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
  checkArgument("gzip", "the inner codec", inner, rules.codec);
  checkArgument("gzip", "unpackedBytesMax", unpackedBytesMax, wholeNumberRule(1, Number.MAX_SAFE_INTEGER));
  return {
    encode: (value) => gzipSync(inner.encode(value)),
    // An empty payload stays empty.
    decode: (bytes) => {
      checkArgument("decode", "the data", bytes, rules.bytesOrNull);
      const isEmpty = bytes === null || bytes.length === 0;
      return inner.decode(isEmpty ? bytes : gunzipSync(bytes, { maxOutputLength: unpackedBytesMax }));
    },
  };
}
