import type { NodeData } from "../calls/operation.ts";
import type { Codec } from "./codec.ts";
import { decoded } from "./decode-error.ts";

/** Data that were decoded by a codec. */
export interface Decoded<T> {
  readonly value: T;
}

/** Adds the decoded data. @throws DecodeError */
export async function readDecoded<T>(
  path: string,
  codec: Codec<T>,
  read: Promise<NodeData>,
): Promise<NodeData & Decoded<T>> {
  const node = await read;
  return { ...node, value: decoded(codec, { path, ...node }) };
}
