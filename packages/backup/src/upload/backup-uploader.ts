import { counterOf, earlierOf, epochOf, formatZxid, ZXID_NONE, type Zxid } from "@zooid/model";
import type { LogPosition, StoreError } from "@zooid/txn-log";
import type { BaseManifest } from "@zooid/txn-log/archive";
import { BackupError } from "../backup-error.ts";
import { type BackupListing, listBackup, logName } from "../contents/backup-listing.ts";
import { readBackupFooter, readBackupManifest } from "../contents/read-backup.ts";
import { planBackupPurge, planRetention } from "../contents/retention.ts";
import type { BackupTarget } from "../targets/backup-target.ts";
import { type BackupEnd, passing, readBackupEnd } from "./backup-end.ts";
import { uploadBase } from "./base-upload.ts";
import { type Continuation, LocalArchive, type NextFile } from "./local-archive.ts";
import type { Pace } from "./pace.ts";
import { NO_FACTS, type SharedFacts } from "./shared-facts.ts";
import { UploadLease } from "./upload-lease.ts";

export interface UploaderOptions {
  readonly target: BackupTarget;
  /** The folder of this server's archive. */
  readonly archive: string;
  /** This server, in words for the others. */
  readonly holder: string;
  /** Time from one base to the next, in milliseconds. */
  readonly baseEveryMs: number;
  /** States of this time can be restored; 0: nothing is removed. */
  readonly retainMs: number;
  readonly leaseMs: number;
  readonly pace: Pace;
  /** Lets the server write its transactions into the archive. */
  readonly flush: () => Promise<void>;
  /** The same, and copy its whole state there. */
  readonly takeBase: () => Promise<void>;
  readonly noted: (event: UploadEvent) => void;
  /** The wall's clock, for ages, and one that never goes back. */
  readonly wallMs: () => number;
  readonly steadyMs: () => number;
}

export type UploadEvent =
  /** This server uploads from now on, or another one does. */
  | { readonly kind: "holder"; readonly holder: string; readonly isOwn: boolean }
  /** Transactions after the first zxid and up to the second one are not in the backup. */
  | { readonly kind: "gap"; readonly after: Zxid; readonly end: Zxid }
  /** The backup ends with another history than this server's: a state was restored. */
  | { readonly kind: "other-history"; readonly end: Zxid }
  /** A base is in the backup, and was read back. */
  | { readonly kind: "base"; readonly zxid: Zxid; readonly bytes: number }
  /** A file was passed over. */
  | { readonly kind: "damaged"; readonly message: string }
  | { readonly kind: "removed"; readonly count: number };

export interface Pass {
  readonly ensembleId: string;
  /** Whether a base is taken though none is due. */
  readonly isForced: boolean;
}

export interface PassResult {
  readonly isHolder: boolean;
  readonly holder: string;
  readonly facts: SharedFacts;
}

/** The range of a purge. */
export interface PurgeOrder {
  readonly ensembleId: string;
  readonly through: Zxid;
  /** Where the base would stand that is taken before: nothing is removed, and all is counted. */
  readonly planned?: Zxid | undefined;
}

/** The outcome of a purge, or of its plan. */
export type BackupPurge =
  | { readonly kind: "purged"; readonly removedCount: number }
  | { readonly kind: "others"; readonly holder: string }
  /** No base is behind the zxid. */
  | { readonly kind: "no-base" };

/**
 * Copies what a server's archive has and a backup has not, one pass at a time: files of the log,
 * then a base where one is due, which is read back, and then removes what is old.
 */
export class BackupUploader {
  readonly #options: UploaderOptions;
  readonly #lease: UploadLease;
  readonly #local: LocalArchive;
  #facts: SharedFacts = NO_FACTS;
  /** Whether it was read where the backup ends, which each new holder does. */
  #hasBegun = false;
  /** Where the backup ends; undefined while neither it nor the archive has a file. */
  #end: LogPosition | undefined;
  /** Where the backup begins: a file that begins before may have what a purge has removed. */
  #from: Zxid = ZXID_NONE;
  #takenMs = new Map<number, number>();
  /** The base has to be behind this, since a gap or another history is before it. */
  #baseBehind: Zxid | undefined;
  /** Where states stand that were restored or received in place of the history before. */
  #basesAt: Zxid[] = [];
  #holder: string | undefined;

  constructor(options: UploaderOptions) {
    this.#options = options;
    const { holder, leaseMs, steadyMs, target } = options;
    this.#lease = new UploadLease({ target, holder, leaseMs, nowMs: steadyMs });
    this.#local = new LocalArchive(options.archive);
  }

