import type { Stat } from "@zooid/model";
import type { Observable, OperatorFunction } from "rxjs";
import type { NodeData } from "../calls/operation.ts";
import type { Codec } from "../operations/codec.ts";
import { DecodeError } from "../operations/decode-error.ts";
import type { Observed } from "./observe.ts";
import { rxjs } from "./rxjs-module.ts";

/**
 * One state of an observed node. `fresh` is true while the client knows of no later change and is
 * connected.
 */
export type ObservedNode<T> =
  | {
      readonly exists: true;
      readonly value: T;
      readonly data: Uint8Array | null;
      readonly stat: Stat;
      readonly fresh: boolean;
    }
  | { readonly exists: false; readonly fresh: boolean };

export interface DecodeOptions<T> {
  /** Converts the payload to `value`. Default: `value` is the payload. */
  readonly codec?: Codec<T>;
  /**
   * Replacement for a payload that the codec refuses. What it throws fails the stream. Without it
   * the payload is left out and logged as a warning, and the stream continues with the next one.
   */
  readonly onDecodeError?: (error: DecodeError, node: NodeData) => T;
  /** `content` also suppresses a rewrite of equal bytes. Default `change`. */
  readonly distinct?: "change" | "content";
}

/** @param leftOut is called with what was refused and has no replacement */
export function decodeNodes<T>(
  path: string,
  options: DecodeOptions<T>,
  leftOut: (error: DecodeError) => void,
): OperatorFunction<Observed<NodeData>, ObservedNode<T>> {
  const { map, filter, pipe } = rxjs();
  const decode = pipe(
    map((observed: Observed<NodeData>) => nodeOf(path, observed, options, leftOut)),
    filter((node) => node !== undefined),
  );
  return options.distinct === "content" ? pipe(onlyNewContent, decode) : decode;
}

function onlyNewContent(source: Observable<Observed<NodeData>>): Observable<Observed<NodeData>> {
  return source.pipe(rxjs().distinctUntilChanged((a, b) => isSameContent(a.value, b.value)));
}

function isSameContent(a: NodeData | null, b: NodeData | null): boolean {
  if (a === null || b === null) return a === b;
  if (a.data === null || b.data === null) return a.data === b.data;
  return Buffer.from(a.data).equals(b.data);
}

function nodeOf<T>(
  path: string,
  observed: Observed<NodeData>,
  { codec, onDecodeError }: DecodeOptions<T>,
  leftOut: (error: DecodeError) => void,
): ObservedNode<T> | undefined {
  const { value: node } = observed;
  if (node === null) return new Absence(observed);
  // Without a codec T is its default, the payload itself.
  if (codec === undefined) return new Presence(node.data as T, node, observed);
  let value: T;
  try {
    value = codec.decode(node.data);
  } catch (cause) {
    const error = new DecodeError({ path, ...node }, cause);
    if (onDecodeError === undefined) {
      leftOut(error);
      return undefined;
    }
    value = onDecodeError(error, node);
  }
  return new Presence(value, node, observed);
}

class Presence<T> {
  readonly exists = true;
  readonly value: T;
  readonly data: Uint8Array | null;
  readonly stat: Stat;
  readonly #observed: Observed<NodeData>;

  constructor(value: T, { data, stat }: NodeData, observed: Observed<NodeData>) {
    this.value = value;
    this.data = data;
    this.stat = stat;
    this.#observed = observed;
  }

  get fresh(): boolean {
    return this.#observed.isFresh();
  }
}

class Absence {
  readonly exists = false;
  readonly #observed: Observed<NodeData>;

  constructor(observed: Observed<NodeData>) {
    this.#observed = observed;
  }

  get fresh(): boolean {
    return this.#observed.isFresh();
  }
}
