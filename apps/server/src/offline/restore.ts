import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { BackupTarget } from "@zooid/backup";
import {
  answeringMembers,
  checkNewDirectory,
  checkRoom,
  chooseFromBackup,
  historyOwner,
  OfflineError,
  planRestore,
  type RestorePlan,
  type RestoreTarget,
  restoreHistory,
  withStagedBackup,
} from "@zooid/embedded-server";
import { counted, formatZxid, type Zxid } from "@zooid/model";
import { interruptible } from "./interruptible.ts";
import type { RestoreCommand } from "./offline-command.ts";
import { joinedLists, type Output } from "./recover.ts";
import { sourceArchive } from "./source-directory.ts";
import { openNamedTarget } from "./target-options.ts";

/**
 * `zooid-server restore`: makes a data directory from the history of another one or from a backup,
 * or says from what it would.
 *
 * @throws BackupError, OfflineError and StoreError; nothing is left behind then
 */
export function restore(command: RestoreCommand, output: Output): Promise<void> {
  return interruptible("nothing was changed", async (signal) => {
    const { from } = command;
    const { directories, isPlan, target: moment } = command;
    if (typeof from !== "string") {
      const target = openNamedTarget(from, signal);
      if (isPlan) return await printRemotePlan(target, moment, output);
      const progress = progressLines(output, target.name);
      const options = { target, moment, directories, signal, warn: output.warn, progress };
      return await withStagedBackup(options, (plan) => restorePlanned(plan, command, { output, signal }));
    }
    const { dataDir, logDir = dataDir } = directories;
    const plan = planRestore(sourceArchive(from, isPlan ? [] : [...new Set([dataDir, logDir])]), moment);
    if (!isPlan) return await restorePlanned(plan, command, { output, signal });
    for (const text of plan.warnings) output.warn(text);
    for (const problem of await livingProblems(plan, command, output)) output.warn(problem);
    output.print(planText(plan));
  });
}

async function restorePlanned(
  plan: RestorePlan,
  command: RestoreCommand,
  { output, signal }: { readonly output: Output; readonly signal: AbortSignal },
): Promise<void> {
  const { directories, keepsSessions, line, member } = command;
  const problems = await livingProblems(plan, command, output);
  if (problems.length > 0) throw new OfflineError(problems);
  checkNewDirectory(directories);
  checkRoom(directories.dataDir, stateBytes(plan));
  const { warn } = output;
  const restored = await restoreHistory(plan, { command: line, directories, keepsSessions, member, signal, warn });
  const { ensembleId, endedCount, nodeCount, zxid } = restored;
  const ended = keepsSessions ? "sessions are kept" : `${counted(endedCount, "session")} ended`;
  output.print(`${directories.dataDir} has ${counted(nodeCount, "znode")} up to ${formatZxid(zxid)}; ${ended}`);
  if (member !== undefined) {
    output.print(
      `it is server ${member.sid} alone, of the new ensemble ${ensembleId}: all others join with empty directories`,
    );
  }
}

/**
 * Why the ensemble of the history may still live: in the place of one of its members the copy would
 * serve clients beside it, alone and with other data.
 */
async function livingProblems(
  plan: RestorePlan,
  { confirmed, listed, member }: Pick<RestoreCommand, "confirmed" | "listed" | "member">,
  output: Output,
): Promise<readonly string[]> {
  if (member === undefined) return [];
  // The folder of the archive, or of its copy.
  const archive = dirname(dirname(plan.base.folder));
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

interface SizeFacts extends Pick<RestorePlan, "manifest"> {
  readonly files: readonly { readonly bytes: number }[];
}

/** The state is about as long as its base, and the log as its entries. */
export function stateBytes({ files, manifest }: SizeFacts): number {
  const base = manifest.parts.reduce((sum, { bytes }) => sum + bytes, 0);
  return base + files.reduce((sum, { bytes }) => sum + bytes, 0);
}

async function printRemotePlan(target: BackupTarget, moment: RestoreTarget | undefined, output: Output): Promise<void> {
  const staging = mkdtempSync(join(tmpdir(), "zooid-plan-"));
  try {
    const choice = await chooseFromBackup({ target, moment, staging, warn: output.warn });
    const { end, files, manifest, zxid = end } = choice;
    output.print(planText({ base: manifest.position, files, manifest, zxid }));
    const bytes = stateBytes({ files, manifest });
    output.print(`${(bytes / 1024 / 1024).toFixed(1)} MiB would be fetched from ${target.name}`);
  } finally {
    rmSync(staging, { recursive: true, force: true });
  }
}

const PROGRESS_MS = 10_000;

/** A line each ten seconds: how far a long copy is. */
export function progressLines({ warn }: Output, name: string): (doneBytes: number, allBytes: number) => void {
  let nextMs = performance.now();
  return (doneBytes, allBytes) => {
    if (performance.now() < nextMs) return;
    nextMs = performance.now() + PROGRESS_MS;
    const [done, all] = [doneBytes, allBytes].map((bytes) => (bytes / 1024 / 1024).toFixed(1));
    warn(`${done} of ${all} MiB fetched from ${name}`);
  };
}

interface PlanFacts extends Pick<RestorePlan, "manifest" | "zxid"> {
  readonly base: { readonly zxid: Zxid };
  readonly files: readonly unknown[];
}

function planText({ base, files, manifest, zxid }: PlanFacts): string {
  const taken = new Date(manifest.takenMs).toISOString();
  const from = `the base at ${formatZxid(base.zxid)}, taken ${taken}, with ${counted(manifest.nodeCount, "znode")}`;
  return `the state at ${formatZxid(zxid)} is made from ${from}, and ${counted(files.length, "file")} behind it`;
}
