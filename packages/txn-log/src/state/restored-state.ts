import { rmSync } from "node:fs";
import { syncDirectoryOf, syncPath } from "../disk/sync-path.ts";
import type { LogPosition } from "../log/txn-log.ts";
import { StateFile } from "./state-file.ts";

/**
 * Lets a state of the past, in a file that no thread has open, stand at another position. Durable
 * when it returns.
 *
 * @param sessions `end`: the end of each has begun, and leaders complete it
 * @throws RangeError where the state is of a higher level; nothing is changed
 */
export function letStateStandAt(
  file: string,
  {
    position,
    ensembleId,
    sessions,
    level,
  }: {
    readonly position: LogPosition;
    readonly ensembleId: string;
    readonly sessions: "keep" | "end";
    /** The feature level in force, which a state of the past does not lower. Default: its own. */
    readonly level?: number;
  },
): void {
  const state = new StateFile(file);
  try {
    const { level: own } = state.meta;
    if (level !== undefined && own > level) {
      throw new RangeError(
        `the state has feature level ${own}, and the ensemble ${level}; raise the level first (zooid-cli upgrade finalize)`,
      );
    }
    state.begin();
    const hasEnded = sessions === "end" && state.beginCloseSessions();
    // The digest is that of the tree, and says how sessions are, and which level.
    const isChanged = hasEnded || (level !== undefined && level !== own);
    const digest = isChanged ? { digestHigh: 0, digestLow: 0 } : {};
    state.commit({ ...state.meta, ...digest, ensembleId, applied: position, level: level ?? own });
  } finally {
    state.close();
  }
  syncPath(file);
  rmSync(`${file}-journal`, { force: true });
  syncDirectoryOf(file);
}
