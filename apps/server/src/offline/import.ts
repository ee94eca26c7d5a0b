import {
  type ApacheEnsemble,
  type ApacheState,
  type ApacheVoter,
  type ImportPlan,
  importApache,
  planImport,
  readEnsemble,
} from "@zooid/embedded-server";
import { counted } from "@zooid/model";
import type { ImportCommand } from "./offline-command.ts";
import type { Output } from "./recover.ts";

/**
 * `zooid-server import`: makes a data directory from those of stopped Apache servers, or says from
 * what it would.
 *
 * @throws OfflineError and StoreError; nothing is left behind then
 */
export async function importFromApache(command: ImportCommand, output: Output): Promise<void> {
  const { directories, from, isPlan, line, member, sessions } = command;
  const { warn } = output;
  const ensemble = await readEnsemble(from, warn);
  const plan = planImport(ensemble, { sessions, member });
  for (const text of plan.warnings) warn(text);
  if (isPlan) {
    for (const line of planLines(ensemble, plan)) output.print(line);
    return;
  }
  if (from.length > 1) output.print(takenText(ensemble));
  const { ensembleId, nodeCount } = await importApache(ensemble.state, {
    command: line,
    directories,
    member,
    from: ensemble.taken.directories.dataDir,
    plan,
    warn,
  });
  output.print(
    `${directories.dataDir} has ${counted(nodeCount, "znode")} up to ${lastOf(ensemble.state)}; ${sessionsText(plan)}`,
  );
  output.print(`the new history begins at epoch ${plan.epoch}`);
  if (member !== undefined) {
    output.print(
      `it is server ${member.sid} alone, of the new ensemble ${ensembleId}: all others join with empty directories`,
    );
  }
}

function planLines(ensemble: ApacheEnsemble, plan: ImportPlan): readonly string[] {
  const { state, voters } = ensemble;
  const { isDigestChecked, logFiles, snapshotFile, tree } = state;
  return [
    ...(voters.length > 1 ? [...voters.map(voterText), takenText(ensemble)] : []),
    `snapshot: ${snapshotFile ?? "none"}`,
    ...logFiles.map((file) => `log: ${file}`),
    `last transaction: ${lastOf(state)}`,
    `digest: ${isDigestChecked ? "as the server noted it" : "not compared"}`,
    `${counted(tree.nodes.size - plan.leftOutCount, "znode")}; ${sessionsText(plan)}`,
    `the new history begins at epoch ${plan.epoch}`,
  ];
}

function voterText({ acceptedEpoch, currentEpoch, directories, sid, zxid }: ApacheVoter): string {
  const name = sid === undefined ? directories.dataDir : `${directories.dataDir}, server ${sid}`;
  return `${name}: current epoch ${currentEpoch}, last transaction 0x${zxid.toString(16)}, accepted epoch ${acceptedEpoch}`;
}

function takenText({ taken, voters }: ApacheEnsemble): string {
  const { currentEpoch, directories, zxid } = taken;
  const isAlone = voters.every((each) => each === taken || each.currentEpoch !== currentEpoch || each.zxid !== zxid);
  const reason = isAlone ? "it has the latest" : "none has a later";
  return `${directories.dataDir} is taken: ${reason} current epoch and last transaction, ${currentEpoch} and 0x${zxid.toString(16)}`;
}

function sessionsText(plan: ImportPlan): string {
  const { keptEphemeralCount, keptSessionCount, leftOutCount, endedSessionCount, orphanCount, sessions } = plan;
  if (sessions === "drop") return `sessions and ${counted(leftOutCount, "ephemeral znode")} left out`;
  const kept = `${counted(keptSessionCount, "session")} kept, with ${counted(keptEphemeralCount, "ephemeral znode")}`;
  if (orphanCount === 0) return kept;
  return (
    `${kept}; ${counted(orphanCount, "ephemeral znode")} of ${counted(endedSessionCount, "session")} ` +
    "that had ended: the server deletes them when it starts"
  );
}

function lastOf({ timeMs, zxid }: ApacheState): string {
  const at = `0x${zxid.toString(16)}`;
  return timeMs === undefined ? at : `${at}, of ${timeText(timeMs)}`;
}

/** A clock that was set wrong may have given a time that is no date. */
function timeText(timeMs: number): string {
  const date = new Date(timeMs);
  return Number.isNaN(date.getTime()) ? `${timeMs} ms` : date.toISOString();
}
