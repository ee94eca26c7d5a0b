import { existsSync } from "node:fs";
import { join } from "node:path";
import { planRestore, type RestorePlan, restoreHistory } from "@zooid/embedded-server";
import { counted, formatZxid } from "@zooid/model";
import type { RestoreCommand } from "./offline-command.ts";
import type { Output } from "./recover.ts";

/**
 * `zooid-server restore`: makes a data directory from the history of another one, or says from what
 * it would.
 *
 * @throws OfflineError and StoreError; nothing is left behind then
 */
export async function restore(command: RestoreCommand, output: Output): Promise<void> {
  const { directories, isPlan, keepsSessions, line, member, target } = command;
  const plan = planRestore(archiveOf(command.from), target);
  if (isPlan) {
    for (const { message } of plan.damage) output.warn(message);
    return output.print(planText(plan));
  }
  const { warn } = output;
  const restored = await restoreHistory(plan, { command: line, directories, keepsSessions, member, warn });
  const { ensembleId, endedCount, nodeCount, zxid } = restored;
  const ended = keepsSessions ? "sessions are kept" : `${counted(endedCount, "session")} ended`;
  output.print(`${directories.dataDir} has ${counted(nodeCount, "znode")} up to ${formatZxid(zxid)}; ${ended}`);
  if (member !== undefined) {
    output.print(
      `it is server ${member.sid} alone, of the new ensemble ${ensembleId}: all others join with empty directories`,
    );
  }
}

/** The folder of the archive, which may be below a data directory. */
export function archiveOf(from: string): string {
  const below = join(from, "archive");
  return existsSync(below) ? below : from;
}

function planText({ base, files, manifest, zxid }: RestorePlan): string {
  const taken = new Date(manifest.takenMs).toISOString();
  const from = `the base at ${formatZxid(base.zxid)}, taken ${taken}, with ${counted(manifest.nodeCount, "znode")}`;
  return `the state at ${formatZxid(zxid)} is made from ${from}, and ${counted(files.length, "file")} behind it`;
}
