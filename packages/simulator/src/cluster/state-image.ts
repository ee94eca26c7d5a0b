import type { DataTree } from "@zooid/data-tree";
import type { LogPosition } from "@zooid/model";

type SnapshotRecord = ReturnType<DataTree["snapshot"]> extends Generator<infer Record> ? Record : never;

/** A snapshot: the tree at exactly one position in the history. */
export interface StateImage {
  readonly position: LogPosition;
  readonly records: readonly SnapshotRecord[];
  readonly digest: string;
}

export function stateImageOf(tree: DataTree, position: LogPosition): StateImage {
  return { position, records: [...tree.snapshot()], digest: digestOf(tree) };
}

export function digestOf(tree: DataTree): string {
  return `${(tree.digestHigh >>> 0).toString(16)}${(tree.digestLow >>> 0).toString(16).padStart(8, "0")}`;
}