  /** @throws BackupError and StoreError: the next pass begins again where this one ended */
  async pass({ ensembleId, isForced }: Pass): Promise<PassResult> {
    const { holder, wallMs } = this.#options;
    const lease = await this.#lease.take(this.#facts);
    if (lease.kind === "others") return this.#wait(lease.holder, lease.facts);
    try {
      this.#hasBegun ||= await this.#begin({ ensembleId, isForced });
      if (!this.#hasBegun) {
        if (isForced) throw this.#behindError();
        // Another server may have archived more.
        await this.#lease.free();
        return this.#result();
      }
      this.#note(holder, true);
      // The archive has everything up to it in files then.
      if (isForced) await this.#options.takeBase();
      await this.#uploadFiles();
      await this.#uploadBase(isForced);
      await this.#removeOld();
    } catch (error) {
      // What is there is read again: an upload may have ended, or not.
      this.#hasBegun = false;
      if (error instanceof LeaseLost) return this.#wait("another server", undefined);
      // What this server cannot do, another one may.
      if (!(error instanceof BackupError) || error.code === "FOREIGN") await this.#lease.free().catch(() => {});
      throw error;
    }
    this.#facts = { ...this.#facts, passedMs: wallMs() };
    return this.#result();
  }

  /**
   * Removes what the backup has of transactions up to a zxid, but for its newest base. One that is
   * cut short leaves the rest to the next one.
   *
   * @throws BackupError as the target, or where it is another ensemble's
   */
  async purge({ ensembleId, through, planned }: PurgeOrder): Promise<BackupPurge> {
    const { holder } = this.#options;
    const lease = await this.#lease.take(this.#facts);
    if (lease.kind === "others") {
      this.#wait(lease.holder, lease.facts);
      return { kind: "others", holder: lease.holder };
    }
    this.#note(holder, true);
    try {
      await this.#begin({ ensembleId, isForced: true });
      if (planned === undefined) return await this.#purge(through);
      const names = planBackupPurge(await listBackup(this.#options.target), through, planned);
      return names === undefined ? { kind: "no-base" } : { kind: "purged", removedCount: names.length };
    } catch (error) {
      if (!(error instanceof LeaseLost)) throw error;
      this.#wait("another server", undefined);
      return { kind: "others", holder: "another server" };
    } finally {
      // The next pass reads which bases are left.
      this.#hasBegun = false;
    }
  }

  async #purge(through: Zxid): Promise<BackupPurge> {
    const { target } = this.#options;
    const listing = await listBackup(target);
    const names = planBackupPurge(listing, through);
    if (names === undefined) return { kind: "no-base" };
    // One that cannot be read would leave nothing to restore.
    const newest = listing.bases.at(-1);
    if (newest !== undefined) await readBackupManifest(target, newest.zxid);
    for (const name of names) {
      await this.#keepLease();
      await target.remove(name);
    }
    return { kind: "purged", removedCount: names.length };
  }

  /** Frees the lease. */
  close(): Promise<void> {
    return this.#lease.free();
  }

  #wait(holder: string, facts: SharedFacts | undefined): PassResult {
    this.#hasBegun = false;
    this.#note(holder, false);
    if (facts !== undefined) this.#facts = facts;
    return this.#result();
  }

  #result(): PassResult {
    const holder = this.#holder ?? this.#options.holder;
    return { isHolder: holder === this.#options.holder, holder, facts: this.#facts };
  }

  #note(holder: string, isOwn: boolean): void {
    if (this.#holder !== holder) this.#options.noted({ kind: "holder", holder, isOwn });
    this.#holder = holder;
  }

