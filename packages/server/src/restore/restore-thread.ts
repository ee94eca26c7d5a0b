import { mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { parentPort, workerData } from "node:worker_threads";
import { BackupError, openUploadTarget } from "@zooid/backup";
import { ZXID_NONE } from "@zooid/model";
import { StoreError } from "@zooid/txn-log";
import { lowerPriority } from "@zooid/txn-log/archive";
import { ArchiveFile } from "@zooid/txn-log/sqlite";
import { chooseFromBackup } from "../offline/backup/backup-choice.ts";
import { withStagedBackup } from "../offline/backup/staged-backup.ts";
import { OfflineError } from "../offline/offline-error.ts";
import { restoreHistory } from "../offline/restore-history.ts";
import type { RestorePlan } from "../offline/restore-plan.ts";
import type { RestoreReport, RestoreSource, RestoreThreadData } from "./restore-messages.ts";

/**
 * Makes a state of the past from a backup, checked in all its parts, in a directory of its own. The
 * server serves meanwhile.
 */

/** As a backup that is uploaded. */
const NICE = 10;
const COMMAND = "zooid-cli restore";

const data = workerData as RestoreThreadData;
lowerPriority(NICE);
parentPort?.postMessage(await reportOf(data));

async function reportOf({ settings, moment, isPlan, folder, ensembleId }: RestoreThreadData): Promise<RestoreReport> {
  try {
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { mode: 0o700 });
    const target = openUploadTarget(settings, new AbortController().signal);
    const warnings: string[] = [];
    const warn = (text: string): void => void warnings.push(text);
    if (isPlan) {
      const { files, manifest, zxid } = await chooseFromBackup({ target, moment, staging: folder, warn });
      checkOwner(ownerOf(manifest, ensembleId), ensembleId, target.name);
      const at = zxid ?? files.at(-1)?.end ?? manifest.position.zxid;
      rmSync(folder, { recursive: true, force: true });
      return { kind: "planned", source: sourceOf({ manifest, files, zxid: at }) };
    }
    const directories = { dataDir: join(folder, "made") };
    return await withStagedBackup({ target, moment, directories, warn }, async (plan): Promise<RestoreReport> => {
      checkOwner(ownerOf(plan.manifest, ensembleId), ensembleId, target.name);
      for (const { file } of plan.files) {
        using archive = new ArchiveFile(file);
        checkOwner(archive.footer.ensembleId, ensembleId, target.name);
      }
      const options = { directories, command: COMMAND, member: undefined, keepsSessions: true, warn };
      const { nodeCount } = await restoreHistory(plan, options);
      return { kind: "made", source: sourceOf(plan), nodeCount, stateFile: stateIn(directories.dataDir), warnings };
    });
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    return { kind: "failed", problem: problemOf(error) };
  }
}

/** A base before the first transaction may be older than the ensemble's id: its files have it. */
function ownerOf({ ensembleId, position }: RestorePlan["manifest"], expected: string): string {
  return position.zxid === ZXID_NONE ? expected : ensembleId;
}

function checkOwner(found: string, expected: string, name: string): void {
  if (found === expected) return;
  const [ours, theirs] = [expected, found].map((id) => (id === "" ? "a server alone" : `the ensemble ${id}`));
  throw new OfflineError([`${name} has the history of ${theirs}, and this is ${ours}`]);
}

function sourceOf(
  plan: Pick<RestorePlan, "manifest" | "zxid"> & { readonly files: readonly unknown[] },
): RestoreSource {
  const { position, takenMs, nodeCount } = plan.manifest;
  return {
    zxid: plan.zxid,
    baseZxid: position.zxid,
    baseTakenMs: takenMs,
    baseNodeCount: nodeCount,
    fileCount: plan.files.length,
  };
}

function stateIn(directory: string): string {
  const name = readdirSync(directory).find((each) => /^state-\d+\.db$/.test(each));
  if (name === undefined) throw new StoreError({ code: "DEFECT", reason: "a state was made and has no file" });
  return join(directory, name);
}

/** One sentence. */
function problemOf(error: unknown): string {
  if (error instanceof OfflineError) return error.problems.join("; ");
  if (error instanceof BackupError || error instanceof StoreError || error instanceof Error) return error.message;
  return String(error);
}
