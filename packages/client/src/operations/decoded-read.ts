import type { NodeData } from "../calls/operation.ts";
import type { Codec } from "./codec.ts";

/** Data that were decoded by a codec. */
export interface Decoded<T> {
  readonly value: T;
}

/** Adds the decoded data; errors of the codec have the path, which a parser's message lacks. */
export async function readDecoded<T>(
  path: string,
  codec: Codec<T>,
  read: Promise<NodeData>,
): Promise<NodeData & Decoded<T>> {
  const node = await read;
  try {
    return { ...node, value: codec.decode(node.data) };
  } catch (error) {
    if (error instanceof Error) error.message = `get ${path}: ${error.message}`;
    throw error;
  }
}
