/** Streams of states emit no value twice in a row. */
import type { ObservedNode } from "@zooid/client";
import { distinctUntilChanged, type MonoTypeOperatorFunction } from "rxjs";

export function isSameBytes(a: Uint8Array | null, b: Uint8Array | null): boolean {
  if (a === null || b === null) return a === b;
  return Buffer.compare(a, b) === 0;
}

export function isSameNames(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((name, i) => name === b[i]);
}

/** Leaves out a node with the data of the one before, as after a connection or an equal write. */
export function distinctData<T>(): MonoTypeOperatorFunction<ObservedNode<T>> {
  return distinctUntilChanged((a, b) => (a.exists && b.exists ? isSameBytes(a.data, b.data) : a.exists === b.exists));
}

/** Leaves out a node that has not been written since, as after a connection. */
export function distinctWrites<T>(): MonoTypeOperatorFunction<ObservedNode<T>> {
  return distinctUntilChanged((a, b) => (a.exists && b.exists ? a.stat.mzxid === b.stat.mzxid : a.exists === b.exists));
}

export function distinctNames(): MonoTypeOperatorFunction<readonly string[]> {
  return distinctUntilChanged(isSameNames);
}
