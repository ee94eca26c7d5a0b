import { formatZxid, keepCode, type Stat, type Zxid } from "@zooid/model";
import type { Codec } from "./codec.ts";

/** A node's data that a codec refuses. `cause` is the codec's error. */
export class DecodeError extends Error {
  override readonly name = "DecodeError";
  readonly code = "UNDECODABLE";
  /** The path as the caller gave it. */
  readonly path: string;
  /** The transaction that wrote the data. */
  readonly zxid: Zxid;
  readonly data: Uint8Array | null;

  constructor(node: { readonly path: string; readonly data: Uint8Array | null; readonly stat: Stat }, cause: unknown) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    super(`${node.path}: the data written by ${formatZxid(node.stat.mzxid)} cannot be decoded: ${reason}`, { cause });
    this.path = node.path;
    this.zxid = node.stat.mzxid;
    this.data = node.data;
    keepCode(this, this.code);
  }
}

/** @throws DecodeError for what the codec refuses */
export function decoded<T>(
  codec: Codec<T>,
  node: { readonly path: string; readonly data: Uint8Array | null; readonly stat: Stat },
): T {
  try {
    return codec.decode(node.data);
  } catch (error) {
    throw new DecodeError(node, error);
  }
}
