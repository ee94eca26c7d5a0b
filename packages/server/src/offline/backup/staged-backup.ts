import { mkdtempSync, readdirSync, rmdirSync, rmSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import {
  type BackupFile,
  type BackupTarget,
  eachOf,
  fetchBase,
  fetchFile,
  objectPlace,
  relocated,
} from "@zooid/backup";
import { StoreError } from "@zooid/txn-log";
import { makeDirectory } from "@zooid/txn-log/sqlite";
import type { DataDirectories } from "../data-directories.ts";
import { checkNewDirectory } from "../new-directory.ts";
import { OfflineError } from "../offline-error.ts";
import { planRestore, type RestorePlan, type RestoreTarget } from "../restore-plan.ts";
import { type BackupChoice, type ChoiceOptions, chooseFromBackup, chooseOlder } from "./backup-choice.ts";
import { checkRoom } from "./free-room.ts";

export interface StageOptions {
  readonly target: BackupTarget;
  /** The moment; undefined: the newest one. */
  readonly moment: RestoreTarget | undefined;
  /** Where the state will be: the copies lie beside it, on the same disk, until they are used. */
  readonly directories: DataDirectories;
  readonly signal?: AbortSignal;
  warn(text: string): void;
  /** Bytes that were fetched, of all that will be. */
  progress?(doneBytes: number, allBytes: number): void;
}

/**
 * Copies what a state is made from out of a backup, and uses the copy. Every file is checked when
 * it has come; for a damaged base an older one is taken, with more files.
 *
 * @throws BackupError, OfflineError and StoreError, which name places in the target; and what `use`
 *   throws. No copy is left behind.
 */
export async function withStagedBackup<T>(options: StageOptions, use: (plan: RestorePlan) => Promise<T>): Promise<T> {
  const { target, directories, moment, signal, warn } = options;
  checkNewDirectory(directories);
  const parent = dirname(directories.dataDir);
  const made = makeDirectory(parent);
  const staging = mkdtempSync(join(parent, `.${basename(directories.dataDir)}-fetched-`));
  try {
    const choice: ChoiceOptions = { target, moment, staging, warn };
    const plan = planOf(choice, await fetchChoice(choice, options));
    signal?.throwIfAborted();
    return await use(plan);
  } catch (error) {
    rmSync(staging, { recursive: true, force: true });
    for (const folder of made.toReversed()) if (readdirSync(folder).length === 0) rmdirSync(folder);
    throw error instanceof StoreError ? relocated(error, staging, target.name) : error;
  } finally {
    rmSync(staging, { recursive: true, force: true });
  }
}

interface Fetched extends Pick<BackupChoice, "end" | "zxid"> {
  /** The damage of bases and files that were left out. */
  readonly damage: readonly StoreError[];
}

async function fetchChoice(choice: ChoiceOptions, options: StageOptions): Promise<Fetched> {
  const { target, warn } = choice;
  const first = await chooseFromBackup(choice);
  checkSize(first, options);
  const damage: StoreError[] = [];
  const chosen = await baseThatIsWhole(choice, first, damage);
  let doneBytes = baseBytes(chosen);
  const allBytes = doneBytes + logBytes(chosen.files);
  options.progress?.(doneBytes, allBytes);
  await eachOf(chosen.files, async (file) => {
    options.signal?.throwIfAborted();
    await fetchFile(target, file, choice.staging).catch((error: unknown) => {
      if (!(error instanceof StoreError && error.code === "DAMAGED")) throw error;
      damage.push(error);
      warn(error.message);
      removeCopy(choice.staging, file);
    });
    doneBytes += file.bytes;
    options.progress?.(doneBytes, allBytes);
  });
  return { ...chosen, damage };
}

async function baseThatIsWhole(
  choice: ChoiceOptions,
  first: BackupChoice,
  damage: StoreError[],
): Promise<BackupChoice> {
  const { target, staging, warn } = choice;
  for (let chosen = first; ; ) {
    try {
      await fetchBase(target, chosen.manifest, staging);
      return chosen;
    } catch (error) {
      if (!(error instanceof StoreError && error.code === "DAMAGED") || chosen.older.length === 0) throw error;
      damage.push(error);
      warn(`${error.message}; an older base and more files are used instead`);
      rmSync(join(staging, "base"), { recursive: true, force: true });
      chosen = await chooseOlder(choice, chosen).catch((cause: unknown) => {
        // The damaged base is why none reaches as far.
        throw cause instanceof OfflineError ? error : cause;
      });
    }
  }
}

/** A file that lacks, because it is damaged, is the reason that the plan has. */
function planOf({ staging, target }: ChoiceOptions, { damage, end, zxid }: Fetched): RestorePlan {
  try {
    const plan = planRestore(staging, zxid === undefined ? undefined : { zxid }, target.name);
    if (plan.zxid < (zxid ?? end) && damage[0] !== undefined) throw damage[0];
    return plan;
  } catch (error) {
    throw error instanceof OfflineError ? (damage[0] ?? error) : error;
  }
}

/** The copy, the state that is made of it, and the log of about twice the size of its files. */
function checkSize(choice: BackupChoice, { directories }: StageOptions): void {
  checkRoom(directories.dataDir, 2 * baseBytes(choice) + 3 * logBytes(choice.files));
}

export function baseBytes({ manifest }: Pick<BackupChoice, "manifest">): number {
  return manifest.parts.reduce((sum, { bytes }) => sum + bytes, 0);
}

export function logBytes(files: readonly BackupFile[]): number {
  return files.reduce((sum, { bytes }) => sum + bytes, 0);
}

function removeCopy(staging: string, file: BackupFile): void {
  rmSync(objectPlace({ name: staging }, file.name), { force: true });
}
