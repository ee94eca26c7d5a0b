import { errorName, OpCode, type Stat } from "@zooid/model";
import { type PartResult, writePathAndWatch } from "@zooid/wire";
import type { CallOptions } from "../calls/call.ts";
import { MULTI_READ, type TransactionPart } from "../calls/operation.ts";
import { type FailedOp, unreadableError, zkError } from "../errors.ts";
import { CALL, checkOptions } from "./option-shapes.ts";
import { checkedPath, underRoot } from "./paths.ts";
import type { ViewPlace } from "./view-place.ts";

/** The result of one read of a batch: its value, or its error. */
export type ReadResult<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly code: FailedOp["code"]; readonly path: string };

/** A node's data and Stat. */
export interface ReadNode {
  readonly data: Uint8Array | null;
  readonly stat: Stat;
}

/**
 * Several reads in one request, built step by step; all of them see the same state, and each may
 * fail alone. The type parameter grows with each step, so `run` gives each step's result its
 * own type.
 */
export class ReadBatch<R extends readonly unknown[] = []> {
  readonly #place: ViewPlace;
  readonly #parts: TransactionPart[] = [];

  /** @internal `client.reads()` makes one */
  constructor(place: ViewPlace) {
    this.#place = place;
  }

  get(path: string): ReadBatch<[...R, ReadResult<ReadNode>]> {
    return this.#add(OpCode.GET_DATA, "get", path);
  }

  /** The names of the children, unordered. */
  children(path: string): ReadBatch<[...R, ReadResult<readonly string[]>]> {
    return this.#add(OpCode.GET_CHILDREN, "children", path);
  }

  /** @returns one result for each step, in order */
  async run(options?: CallOptions): Promise<R> {
    checkOptions("reads", undefined, options, CALL);
    const parts = this.#parts;
    if (parts.length === 0) {
      const message = "reads: there is nothing in it";
      throw zkError({ code: "BAD_ARGUMENTS", op: "reads", outcome: "not-sent", message });
    }
    const shownPath = parts[0]?.path ?? "/";
    const { driver, view } = this.#place;
    const call = { operation: MULTI_READ, path: "/", shownPath, body: [...parts], options: view.limitsOf(options) };
    const results = await view.ask(driver, call);
    if (results.length !== parts.length) throw unreadableError("reads", shownPath);
    const values = results.map((result, i) => resultOf(result, parts[i]?.path ?? "/"));
    // The server answers the steps in order, and the type was built in the same order.
    return values as unknown as R;
  }

  #add<T>(code: number, name: string, path: string): ReadBatch<[...R, ReadResult<T>]> {
    const full = underRoot(this.#place.root, checkedPath(path, name));
    this.#parts.push({ code, name, path, fullPath: full, write: (writer) => writePathAndWatch(writer, full, false) });
    // The same builder with one more step in its type.
    return this as unknown as ReadBatch<[...R, ReadResult<T>]>;
  }
}

function resultOf(result: PartResult, path: string): ReadResult<unknown> {
  switch (result.op) {
    case "error":
      return { ok: false, code: errorName(result.code), path };
    case "data":
      return { ok: true, value: { data: result.data, stat: result.stat } };
    case "children":
      return { ok: true, value: result.names };
    default:
      throw unreadableError("reads", path);
  }
}