  /** @returns false while this server has archived less than the backup has */
  async #begin({ ensembleId, isForced }: Pass): Promise<boolean> {
    const { target } = this.#options;
    const listing = await listBackup(target);
    const found = await readBackupEnd(target, listing, ensembleId, (error) => this.#damaged(error));
    const { end, takenMs } = found;
    this.#takenMs = new Map(takenMs);
    const base = [...takenMs.keys()].reduce((newest, zxid) => Math.max(newest, zxid), -1);
    if (base >= 0) this.#facts = { ...this.#facts, base: base as Zxid, baseTakenMs: takenMs.get(base) };
    this.#facts = { ...this.#facts, end: end?.zxid };
    // Where a purge has left no file, what was before its base must not come again.
    this.#end = end ?? (this.#local.begin() === undefined ? undefined : found.base);
    this.#from = listing.files.map(({ after }) => after).reduce(earlierOf, this.#end?.zxid ?? ZXID_NONE);
    if (this.#end === undefined) return true;
    const isOfEnsemble = ensembleId !== "" && found.endEnsembleId === ensembleId;
    const isShared = async (): Promise<boolean> => isOfEnsemble || (await this.#sharesHistory(listing, found));
    return await this.#continues(this.#end, { isAlone: ensembleId === "", isForced, isShared });
  }

  /**
   * @returns false while this server has archived less than the backup has
   * @throws BackupError `FOREIGN` for the backup of another server: without an ensemble, only the
   *   history says whose it is
   */
  async #continues(end: LogPosition, { isAlone, isForced, isShared }: Claim): Promise<boolean> {
    const found = await this.#continuationOf(end, isAlone || isForced);
    switch (found.kind) {
      case "continues":
      case "gap":
        return true;
      case "behind":
        // No other server archives for a server alone.
        if (isAlone && this.#local.end() < end.zxid) throw this.#foreign(end);
        return false;
      case "other-history":
        if (!(await isShared())) throw this.#foreign(end);
        this.#options.noted({ kind: "other-history", end: end.zxid });
        this.#end = found.from;
        this.#baseBehind = found.from.zxid;
        this.#from = earlierOf(this.#from, found.from.zxid);
        return true;
    }
  }

  /**
   * The newest transactions are in the archive some seconds later: they are written before this
   * server is found to be behind, where it is not asked again soon.
   */
  async #continuationOf(end: LogPosition, mayFlush: boolean): Promise<Continuation> {
    const found = this.#local.continuationOf(end);
    if (found.kind !== "behind" || !mayFlush) return found;
    await this.#options.flush();
    return this.#local.continuationOf(end);
  }

  /** Whether a restore from this backup can be where this server's history branches off. */
  async #sharesHistory({ files }: BackupListing, { bases }: BackupEnd): Promise<boolean> {
    if (bases.some((position) => this.#local.has(position))) return true;
    const begin = this.#local.begin()?.zxid ?? 0;
    for (const file of files.filter(({ end }) => end >= begin).slice(0, SHARED_FILES_MAX)) {
      const footer = await passing(
        () => readBackupFooter(this.#options.target, file),
        () => {},
      );
      if (footer !== undefined && this.#local.has(footer.end)) return true;
    }
    return false;
  }

  #foreign(end: LogPosition): BackupError {
    const found = `a history that ends at ${formatZxid(end.zxid)}`;
    const expected = `this server's, which ends at ${formatZxid(this.#local.end())} and does not have that`;
    return new BackupError({ code: "FOREIGN", target: this.#options.target.name, expected, found });
  }

  #behindError(): Error {
    const [theirs, own] = [this.#end?.zxid ?? ZXID_NONE, this.#local.end()].map(formatZxid);
    return new Error(`no base was taken: the backup ends at ${theirs}, and this server's history at ${own}`);
  }

  async #uploadFiles(): Promise<void> {
    const { pace, target } = this.#options;
    for (;;) {
      const behind = this.#end ?? this.#local.begin();
      if (behind === undefined) return;
      if (this.#end === undefined) this.#beginAt(behind.zxid);
      const file = this.#local.next(behind, this.#from, (error) => this.#damaged(error));
      if (file === undefined) return;
      if (file.after.zxid > behind.zxid) this.#gap(behind.zxid, file.after.zxid);
      await this.#keepLease();
      if (!(await this.#isThere(file))) {
        await target.put(logName(file.after.zxid, file.end.zxid), file.bytes);
        await pace.spend(file.bytes.length);
      }
      this.#end = file.end;
      this.#facts = { ...this.#facts, end: file.end.zxid };
    }
  }

  /**
   * Whether another server has uploaded a file. A damaged one is replaced.
   *
   * @throws BackupError `FOREIGN` for a file of that name with another history: servers without an
   *   ensemble have no id by which a shared target is refused earlier
   */
  async #isThere({ after, bytes, end }: NextFile): Promise<boolean> {
    const { target } = this.#options;
    const name = logName(after.zxid, end.zxid);
    const listed = { name, after: after.zxid, end: end.zxid, bytes: bytes.length };
    const found = await passing(
      () => readBackupFooter(target, listed),
      () => {},
    );
    if (found === undefined) return false;
    if (found.end.chain === end.chain) return true;
    const theirs = { expected: "this server's history", found: "another history" };
    throw new BackupError({ code: "FOREIGN", target: target.name, ...theirs });
  }

  /**
   * The first file begins here. A base that was uploaded before that, of a state which another one
   * has replaced since, leads to no file.
   */
  #beginAt(zxid: Zxid): void {
    const { base } = this.#facts;
    if (!this.#hasBase || base === undefined || base >= zxid) return;
    this.#baseBehind = zxid;
    this.#basesAt = [...this.#basesAt.filter((other) => other !== zxid), zxid].slice(-BASES_AT_MAX);
  }

  #gap(after: Zxid, end: Zxid): void {
    this.#baseBehind = end;
    // Without a base there, nothing up to the next base could be restored.
    this.#basesAt = [...this.#basesAt, end].slice(-BASES_AT_MAX);
    // A state was restored in place of the history before: nothing is missing.
    const isRestored = epochOf(end) > epochOf(after) && counterOf(end) === 1;
    if (isRestored && this.#local.baseAt(end) !== undefined) return;
    this.#options.noted({ kind: "gap", after, end });
    this.#facts = { ...this.#facts, gapCount: this.#facts.gapCount + 1 };
  }

  async #uploadBase(isForced: boolean): Promise<void> {
    const { takeBase } = this.#options;
    // A new backup reaches back as far as the archive.
    const first = this.#hasBase ? undefined : this.#local.firstBase();
    if (first !== undefined) await this.#send(first);
    for (const zxid of this.#basesAt) {
      const base = this.#local.baseAt(zxid);
      // A large one takes a while.
      if (base === undefined) continue;
      if (!this.#isLast(base)) await this.#send(base);
      this.#basesAt = this.#basesAt.filter((other) => other !== zxid);
    }
    if (!isForced && !this.#isBaseDue()) return;
    // With no transaction since the last one, it is the same state with another time.
    if (!isForced && !this.#isFresh(this.#local.newestBase())) {
      await takeBase();
      await this.#uploadFiles();
    }
    const manifest = this.#local.newestBase();
    if (manifest !== undefined && !this.#isLast(manifest)) await this.#send(manifest);
  }

  /** Whether a base was uploaded as the last one. */
  #isLast({ position, takenMs }: BaseManifest): boolean {
    return position.zxid === this.#facts.base && takenMs === this.#facts.baseTakenMs;
  }

  get #hasBase(): boolean {
    return this.#facts.baseTakenMs !== undefined;
  }

  async #send(manifest: BaseManifest): Promise<void> {
    const { noted, pace, target, wallMs } = this.#options;
    const keep = (): Promise<void> => this.#keepLease();
    const bytes = await uploadBase({ target, local: this.#local, pace, keep }, manifest);
    const { zxid } = manifest.position;
    this.#takenMs.set(zxid, manifest.takenMs);
    if (this.#baseBehind !== undefined && zxid >= this.#baseBehind) this.#baseBehind = undefined;
    this.#facts = { ...this.#facts, base: zxid, baseTakenMs: manifest.takenMs, verifiedMs: wallMs() };
    noted({ kind: "base", zxid, bytes });
  }

  #isBaseDue(): boolean {
    const { baseEveryMs, wallMs } = this.#options;
    const { baseTakenMs } = this.#facts;
    if (this.#baseBehind !== undefined || baseTakenMs === undefined) return true;
    const ageMs = wallMs() - baseTakenMs;
    // A clock that was set back is no reason to wait for it.
    return ageMs >= baseEveryMs || ageMs < -baseEveryMs;
  }

  /** Whether a base of the archive can stand for one that is taken now. */
  #isFresh(manifest: BaseManifest | undefined): boolean {
    if (manifest === undefined) return false;
    const { baseEveryMs, wallMs } = this.#options;
    const isBehind = this.#baseBehind === undefined || manifest.position.zxid >= this.#baseBehind;
    const ageMs = wallMs() - manifest.takenMs;
    return isBehind && ageMs >= 0 && ageMs < baseEveryMs / 2 && !this.#isLast(manifest);
  }

  async #removeOld(): Promise<void> {
    const { noted, retainMs, target, wallMs } = this.#options;
    const fromMs = wallMs() - retainMs;
    // Two bases that are old enough: the older one is needed no longer.
    const old = [...this.#takenMs.values()].filter((takenMs) => takenMs <= fromMs);
    if (retainMs === 0 || old.length < 2) return;
    await this.#keepLease();
    const names = planRetention(await listBackup(target), this.#takenMs, fromMs);
    for (const name of names) {
      await this.#keepLease();
      await target.remove(name);
    }
    const first = [...this.#takenMs].filter(([, takenMs]) => takenMs <= fromMs).map(([zxid]) => zxid);
    for (const zxid of this.#takenMs.keys()) if (zxid < Math.max(...first)) this.#takenMs.delete(zxid);
    if (names.length > 0) noted({ kind: "removed", count: names.length });
  }

  async #keepLease(): Promise<void> {
    if (!(await this.#lease.keep(this.#facts))) throw new LeaseLost();
  }

  #damaged(error: StoreError): void {
    this.#options.noted({ kind: "damaged", message: error.message });
  }
}

/** Whether the history of this server is the one of a backup. */
interface Claim {
  readonly isAlone: boolean;
  readonly isForced: boolean;
  isShared(): Promise<boolean>;
}

/** Files that are looked at for a history from before a restore. */
const SHARED_FILES_MAX = 8;

/** States whose bases are waited for: more restores than that in one pass are not looked at. */
const BASES_AT_MAX = 16;

/** Another server has taken over, because this one was slow to renew. */
class LeaseLost extends Error {
  override readonly name = "LeaseLost";
}
