import { existsSync } from "node:fs";
import { join } from "node:path";
import {
  answeringMembers,
  historyOwner,
  OfflineError,
  planRestore,
  type RestorePlan,
  restoreHistory,
} from "@zooid/embedded-server";
import { counted, formatZxid, type Member } from "@zooid/model";
import type { RestoreCommand } from "./offline-command.ts";
import { joinedLists, type Output } from "./recover.ts";

/**
 * `zooid-server restore`: makes a data directory from the history of another one, or says from what
 * it would.
 *
 * @throws OfflineError and StoreError; nothing is left behind then
 */
export async function restore(command: RestoreCommand, output: Output): Promise<void> {
  const { directories, isPlan, keepsSessions, line, member, target } = command;
  const archive = archiveOf(command.from);
  const plan = planRestore(archive, target);
  const problems = member === undefined ? [] : await livingProblems({ archive, plan, member }, command, output);
  if (isPlan) {
    for (const { message } of plan.damage) output.warn(message);
    for (const problem of problems) output.warn(problem);
    return output.print(planText(plan));
  }
  if (problems.length > 0) throw new OfflineError(problems);
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

/** A copy that is to be a member. */
interface Copy {
  readonly archive: string;
  readonly plan: RestorePlan;
  readonly member: Member;
}

/**
 * Why the ensemble of the history may still live: in the place of one of its members the copy would
 * serve clients beside it, alone and with other data.
 */
async function livingProblems(
  { archive, plan, member }: Copy,
  { confirmed, listed }: Pick<RestoreCommand, "confirmed" | "listed">,
  output: Output,
): Promise<readonly string[]> {
  const { ensembleId, inUse, members } = historyOwner(archive, plan);
  // A standalone server has no members to serve beside.
  if (ensembleId === "") return [];
  const known = joinedLists(members, listed);
  if (known.length === 0) output.warn(NOT_ASKED);
  const found = [
    ...(inUse === undefined ? [] : [`a server of the ensemble ${ensembleId} runs: ${inUse.message}`]),
    ...(await answeringMembers(joinedLists(known, [member]))).map(
      ({ sid, address }) => `server ${sid} of the ensemble ${ensembleId} answers at ${address}`,
    ),
  ];
  if (confirmed !== undefined && confirmed !== ensembleId)
    return [`--confirm takes the id of the ensemble whose history it is, ${ensembleId}, found ${confirmed}`];
  if (found.length === 0 || confirmed !== undefined) return [];
  return [
    ...found,
    `the copy would be an ensemble of its own, and serve clients beside that one: stop all of its servers first; --confirm ${ensembleId} makes the copy all the same, to be served elsewhere`,
  ];
}

const NOT_ASKED =
  "the history does not list the members of its ensemble, so none of them was asked whether it still runs; " +
  "name the zoo.cfg that lists them: zooid-server restore zoo.cfg --from DIR …";

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
