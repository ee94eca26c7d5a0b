import { randomInt } from "node:crypto";
import { join } from "node:path";
import { DataTree, type PrepareContext } from "@zooid/data-tree";
import {
  composeZxid,
  EPOCH_MAX,
  epochOf,
  formatZxid,
  knowsLevel,
  type Member,
  newTxnHeader,
  newTxnOp,
  OpCode,
  OWN_LEVELS,
  type Zxid,
} from "@zooid/model";
import { StoreError } from "@zooid/txn-log";
import { ArchiveFile, readBase, type Store } from "@zooid/txn-log/sqlite";
import { TxnBatchEncoder, TxnReader } from "@zooid/wire/txn";
import { loadTree } from "../storage/load-tree.ts";
import { foundEnsemble } from "./found-ensemble.ts";
import { FrameBatch, forEachFrame } from "./frame-batch.ts";
import { fillNewDirectory, type NewDirectoryOptions } from "./new-directory.ts";
import { OfflineError } from "./offline-error.ts";
import { EPOCHS_SKIPPED } from "./recover-member.ts";
import type { RestorePlan } from "./restore-plan.ts";

export interface RestoreOptions extends NewDirectoryOptions {
  /** The member that the server is from then on, alone. Undefined: a standalone server. */
  readonly member: Member | undefined;
  /** Whether sessions, and their ephemeral nodes, are kept; else they end. */
  readonly keepsSessions: boolean;
  /** Ends the restore, which leaves nothing behind then. */
  readonly signal?: AbortSignal;
}

export interface Restored {
  /** The last transaction of the archive that is in it. */
  readonly zxid: Zxid;
  readonly nodeCount: number;
  /** Sessions that were ended. */
  readonly endedCount: number;
  readonly ensembleId: string;
}

const BATCH_BYTES = 256 * 1024;
/** The largest part of a session's end in one transaction. */
const CLOSE_LIMITS = { opCountMax: 500, pathBytesMax: 32 * 1024 };

/**
 * Makes the data directory of a stopped server from an archive: the base, then the transactions
 * behind it. Every file is read against its sums, the log's chain, and the tree's digest where one
 * is known. The next epoch lies far above those of the archive, so that no zxid comes twice.
 *
 * @throws OfflineError and StoreError; nothing is left behind then
 */
export function restoreHistory(plan: RestorePlan, options: RestoreOptions): Promise<Restored> {
  for (const text of plan.warnings) options.warn(text);
  return fillNewDirectory(options, (store) => restoreTo(store, plan, options));
}

async function restoreTo(
  store: Store,
  plan: RestorePlan,
  { directories, member, keepsSessions, signal }: RestoreOptions,
): Promise<Restored> {
  const history = new RestoredHistory(store, directories.dataDir);
  await readAsData(plan.base.folder, () => history.installBase(plan));
  for (const { file, after } of plan.files) {
    signal?.throwIfAborted();
    await readAsData(file, () => history.addFile(file, after, plan.zxid));
  }
  signal?.throwIfAborted();
  const epoch = epochOf(plan.zxid) + EPOCHS_SKIPPED;
  if (epoch >= EPOCH_MAX) throw new OfflineError([`epoch ${epochOf(plan.zxid)} leaves no room for another one`]);
  const endedCount = keepsSessions ? 0 : history.endSessions(epoch);
  await history.finish(epoch);
  const ensembleId = member === undefined ? "" : await foundEnsemble(store, member, epoch + 1);
  return { zxid: plan.zxid, nodeCount: history.tree.nodeCount, endedCount, ensembleId };
}

/**
 * A file may come from anyone, with sums that are right: one that makes the reader, the tree or the
 * store fail is damaged.
 */
async function readAsData(file: string, read: () => Promise<void>): Promise<void> {
  try {
    await read();
  } catch (cause) {
    const isKnown = cause instanceof StoreError && cause.code !== "SNAPSHOT_REFUSED";
    if (isKnown || cause instanceof OfflineError || !(cause instanceof Error)) throw cause;
    throw new StoreError({ code: "DAMAGED", file, place: "its content", found: cause.message }, { cause });
  }
}

/** The tree and the log of a new directory, brought forward together. */
class RestoredHistory {
  readonly tree: DataTree = new DataTree({ hashKey: { k0: randomInt(2 ** 32) | 0, k1: randomInt(2 ** 32) | 0 } });
  readonly #store: Store;
  readonly #directory: string;
  readonly #reader = new TxnReader();
  readonly #header = newTxnHeader();
  readonly #op = newTxnOp();
  readonly #frames = new FrameBatch();
  #epoch = 0;

  constructor(store: Store, directory: string) {
    this.#store = store;
    this.#directory = directory;
  }

