import { randomInt } from "node:crypto";
import { existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import {
  type BackupBase,
  type BackupFile,
  type BackupTarget,
  fetchFile,
  listBackup,
  listBackupBases,
  listBackupFiles,
  readBackupManifest,
  readBackupPart,
} from "@zooid/backup";
import { DataTree } from "@zooid/data-tree";
import { formatZxid, type TxnDecoder, ZXID_NONE, type Zxid } from "@zooid/model";
import { type LogPosition, StoreError } from "@zooid/txn-log";
import { ArchiveFile } from "@zooid/txn-log/archive";
import {
  BaseBuilder,
  type BaseManifest,
  type BuiltState,
  readBuiltState,
  removeBuiltState,
  StateBuilder,
} from "@zooid/txn-log/sqlite";
import { checkRoom } from "../offline/backup/free-room.ts";
import { treeSink } from "../storage/load-tree.ts";

/** The result of a look at the archive. */
export type StandbyStep =
  /** The state has everything that the archive has. */
  | { readonly kind: "level" }
  | { readonly kind: "file"; readonly file: BackupFile }
  /** The state begins again, with a base that nothing leads to. */
  | { readonly kind: "base"; readonly bases: readonly BackupBase[] };

export interface StandbyStateOptions {
  /** A folder of its own on the disk of the data directory. */
  readonly folder: string;
  /** Stands in place of an ensemble's id in the archive. */
  readonly ownerId: string;
  readonly decoder: TxnDecoder;
  /** Opened again for each look: the file with its key may have been replaced. */
  readonly target: () => BackupTarget;
  /** A sentence for operators. */
  readonly warn: (text: string) => void;
  /** Milliseconds of a clock that never goes back. */
  readonly steadyMs: () => number;
}

const STATE_FILE = "state.db";
const NEXT_FILE = "next.db";
/** Between two comparisons of the file with its digest. */
const CHECK_MS = 600_000;

/** Why an archive is of no use. */
export class StandbyError extends Error {
  override readonly name = "StandbyError";
}

/**
 * The state of a followed ensemble, in a file beside a member's own data, made from the archive
 * that the follower writes:
 *
 * ```
 *  no state ─▶ newest base ─▶ file, file, … ─▶ level ─▶ file, …
 *                  ▲              │ a gap, or another history: the follower took a new snapshot
 *                  └──────────────┘
 * ```
 *
 * One base or file at a time is in memory or on the disk.
 */
export class StandbyState {
  readonly #options: StandbyStateOptions;
  readonly #file: string;
  #builder: StateBuilder | undefined;
  /** The state whose digest was compared with its file, and when. */
  #checked: Zxid | undefined;
  #checkedMs = 0;
  #isOpened = false;
  #isAtFileEnd = false;

  constructor(options: StandbyStateOptions) {
    this.#options = options;
    this.#file = join(options.folder, STATE_FILE);
  }

  get facts(): BuiltState | undefined {
    return this.#builder?.meta;
  }

  /** The state's file, while this is closed. */
  get file(): string {
    return this.#file;
  }

  /**
   * Does one step. @returns whether the state has everything that the archive has
   *
   * @throws StandbyError, BackupError and StoreError: the state is as before, or there is none
   */
  async step(): Promise<boolean> {
    this.#open();
    const target = this.#options.target();
    const step = await nextStep(target, this.#builder?.meta.applied, this.#isAtFileEnd);
    switch (step.kind) {
      case "level":
        this.#checkInTime();
        return true;
      case "file":
        if (!(await this.#add(target, step.file)))
          await this.#beginAgain(target, `${step.file.name} has another history`);
        return false;
      case "base":
        await this.#begin(target, step.bases);
        return false;
    }
  }

  /** Closes the file, for another one to use it; the next step opens it again if it is there. */
  close(): void {
    this.#builder?.[Symbol.dispose]();
    this.#builder = undefined;
    this.#isOpened = false;
    this.#isAtFileEnd = false;
  }

  /** Removes the state; the next step begins with the newest base. */
  remove(): void {
    this.close();
    removeBuiltState(this.#file);
    removeBuiltState(join(this.#options.folder, NEXT_FILE));
  }

  /** Opens the file of an earlier process; one that is not whole goes. */
  #open(): void {
    if (this.#isOpened) return;
    const { folder, decoder, warn } = this.#options;
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    removeBuiltState(join(folder, NEXT_FILE));
    rmSync(join(folder, "log"), { recursive: true, force: true });
    this.#isOpened = true;
    if (!existsSync(this.#file)) return;
    try {
      this.#builder = new StateBuilder(this.#file, decoder);
      this.#check();
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      warn(`the state that is kept ready is made again: ${error.message}`);
      this.remove();
      this.#isOpened = true;
    }
  }

  /** @returns false for a file of another history */
  async #add(target: BackupTarget, file: BackupFile): Promise<boolean> {
    const { folder, decoder } = this.#options;
    const copy = await fetchFile(target, file, folder);
    try {
      using archive = new ArchiveFile(copy);
      if (this.#builder?.isContinuedBy(archive) !== true) return false;
      this.#builder.add(archive);
      this.#isAtFileEnd = true;
      return true;
    } catch (error) {
      // What the failure left in the file is undone.
      this.#builder?.[Symbol.dispose]();
      this.#builder = new StateBuilder(this.#file, decoder);
      if (error instanceof StoreError || !(error instanceof Error)) throw error;
      throw new StandbyError(`${file.name} of ${target.name} does not fit the state: ${error.message}`, {
        cause: error,
      });
    } finally {
      rmSync(copy, { force: true });
    }
  }

  async #beginAgain(target: BackupTarget, reason: string): Promise<void> {
    const at = this.#builder?.meta.applied.zxid ?? ZXID_NONE;
    await this.#begin(target, await basesBehind(target, at, reason));
  }

  /** The newest base that is whole; older ones only where there is no state. */
  async #begin(target: BackupTarget, bases: readonly BackupBase[]): Promise<void> {
    const at = this.#builder?.meta.applied.zxid;
    let damage: StoreError | undefined;
    for (const base of bases) {
      try {
        const manifest = await readBackupManifest(target, base.zxid);
        checkOwner(manifest, this.#options.ownerId, target.name);
        if (at !== undefined)
          this.#options.warn(
            `the state that is kept ready begins again at ${formatZxid(base.zxid)}: nothing in ${target.name} continues ${formatZxid(at)}`,
          );
        await this.#build(target, manifest);
        return;
      } catch (error) {
        if (!(error instanceof StoreError && error.code === "DAMAGED")) throw error;
        damage ??= error;
        this.#options.warn(`a base of the archive is left out: ${error.message}`);
      }
    }
    throw damage ?? new StandbyError(`${target.name} has no base`);
  }

  async #build(target: BackupTarget, manifest: BaseManifest): Promise<void> {
    const { folder, decoder } = this.#options;
    checkRoom(folder, 2 * manifest.parts.reduce((sum, { bytes }) => sum + bytes, 0));
    const next = join(folder, NEXT_FILE);
    removeBuiltState(next);
    const built = new BaseBuilder(next, manifest);
    try {
      for (const number of manifest.parts.keys()) built.add(await readBackupPart(target, manifest, number));
      built.finish();
    } catch (error) {
      built.abandon();
      throw error;
    }
    this.#builder?.[Symbol.dispose]();
    removeBuiltState(this.#file);
    renameSync(next, this.#file);
    this.#isAtFileEnd = false;
    this.#builder = new StateBuilder(this.#file, decoder);
    this.#check();
  }

  #checkInTime(): void {
    const { steadyMs } = this.#options;
    const isDue = this.#builder?.meta.applied.zxid !== this.#checked && steadyMs() - this.#checkedMs >= CHECK_MS;
    if (!isDue) return;
    try {
      this.#check();
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      this.#options.warn(`the state that is kept ready is made again: ${error.message}`);
      this.remove();
    }
  }

  /**
   * Reads the whole file into a tree and compares digests. The digest of an archive's file is that
   * of the follower's tree: so the state is the follower's.
   *
   * @throws StoreError `DAMAGED`
   */
  #check(): void {
    const builder = this.#builder;
    if (builder === undefined) return;
    const { applied, digestHigh, digestLow, level } = builder.meta;
    const tree = new DataTree({ hashKey: { k0: randomInt(2 ** 32) | 0, k1: randomInt(2 ** 32) | 0 } });
    tree.beginLoad();
    const { nextNodeId: nextNode } = readBuiltState(this.#file, treeSink(tree));
    tree.finishLoad({ applied: applied.zxid, nextNode, level });
    const isKnown = digestHigh !== 0 || digestLow !== 0;
    if (isKnown && (tree.digestHigh !== digestHigh || tree.digestLow !== digestLow)) {
      const place = `the state at ${formatZxid(applied.zxid)}`;
      const found = "its digest is not the one that the follower's tree had there";
      throw new StoreError({ code: "DAMAGED", file: this.#file, place, found });
    }
    this.#checked = applied.zxid;
    this.#checkedMs = this.#options.steadyMs();
  }
}

/** @throws StandbyError for the archive of a server that serves clients */
function checkOwner({ ensembleId }: BaseManifest, ownerId: string, name: string): void {
  if (ensembleId === ownerId) return;
  const owner = ensembleId === "" ? "a server alone" : `the ensemble ${ensembleId}`;
  throw new StandbyError(
    `${name} has the history of ${owner}, and not of a server that follows an Apache ensemble (zooid-server follow)`,
  );
}

/**
 * The step that continues a state, by the names of an archive's files.
 *
 * @param position undefined where there is no state yet
 * @param isAtFileEnd whether the state ends with a file, so that the next one begins there; a base
 *   may stand in the middle of one
 * @throws StandbyError where the archive has nothing to begin with, or has a gap
 */
export async function nextStep(
  target: BackupTarget,
  position: LogPosition | undefined,
  isAtFileEnd: boolean,
): Promise<StandbyStep> {
  if (position === undefined) {
    const bases = await listBackupBases(target);
    if (bases.length > 0) return { kind: "base", bases: bases.toReversed() };
    throw new StandbyError(
      `${target.name} has no base yet: the server that follows Apache uploads one when its first snapshot is whole`,
    );
  }
  const { zxid } = position;
  if (isAtFileEnd) {
    const behind = await listBackupFiles(target, zxid);
    const next = continuing(behind, zxid);
    if (next !== undefined) return { kind: "file", file: next };
    const newest = (await listBackupBases(target)).at(-1)?.zxid ?? ZXID_NONE;
    if (behind.length === 0 && newest <= zxid) return { kind: "level" };
  }
  // Files may have come since, and with them the base.
  const { bases, files } = await listBackup(target);
  const next = continuing(files, zxid);
  if (next !== undefined) return { kind: "file", file: next };
  const isLevel = (files.at(-1)?.end ?? ZXID_NONE) <= zxid && (bases.at(-1)?.zxid ?? ZXID_NONE) <= zxid;
  return isLevel
    ? { kind: "level" }
    : { kind: "base", bases: await basesBehind(target, zxid, "what follows it is missing") };
}

/** @throws StandbyError where there are none */
async function basesBehind(target: BackupTarget, at: Zxid, reason: string): Promise<readonly BackupBase[]> {
  const bases = (await listBackupBases(target)).filter(({ zxid }) => zxid > at);
  if (bases.length > 0) return bases.toReversed();
  throw new StandbyError(
    `${target.name} does not continue the state at ${formatZxid(at)}: ${reason}; a newer base is waited for`,
  );
}

/** The file that leads furthest among those that have what follows a zxid. */
function continuing(files: readonly BackupFile[], at: Zxid): BackupFile | undefined {
  return files.filter(({ after, end }) => after <= at && end > at).toSorted((a, b) => b.end - a.end)[0];
}
