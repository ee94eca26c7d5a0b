import { DataTree } from "@zooid/data-tree";
import type { LogPosition, StateOrigin } from "@zooid/model";

type SnapshotRecord = ReturnType<DataTree["snapshot"]> extends Generator<infer Record> ? Record : never;

/** A snapshot: the tree at exactly one position in the history. */
export interface StateImage {
  readonly position: LogPosition;
  readonly records: readonly SnapshotRecord[];
  readonly digest: string;
  /** The feature level in force there. */
  readonly level: number;
  /** Its source, if other servers may have that ready. */
  readonly origin?: StateOrigin;
}

export function stateImageOf(tree: DataTree, position: LogPosition): StateImage {
  return { position, records: [...tree.snapshot()], digest: digestOf(tree), level: tree.level };
}

/** The fate of the sessions that a restored state has. */
export type RestoredSessions = "keep" | "end";

/** A state of the past that is about to be installed. */
export interface RestoringState {
  readonly image: StateImage;
  readonly sessions: RestoredSessions;
}

/**
 * A state of the past as one that stands at another position. The end of its sessions has begun,
 * which the timeout 0 says: leaders complete it; or they are kept.
 *
 * @param level the feature level in force, which the state gets
 */
export function restoredImageOf(
  { records }: StateImage,
  position: LogPosition,
  { sessions, level }: { readonly sessions: RestoredSessions; readonly level: number },
): StateImage {
  const tree = new DataTree({ hashKey: { k0: 0, k1: 0 } });
  tree.loadSnapshot(
    records.map((record) => {
      if (record.kind === "tree") return { ...record, applied: position.zxid, level };
      if (record.kind !== "session" || sessions === "keep") return record;
      return { ...record, timeoutMs: 0 };
    }),
  );
  return stateImageOf(tree, position);
}

/** The name of a state that other servers have ready, with the level that it gets. */
export function originOf({ position, digest }: StateImage, level: number): StateOrigin {
  const [high, low] = [digest.slice(0, -LOW_DIGITS), digest.slice(-LOW_DIGITS)].map((half) =>
    Number.parseInt(half, 16),
  );
  return { ...position, digestHigh: (high ?? 0) | 0, digestLow: (low ?? 0) | 0, level };
}

const LOW_DIGITS = 8;

export function digestOf(tree: DataTree): string {
  return `${(tree.digestHigh >>> 0).toString(16)}${(tree.digestLow >>> 0).toString(16).padStart(8, "0")}`;
}
