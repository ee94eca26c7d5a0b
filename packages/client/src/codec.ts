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
