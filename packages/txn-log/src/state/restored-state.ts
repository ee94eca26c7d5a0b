import { rmSync } from "node:fs";
import { syncDirectoryOf, syncPath } from "../sync-path.ts";
import type { LogPosition } from "../txn-log.ts";
import { StateFile } from "./state-file.ts";

/**
 * Lets a state of the past, in a file that no thread has open, stand at another position. Durable
 * when it returns.
 *
 * @param sessions `end`: the end of each has begun, and leaders complete it
 */
export function letStateStandAt(
  file: string,
  {
    position,
    ensembleId,
    sessions,
  }: {
    readonly position: LogPosition;
    readonly ensembleId: string;
    readonly sessions: "keep" | "end";
  },
): void {
  const state = new StateFile(file);
  try {
    state.begin();
    const isChanged = sessions === "end" && state.beginCloseSessions();
    // The digest is that of the tree, and says how sessions are.
    const digest = isChanged ? { digestHigh: 0, digestLow: 0 } : {};
    state.commit({ ...state.meta, ...digest, ensembleId, applied: position });
  } finally {
    state.close();
  }
  syncPath(file);
  rmSync(`${file}-journal`, { force: true });
  syncDirectoryOf(file);
}
