import { rm } from "node:fs/promises";
import { formatZxid, type Zxid } from "@zooid/model";
import { StoreError } from "@zooid/txn-log";
import { ArchiveFile, type ArchiveFooter, type BaseManifest } from "@zooid/txn-log/archive";
import type { BackupTarget } from "../targets/backup-target.ts";
import { objectPlace } from "../targets/backup-target.ts";
import { type BackupFile, listBackup, manifestName, missingRanges } from "./backup-listing.ts";
import { eachOf } from "./each-of.ts";
import { fetchFile, readBackupManifest, readBackupPart } from "./read-backup.ts";

/** The result of a check of all of a backup. */
export interface BackupCheck {
  readonly baseCount: number;
  readonly fileCount: number;
  readonly bytes: number;
  /** The newest moment behind the newest base that can be restored; undefined: none. */
  readonly end: Zxid | undefined;
  /** One sentence each; none: every file is whole, and they continue each other. */
  readonly problems: readonly string[];
}

/** A file or a base that is whole. */
interface Whole {
  readonly ensembleId: string;
  readonly place: string;
}

/**
 * Reads all of a backup: each base against its manifest, each file of the log against its sum and
 * the log's chain, and how they continue each other.
 *
 * @param scratch a folder for some files at a time
 * @throws BackupError where the target cannot be read
 */
export async function verifyBackup(target: BackupTarget, scratch: string): Promise<BackupCheck> {
  const { bases, unfinished, files, strangers } = await listBackup(target);
  const check = new Check(target);
  for (const { zxid } of bases) await check.base(zxid);
  await eachOf([...files.entries()], ([place, file]) => check.file(file, place, scratch));
  check.endOfFiles();
  for (const { zxid } of unfinished) {
    const place = objectPlace(target, manifestName(zxid));
    check.problems.push(`${place} is missing: an upload that has not ended, or a base that is lost`);
  }
  for (const name of strangers) check.problems.push(`${objectPlace(target, printable(name))} is no file of a backup`);
  check.continuity(missingRanges({ bases, files }));
  if (bases.length === 0) check.problems.push(`${target.name} has no base: nothing can be restored`);
  const { problems, bytes } = check;
  return { baseCount: bases.length, fileCount: files.length, bytes, end: check.end(), problems };
}

class Check {
  readonly problems: string[] = [];
  bytes = 0;
  readonly #target: BackupTarget;
  readonly #manifests: BaseManifest[] = [];
  readonly #footers: ArchiveFooter[] = [];
  readonly #whole: Whole[] = [];
  readonly #read = new Map<number, { readonly footer: ArchiveFooter; readonly name: string }>();
  readonly #damaged = new Map<number, string>();
  /** The chain at the position of each base, as each file that reaches over it has it. */
  readonly #chains = new Map<Zxid, Set<bigint>>();

  constructor(target: BackupTarget) {
    this.#target = target;
  }

  async base(zxid: Zxid): Promise<void> {
    const place = objectPlace(this.#target, manifestName(zxid));
    const damage = (message: string): void => void this.problems.push(message);
    const manifest = await this.#try(damage, () => readBackupManifest(this.#target, zxid));
    if (manifest === undefined) return;
    let isWhole = true;
    for (const number of manifest.parts.keys()) {
      const part = await this.#try(damage, () => readBackupPart(this.#target, manifest, number));
      isWhole &&= part !== undefined;
      this.bytes += part?.length ?? 0;
    }
    if (!isWhole) return;
    this.#manifests.push(manifest);
    this.#whole.push({ ensembleId: manifest.ensembleId, place });
  }

  /** @param place of the file in the listing: some are read at a time */
  async file(file: BackupFile, place: number, scratch: string): Promise<void> {
    const damage = (message: string): void => void this.#damaged.set(place, message);
    const footer = await this.#try(damage, async () => {
      const copy = await fetchFile(this.#target, file, scratch);
      using opened = new ArchiveFile(copy);
      for (const { position } of this.#manifests) this.#noteChain(opened, position.zxid);
      await rm(copy, { force: true });
      return opened.footer;
    });
    if (footer === undefined) return;
    this.bytes += file.bytes;
    this.#read.set(place, { footer, name: file.name });
  }

  /** Puts what was read of the files in the order of the listing. */
  endOfFiles(): void {
    const inOrder = <T>(found: ReadonlyMap<number, T>): readonly T[] =>
      [...found].sort(([one], [other]) => one - other).map(([, each]) => each);
    this.problems.push(...inOrder(this.#damaged));
    for (const { footer, name } of inOrder(this.#read)) {
      this.#footers.push(footer);
      this.#whole.push({ ensembleId: footer.ensembleId, place: objectPlace(this.#target, name) });
    }
  }

  /** Ranges without a file, files of another ensemble, and bases that no file leads to or from. */
  continuity(missing: readonly Pick<BackupFile, "after" | "end">[]): void {
    for (const { after, end } of missing)
      this.problems.push(
        `${this.#target.name} has no transactions after ${formatZxid(after)} and up to ${formatZxid(end)}`,
      );
    // What was written before an ensemble was founded has no id.
    const named = this.#whole.filter(({ ensembleId }) => ensembleId !== "");
    const own = named[0]?.ensembleId;
    for (const { ensembleId, place } of named)
      if (ensembleId !== own) this.problems.push(`${place} is of ensemble ${ensembleId}, others of ${own}`);
    for (const { position } of this.#manifests) {
      const chains = this.#chains.get(position.zxid);
      if (chains === undefined || chains.has(position.chain)) continue;
      const place = objectPlace(this.#target, manifestName(position.zxid));
      this.problems.push(`${place} is of another history than the files of the log there: their chain is another one`);
    }
  }

  /** How far the files continue the newest base. */
  end(): Zxid | undefined {
    const newest = this.#manifests.at(-1)?.position;
    if (newest === undefined) return undefined;
    let end = newest.zxid;
    for (const footer of this.#footers) if (footer.after.zxid <= end && footer.end.zxid > end) end = footer.end.zxid;
    return end;
  }

  #noteChain(opened: ArchiveFile, zxid: Zxid): void {
    const { after, end } = opened.footer;
    if (zxid < after.zxid || zxid > end.zxid) return;
    const chain = opened.chainAt(zxid);
    const chains = this.#chains.get(zxid) ?? new Set();
    this.#chains.set(zxid, chains);
    if (chain !== undefined) chains.add(chain);
  }

  /** @returns undefined for damage, which is handed over */
  async #try<T>(damage: (message: string) => void, read: () => Promise<T>): Promise<T | undefined> {
    try {
      return await read();
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      damage(error.message);
      return undefined;
    }
  }
}

/** Names of others' files go to terminals. */
function printable(name: string): string {
  return name.replace(/[^\x20-\x7e]/g, "?").slice(0, 200);
}