  async installBase({ base, manifest }: RestorePlan): Promise<void> {
    const { position, epochs } = manifest;
    const { log } = this.#store;
    const receiver = await this.#store.receiveSnapshot(position, epochs);
    for (const chunk of readBase(base, manifest)) await receiver.add(chunk);
    const { stateFile } = await receiver.finish();
    this.#holdEpoch(Math.max(1, epochOf(position.zxid)));
    log.beginStage(position, () => {});
    await new Promise<void>((done) =>
      log.installHistory(
        { epoch: this.#epoch, tail: position.zxid, committed: position.zxid, snapshot: { stateFile, epochs } },
        done,
      ),
    );
    this.#store.adoptState();
    loadTree(this.tree, this.#store, join(this.#directory, stateFile));
    this.#checkDigest(manifest.digestHigh, manifest.digestLow, base.folder);
  }

  /** Adds the entries of a file up to a zxid, and waits until they are on the disk. */
  async addFile(file: string, after: Zxid, upTo: Zxid): Promise<void> {
    using archive = new ArchiveFile(file);
    archive.verify();
    const { footer } = archive;
    archive.walk(after, (zxid, bytes, start, end) => {
      if (zxid > this.tree.applied && zxid <= upTo) this.#add(zxid, bytes, start, end);
    });
    this.#frames.flush((bytes, end) => this.#append(bytes, end));
    await this.#written();
    if (footer.end.zxid === this.tree.applied) this.#checkDigest(footer.digestHigh, footer.digestLow, file);
  }

  /** @returns how many sessions were ended, by transactions of an epoch of their own */
  endSessions(epoch: number): number {
    const sessions: (readonly [high: number, low: number])[] = [];
    this.tree.forEachSession((high, low) => sessions.push([high, low]));
    const encoder = new TxnBatchEncoder();
    let zxid = composeZxid(epoch, 0);
    for (const [high, low] of sessions) {
      for (let isWhole = false; !isWhole; ) {
        zxid = (zxid + 1) as Zxid;
        const header = { ...newTxnHeader(), zxid, sessionHigh: high, sessionLow: low, op: OpCode.CLOSE_SESSION };
        header.timeMs = Date.now();
        encoder.begin(header);
        isWhole = this.tree.prepareCloseSession(high, low, CLOSE_LIMITS, contextAt(zxid, header.timeMs), (op) =>
          encoder.op(op),
        );
        encoder.end();
        const { bytes, end } = encoder.take();
        forEachFrame(bytes, end, (at, start, stop) => this.#add(at, bytes, start, stop));
      }
    }
    this.#frames.flush((bytes, end) => this.#append(bytes, end));
    return sessions.length;
  }

  /** The state file follows, and the epoch is held: the next one is above it. */
  async finish(epoch: number): Promise<void> {
    this.#holdEpoch(epoch);
    const { digestHigh, digestLow, applied } = this.tree;
    await this.#written();
    if (applied > this.#store.state.applied.applied.zxid) {
      this.#store.state.advance({ zxid: applied, digestHigh, digestLow, bytes: 1 });
    }
    const { applied: reached } = await this.#store.state.flush();
    if (reached.zxid !== applied) {
      throw new StoreError({
        code: "DEFECT",
        reason: `the state ends at ${formatZxid(reached.zxid)}, the tree at ${formatZxid(applied)}`,
      });
    }
  }

  /** A write completes after all before it. */
  #written(): Promise<void> {
    return new Promise((done) => this.#store.log.setConfigs({}, done));
  }

  #add(zxid: Zxid, bytes: Uint8Array, start: number, end: number): void {
    if (epochOf(zxid) > this.#epoch) {
      this.#frames.flush((batch, length) => this.#append(batch, length));
      this.#holdEpoch(epochOf(zxid));
    }
    this.#reader.open(bytes, start, end, this.#header);
    this.#header.zxid = zxid;
    while (this.#reader.next(this.#op)) {
      this.#refuseUnknownLevel();
      this.tree.apply(this.#header, this.#op, undefined);
    }
    this.tree.finish(this.#header);
    this.#frames.add(zxid, bytes, start, end);
    if (this.#frames.length >= BATCH_BYTES) this.#frames.flush((batch, length) => this.#append(batch, length));
  }

  #refuseUnknownLevel(): void {
    const { op, version: level } = this.#op;
    if (op !== OpCode.RAISE_LEVEL || knowsLevel(OWN_LEVELS, level)) return;
    throw new StoreError({ code: "UNKNOWN_LEVEL", directory: "the backup", level, known: OWN_LEVELS });
  }

  #append(bytes: Uint8Array, end: number): void {
    this.#store.log.append({ bytes, start: 0, end }, 1, this.tree.applied);
  }

  #holdEpoch(epoch: number): void {
    if (epoch <= this.#epoch) return;
    this.#epoch = epoch;
    const { log } = this.#store;
    const { sid, bootCount } = log.durable.identity;
    log.setPromise({ epoch, sid, incarnation: bootCount }, () => {});
    if (this.tree.applied > 0) log.setCurrentEpoch(epoch, () => {});
  }

  #checkDigest(high: number, low: number, file: string): void {
    // Both are 0 where it is not known.
    if ((high === 0 && low === 0) || (this.tree.digestHigh === high && this.tree.digestLow === low)) return;
    const place = `the state at ${formatZxid(this.tree.applied)}`;
    throw new StoreError({ code: "DAMAGED", file, place, found: "its digest is not the one that the tree had there" });
  }
}

/** The end of a session asks for nothing but its place in the history. */
function contextAt(zxid: Zxid, timeMs: number): PrepareContext {
  return {
    sessionHigh: 0,
    sessionLow: 0,
    identities: [],
    rules: { skipAcl: false, schemes: new Map() },
    zxid,
    timeMs,
    fixAcl: () => undefined,
    isTtlEnabled: true,
    isQuotaEnforced: false,
    heldBytesMax: Number.POSITIVE_INFINITY,
    overQuota: () => {},
  };
}
