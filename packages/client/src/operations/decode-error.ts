import { ArgumentError, errorJson, formatZxid, keepCode, type Stat, type Zxid } from "@zooid/model";
import type { Codec } from "./codec.ts";

const REASON_CHARS_MAX = 1024;

/** A node's data that a codec refuses. `cause` is the codec's error. */
export class DecodeError extends Error {
  override readonly name = "DecodeError";
  readonly code = "UNDECODABLE";
  /** The path as the caller gave it. */
  readonly path: string;
  /** The transaction that wrote the data. */
  readonly zxid: Zxid;
  readonly #data: Uint8Array | null;

  constructor(node: { readonly path: string; readonly data: Uint8Array | null; readonly stat: Stat }, cause: unknown) {
    if (typeof node?.stat?.mzxid !== "number")
      throw new ArgumentError("DecodeError", ["a node with path, data and stat was expected"]);
    const reason = shortened(cause instanceof Error ? cause.message : String(cause));
    super(`${node.path}: the data written by ${formatZxid(node.stat.mzxid)} cannot be decoded: ${reason}`, { cause });
    this.path = node.path;
    this.zxid = node.stat.mzxid;
    this.#data = node.data;
    keepCode(this, this.code);
  }

  /**
   * The whole data. Loggers that write all fields of an error leave it out, because it may have
   * megabytes.
   */
  get data(): Uint8Array | null {
    return this.#data;
  }

  /** As JSON, in a bounded size, with a preview of the data; see `errorJson`. */
  toJSON(): object {
    return errorJson(this, { data: this.#data });
  }
}

/** A codec may quote the data, whose size is that of the node. */
function shortened(reason: string): string {
  return reason.length <= REASON_CHARS_MAX ? reason : `${reason.slice(0, REASON_CHARS_MAX)}…`;
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
