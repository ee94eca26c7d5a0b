import { randomInt } from "node:crypto";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import { type ApacheFollower, ApachePeerError, type FollowEvent, follow, type LinkStatus } from "@zooid/apache-peer";
import {
  ApacheDigest,
  ApacheTranslator,
  ApacheTxnError,
  type DataTree,
  type TranslatorOptions,
} from "@zooid/data-tree";
import {
  assert,
  assertNever,
  counted,
  epochOf,
  formatZxid,
  hostPort,
  mayFollow,
  newTxnHeader,
  type TxnOp,
  ZXID_NONE,
  type Zxid,
} from "@zooid/model";
import type { Replica } from "@zooid/replica";
import { type Appended, type Chain, chainFromHalves, formatChain } from "@zooid/txn-log";
import { apacheSnapshot, derivedPasswordHash } from "@zooid/txn-log/sqlite";
import { type ApacheTransaction, ApacheType } from "@zooid/wire/apache";
import { TxnBatchEncoder } from "@zooid/wire/txn";
import type { Checkpoint } from "../driver/driver-config.ts";
import type { LogFields } from "../operators/log-fields.ts";
import type { Storage } from "../storage/storage.ts";
import { Candidate } from "./candidate.ts";
import { DigestComparison } from "./digest-comparison.ts";
import { FollowError } from "./follow-error.ts";
import type { FollowConfig } from "./follow-options.ts";
import { FollowRecord } from "./follow-record.ts";
import type { FollowStatus } from "./follow-status.ts";
import { FollowRefusal, FollowSyncs, type SyncAnswer } from "./follow-syncs.ts";
import { countSessions, type FollowedSessions, touchSessions } from "./followed-sessions.ts";
import { commonNodes } from "./other-history.ts";
import type { SinceSync } from "./since-sync.ts";

export interface FollowingParts {
  readonly config: FollowConfig;
  readonly dataDir: string;
  /** The longest data of a node that clients could read. */
  readonly dataBytesMax: number;
  readonly storage: Storage;
  readonly replica: Replica;
  /** There is a state that clients may read, until {@link hideState}. */
  showState(): void;
  hideState(): void;
  /** Events of watches that were applied are sent soon. */
  applied(): void;
  info(text: string, fields: LogFields): void;
  warn(text: string, fields: LogFields): void;
  error(text: string, fields: LogFields): void;
  /** A snapshot of the ensemble is the state: the history begins with it. */
  replaced(): void;
  /** The ensemble cannot be followed any further, or a defect was met. Called once. */
  failed(error: unknown): void;
}

/** In the data directory: the epochs that were promised to the ensemble. */
const EPOCH_FILE = "apache-epochs.json";
/** In the data directory: the ensemble's servers, and whether its following has ended for good. */
const RECORD_FILE = "apache-followed.json";
/** In the data directory: what came and is not applied yet, without value for the next start. */
const SPOOL_FOLDER = "spool";
/** All appends are of one role. */
const GENERATION = 1;
const BATCH_BYTES = 128 * 1024;
/** Bytes that may be in the log and not durable yet. */
const PENDING_BYTES_MAX = 8 * 1024 * 1024;
/** Time of applying in one turn of the event loop. */
const TURN_MS = 4;
/** Ops of one transaction between two looks at the clock. */
const OPS_AT_ONCE = 64;
/** Bytes or entries after which the state file follows. */
const MARK_BYTES = 16 * 1024 * 1024;
const MARK_ENTRIES = 50_000;
const MARK_MS = 5000;
const BEHIND_RETRY_MS = 20;
/** Silence after which a SYNC is not waited for any more. */
const SYNC_MS = 5000;
/** A longer list of servers is not kept. */
const SERVERS_CHARS_MAX = 32 * 1024;
/** Paths of a transaction that an error names. */
const PATHS_MAX = 20;

/**
 * Follows an Apache ensemble: applies its transactions to the tree of a replica that serves no
 * clients, and logs them under their zxids.
 *
 * ```
 *  ApacheFollower (its own thread, its spool) ─▶ event ─▶ translated, op by op ─┬─▶ the tree, Apache's digest
 *                                                                              └─▶ batch ─▶ log ─▶ durable ─▶ state file may follow
 *        snapshot ─▶ Candidate, a tree of its own ─▶ up-to-date ─▶ a state file ─▶ installed at once, tree loaded from it
 * ```
 *
 * A transaction is applied before it is durable: Apache has committed it, and no client sees it
 * here. A start continues behind the last one in the log. Back-pressure ends at the spool: while
 * the log or the state file is slow, nothing is pulled.
 */
export class Following {
  readonly #parts: FollowingParts;
  readonly #options: TranslatorOptions;
  readonly #tree: DataTree;
  readonly #translator: ApacheTranslator;
  readonly #encoder = new TxnBatchEncoder();
  readonly #header = newTxnHeader();
  readonly #epochFile: string;
  readonly #record: FollowRecord;
  readonly #syncs = new FollowSyncs();
  #follower: ApacheFollower | undefined;
  #running: Promise<void> | undefined;
  #candidate: Candidate | undefined;
  /** The epochs that the ensemble before was promised, while a snapshot of another one may come. */
  #epochsBefore: Buffer | undefined;
  #digest: ApacheDigest;
  readonly #comparison: DigestComparison;
  /** Transactions and snapshots that were taken from the link. */
  #takenCount = 0;
  #transactionCount = 0;
  #snapshotCount = 0;
  #lastTimeMs = 0;
  #epoch: number;
  #lastText: string | undefined;
  /** The ensemble has dropped what it had committed: a snapshot may be older than the tree. */
  #isTakenBack = false;
  #isInstalling = false;
  /** Whether all that the leader had committed at the begin of this link is applied. */
  #isUpToDate = false;
  /** Links whose ends were taken. */
  #endedLinkCount = 0;
  /** Whether a transaction is applied in part. */
  #isApplying = false;
  #isStopped = false;
  #hasFailed = false;
  /** Nothing is applied until it is settled. */
  #hold: PromiseWithResolvers<void> | undefined;
  /** Whether an operator ends the following, or begins it again. */
  #isTurning = false;
  #turnMs = 0;
  // The log.
  readonly #sizes: number[] = [];
  #pendingBytes = 0;
  #isFlushPosted = false;
  #entries = 0;
  #bytes = 0;
  /** Points that the state file may follow to once they are durable, in order. */
  readonly #marks: Checkpoint[] = [];
  #durable: Zxid;
  #progress: PromiseWithResolvers<void> | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(parts: FollowingParts) {
    this.#parts = parts;
    this.#options = { passwordHash: derivedPasswordHash, dataBytesMax: parts.dataBytesMax };
    this.#tree = parts.replica.tree;
    this.#translator = new ApacheTranslator(this.#tree, this.#options);
    this.#digest = new ApacheDigest(this.#tree, crc32);
    this.#comparison = new DigestComparison(parts);
    this.#epochFile = join(parts.dataDir, EPOCH_FILE);
    this.#record = new FollowRecord(join(parts.dataDir, RECORD_FILE));
    this.#durable = this.#tree.applied;
    this.#epoch = parts.storage.log.durable.promise.epoch;
  }

  get hasState(): boolean {
    return this.#tree.applied !== ZXID_NONE;
  }

  /** Whether tree and log are at the same transaction, and it is durable. */
  get isLevel(): boolean {
    return !this.#isApplying && !this.#isInstalling && this.#tree.applied === this.#durable;
  }

  get status(): FollowStatus {
    const link = this.#follower?.status;
    const lag = Math.max(0, (link?.transactionCount ?? 0) - this.#takenCount);
    const address = link?.address;
    return {
      state: this.#stateOf(link),
      server: address === undefined ? undefined : hostPort(address.host, address.port),
      epoch: this.#epoch,
      zxid: this.#tree.applied,
      hasState: this.hasState,
      lagTransactions: lag,
      lagMs: lag === 0 || this.#lastTimeMs === 0 ? 0 : Math.max(0, Date.now() - this.#lastTimeMs),
      nodeCount: this.#tree.nodeCount,
      sessionCount: this.#tree.sessionCount,
      mark: this.#markOfTree(),
      digest: this.#comparison.state,
      digestCount: this.#comparison.count,
      transactionCount: this.#transactionCount,
      snapshotCount: this.#snapshotCount,
      resyncCount: link?.disconnectCount ?? 0,
      spoolBytes: link?.spoolBytes ?? 0,
      servers: this.#record.facts.servers,
      serversBefore: this.#record.facts.serversBefore,
      lastError: this.#lastText,
    };
  }

  start(): void {
    this.#timer = setInterval(() => this.#markInTime(), MARK_MS);
    this.#timer.unref();
    const { finished } = this.#record.facts;
    if (finished === undefined) this.#follow();
    else
      this.#parts.warn(
        `the Apache ensemble is not followed: an operator has ended it for good at ${formatZxid(finished)}; the admin command follow_resume follows it again`,
        { event: "follow-finished" },
      );
  }

  #follow(): void {
    const { config, dataDir, storage } = this.#parts;
    const spoolDirectory = join(dataDir, SPOOL_FOLDER);
    rmSync(spoolDirectory, { recursive: true, force: true });
    mkdirSync(spoolDirectory);
    // What a log has forgotten, the ensemble has.
    const isWhole = this.hasState && !storage.log.durable.amnesiac;
    this.#follower = follow(config.hosts, {
      ...config.link,
      epochFile: this.#epochFile,
      spoolDirectory,
      ...(isWhole ? { after: this.#tree.applied } : {}),
    });
    this.#epochsBefore = this.#readEpochs();
    this.#running = this.#run(this.#follower);
  }

  /** A batch is durable. */
  appended({ zxid }: Appended): void {
    this.#pendingBytes -= this.#sizes.shift() ?? 0;
    this.#durable = zxid;
    for (let mark = this.#marks[0]; mark !== undefined && mark.zxid <= zxid; mark = this.#marks[0]) {
      this.#marks.shift();
      this.#parts.storage.checkpoint(mark);
    }
    this.#progress?.resolve();
    this.#progress = undefined;
  }

  /** Everything that is applied now is durable, and the state file may follow to it. */
  async settle(): Promise<void> {
    while (this.#isApplying || this.#isInstalling) await nextTurn();
    this.#flush();
    this.#mark();
    const { applied } = this.#tree;
    const { log } = this.#parts.storage;
    while (this.#durable < applied && !this.#hasFailed && !log.isFull) await this.#nextProgress();
  }

  // For the take-over of Apache's clients

  /** The sessions of the ensemble. */
  async sessions(): Promise<FollowedSessions> {
    return await inTurns(countSessions(this.#tree));
  }

  /** Apache's leader extends every session by its timeout. @returns the number of sessions */
  async touch(): Promise<number | FollowRefusal> {
    const follower = this.#follower;
    if (follower === undefined || this.#stateOf(follower.status) !== "following") return NOT_FOLLOWED;
    return await inTurns(touchSessions(this.#tree, (touches) => follower.touch(touches)));
  }

  /** Waits until everything that Apache's leader has proposed by now is applied here. */
  async sync(): Promise<SyncAnswer | FollowRefusal> {
    const follower = this.#follower;
    if (follower === undefined || this.#stateOf(follower.status) !== "following") return NOT_FOLLOWED;
    // The answer is taken from among the events. A follower that ends has no answer.
    return await this.#syncs.ask(SYNC_MS, () => void follower.sync().catch(() => {}));
  }

  /**
   * Ends the following behind a transaction, for good: nothing that comes later is applied, also
   * by later starts.
   *
   * @returns where it stands, durably
   */
  async finish(zxid: Zxid): Promise<FollowEnd | FollowRefusal> {
    if (this.#isTurning) return TURNING;
    const { finished } = this.#record.facts;
    if (finished !== undefined) return finished === zxid ? this.#standing : this.#elsewhere(zxid);
    return await this.#whileHeld(async () => {
      if (this.#candidate !== undefined) return SNAPSHOT_COMES;
      if (this.#tree.applied !== zxid) return this.#elsewhere(zxid);
      const end = await this.#settled();
      if (end instanceof FollowRefusal) return end;
      await this.#record.keep({ finished: zxid });
      await this.#unlink();
      this.#parts.info(`the Apache ensemble is followed up to ${formatZxid(zxid)}, and no further`, {
        event: "follow-finished",
      });
      return end;
    });
  }

  /** Makes durable what is applied. @returns where that is */
  async place(): Promise<FollowEnd | FollowRefusal> {
    if (this.#isTurning) return TURNING;
    return this.#record.facts.finished === undefined ? await this.#whileHeld(() => this.#settled()) : this.#standing;
  }

  /** Follows the ensemble again whose following was ended. */
  async resume(): Promise<Zxid | FollowRefusal> {
    if (this.#isTurning) return TURNING;
    const { finished } = this.#record.facts;
    if (finished === undefined) return this.#tree.applied;
    this.#isTurning = true;
    try {
      await this.#record.keep({ finished: undefined });
      this.#takenCount = 0;
      this.#endedLinkCount = 0;
      if (!this.#isStopped) this.#follow();
    } finally {
      this.#isTurning = false;
    }
    this.#parts.info(`the Apache ensemble is followed again, from ${formatZxid(finished)} on`, {
      event: "follow-resumed",
    });
    return finished;
  }

  /** Where this server stands when everything that is applied is durable. */
  get #standing(): FollowEnd {
    const { applied, digestHigh, digestLow, nodeCount, sessionCount } = this.#tree;
    const since = this.#syncs.sinceLast;
    const { chain } = this.#parts.storage.log.durable.tail;
    return { zxid: applied, chain, digestHigh, digestLow, nodeCount, sessionCount, since };
  }

  /** Nothing is applied meanwhile. */
  async #whileHeld<T>(act: () => Promise<T>): Promise<T | FollowRefusal> {
    if (!this.hasState || this.#hasFailed || this.#isStopped) return NOT_FOLLOWED;
    this.#isTurning = true;
    this.#hold = Promise.withResolvers();
    try {
      while (this.#isApplying || this.#isInstalling) await nextTurn();
      return await act();
    } finally {
      this.#hold.resolve();
      this.#hold = undefined;
      this.#isTurning = false;
    }
  }

  async #settled(): Promise<FollowEnd | FollowRefusal> {
    await this.settle();
    return this.#durable === this.#tree.applied ? this.#standing : NOT_DURABLE;
  }

  #elsewhere(zxid: Zxid): FollowRefusal {
    const { finished } = this.#record.facts;
    const ended = finished === undefined ? "" : ", where its following was ended for good";
    return new FollowRefusal(
      `this server stands at ${formatZxid(this.#tree.applied)}${ended}, and ${formatZxid(zxid)} was expected`,
    );
  }

  /** Ends the link; what came and is not applied is dropped. */
  async #unlink(): Promise<void> {
    const follower = this.#follower;
    this.#follower = undefined;
    await follower?.[Symbol.asyncDispose]();
    this.#hold?.resolve();
    await this.#running;
    this.#syncs.end();
    this.#isUpToDate = false;
  }

  /** Ends the link, and makes durable what is applied. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    clearInterval(this.#timer);
    await this.#follower?.[Symbol.asyncDispose]();
    this.#syncs.end();
    this.#progress?.resolve();
    this.#hold?.resolve();
    await this.#running;
    rmSync(join(this.#parts.dataDir, SPOOL_FOLDER), { recursive: true, force: true });
    if (this.#hasFailed || this.#parts.storage.log.isFull) return;
    await this.settle();
  }

  /** Undefined while the log has less than the tree. */
  #markOfTree(): FollowStatus["mark"] {
    if (!this.isLevel) return undefined;
    const { digestHigh, digestLow } = this.#tree;
    const { chain } = this.#parts.storage.log.durable.tail;
    return { digest: formatChain(chainFromHalves(digestHigh, digestLow)), chain: formatChain(chain) };
  }

  #stateOf(link: LinkStatus | undefined): FollowStatus["state"] {
    if (this.#hasFailed) return "failed";
    if (this.#record.facts.finished !== undefined) return "finished";
    if (this.#isInstalling) return "installing";
    if (link === undefined) return "starting";
    if (link.state === "waiting-for-consumer") return "waiting-for-room";
    // The link is ahead of what was taken from it.
    const isTaken = this.#isUpToDate && link.disconnectCount === this.#endedLinkCount;
    return link.state === "following" && !isTaken ? "synchronizing" : link.state;
  }

  async #run(follower: ApacheFollower): Promise<void> {
    try {
      await this.#beginDigest();
      if (this.hasState) this.#parts.showState();
      this.#turnMs = performance.now();
      for await (const event of follower) {
        if (this.#hold !== undefined) await this.#hold.promise;
        // Another link has taken its place, or none: an operator has ended it.
        if (this.#follower !== follower) return;
        const taken = this.#take(event);
        if (taken !== undefined) await taken;
        if (this.#isStopped) return;
      }
    } catch (error) {
      await this.#fail(error);
    }
  }

  async #fail(error: unknown): Promise<void> {
    if (this.#isStopped || this.#hasFailed) return;
    this.#hasFailed = true;
    this.#progress?.resolve();
    const isExpected = error instanceof ApacheTxnError || error instanceof ApachePeerError;
    const failure = isExpected ? new FollowError(this.#sentence(error), { cause: error }) : error;
    this.#lastText = failure instanceof Error ? failure.message : String(failure);
    await this.#follower?.[Symbol.asyncDispose]();
    this.#parts.failed(failure);
  }

  #sentence(error: ApacheTxnError | ApachePeerError): string {
    const sentence = `the Apache ensemble is not followed any further: ${error.message}`;
    const isOfState = error instanceof ApacheTxnError && error.code !== "SNAPSHOT_LACKS";
    return isOfState ? `${sentence}; an empty dataDir begins with another snapshot` : sentence;
  }

  #take(event: FollowEvent): Promise<void> | undefined {
    switch (event.kind) {
      case "transaction":
        return this.#transaction(event.transaction);
      case "session":
      case "acl":
      case "node":
      case "snapshot-end":
        this.#candidate?.take(event);
        return this.#pace();
      case "snapshot":
        this.#begin(event.zxid);
        return undefined;
      case "up-to-date":
        return this.#upToDate(event.servers);
      case "connected": {
        this.#epoch = event.epoch;
        const { host, port } = event.address;
        this.#parts.info(`follows the Apache server ${hostPort(host, port)} in epoch ${event.epoch}`, {
          event: "follow-linked",
        });
        return undefined;
      }
      case "disconnected":
        this.#disconnected(event);
        return undefined;
      case "no-leader":
        this.#lastText = event.failures
          .map(({ address, error }) => `${hostPort(address.host, address.port)}: ${error.message}`)
          .join("; ");
        this.#parts.warn(
          `no Apache server leads, or takes observers, at ${this.#parts.config.hosts}; the search continues: ${this.#lastText}`,
          {
            event: "follow-no-leader",
          },
        );
        return undefined;
      case "synced":
        this.#syncs.answered(this.#tree.applied);
        return undefined;
      case "continued":
        return undefined;
      default:
        return assertNever(event);
    }
  }

  #disconnected({ error }: Extract<FollowEvent, { kind: "disconnected" }>): void {
    const { error: alarm, warn } = this.#parts;
    this.#isUpToDate = false;
    this.#endedLinkCount++;
    this.#lastText = error.message;
    // One whose parts have all come is continued, or another one comes.
    if (this.#candidate?.isLoaded === false) this.#candidate = undefined;
    if (error.code === "HISTORY_TAKEN_BACK") {
      this.#isTakenBack = true;
      alarm(`the Apache ensemble has lost transactions: ${error.message}`, { event: "follow-history-taken-back" });
    } else warn(`the link to the Apache ensemble has ended: ${error.message}`, { event: "follow-link-lost" });
  }

  // Snapshots

  #begin(zxid: Zxid): void {
    this.#parts.info(`the Apache ensemble sends a snapshot at ${formatZxid(zxid)}`, { event: "follow-snapshot" });
    const hashKey = { k0: randomInt(2 ** 32) | 0, k1: randomInt(2 ** 32) | 0 };
    this.#candidate = new Candidate(zxid, this.#tree.level, hashKey, this.#options);
    this.#syncs.replaced();
  }

  /** The leader has sent everything that it had committed: a snapshot is whole, and exact. */
  async #upToDate(servers: string): Promise<void> {
    await this.#keepServers(servers);
    const candidate = this.#candidate;
    if (candidate !== undefined) return await this.#install(candidate);
    this.#isUpToDate = true;
  }

  /** The ensemble's servers, and those before them, which an operator may want back. */
  async #keepServers(servers: string): Promise<void> {
    const { servers: before } = this.#record.facts;
    if (servers === before || servers === "" || servers.length > SERVERS_CHARS_MAX) return;
    await this.#record.keep({ servers, serversBefore: before });
  }

  async #install(candidate: Candidate): Promise<void> {
    this.#flush();
    while (this.#pendingBytes > 0 && !this.#isStopped) await this.#nextProgress();
    await this.#refuseOtherHistory(candidate);
    const digest = new ApacheDigest(candidate.tree, crc32);
    await inTurns(digest.begin());
    const path = candidate.pathWithoutAcl();
    if (path !== undefined)
      this.#parts.warn(
        `the access list of ${JSON.stringify(path)} was neither in the snapshot nor behind it: no client has a permission on the znode`,
        {
          event: "follow-acl-missing",
        },
      );
    if (this.#isStopped) return;
    this.#isInstalling = true;
    try {
      await this.#replaceState(candidate);
      this.#candidate = undefined;
      this.#isTakenBack = false;
      this.#snapshotCount++;
      this.#comparison.begin();
      await this.#beginDigest();
      assert(this.#digest.value === digest.value, "a state that is installed is the one that came");
      if (candidate.digest !== undefined) this.#compareWith(candidate.digest, this.#tree.applied, []);
      if (candidate.lastTimeMs !== 0) this.#lastTimeMs = candidate.lastTimeMs;
    } finally {
      this.#isInstalling = false;
    }
    this.#parts.showState();
    this.#epochsBefore = this.#readEpochs();
    this.#isUpToDate = true;
    const { nodeCount, sessionCount, applied } = this.#tree;
    this.#parts.replaced();
    this.#parts.info(
      `the snapshot is the state: ${counted(nodeCount, "znode")} and ${counted(sessionCount, "session")} at ${formatZxid(applied)}`,
      {
        event: "follow-snapshot-installed",
      },
    );
  }

  /** In one step on the disk: before it the old state is in force, behind it the new one. */
  async #replaceState(candidate: Candidate): Promise<void> {
    const { storage, replica } = this.#parts;
    const at = candidate.applied;
    const receiver = await storage.importSnapshot({ sessions: "keep", at });
    try {
      for (const piece of apacheSnapshot(candidate.content(), BigInt(at))) await receiver.add(piece);
    } catch (error) {
      await receiver.abandon();
      throw error;
    }
    const { position, stateFile, epochs } = await receiver.finish();
    const { log } = storage;
    this.#parts.hideState();
    this.#promise(this.#epoch);
    log.beginStage(position, () => {});
    const epoch = Math.max(this.#epoch, log.durable.currentEpoch);
    const install = { epoch, tail: at, committed: at, snapshot: { stateFile, epochs }, endsAmnesia: true };
    await new Promise<void>((done) => log.installHistory(install, done));
    storage.install(replica);
    this.#durable = at;
    // What was logged before is no part of the state any more.
    this.#marks.length = 0;
    this.#entries = 0;
    this.#bytes = 0;
  }

  /** @throws FollowError where the snapshot is of another ensemble than the state here */
  async #refuseOtherHistory(candidate: Candidate): Promise<void> {
    if (!this.hasState) return;
    const { applied } = this.#tree;
    const { older, common } = await inTurns(commonNodes(this.#tree, candidate.tree, applied));
    const isBefore = candidate.applied < applied && !this.#isTakenBack;
    if (!isBefore && (older === 0 || common > 0)) return;
    this.#candidate = undefined;
    // Nothing was promised to this ensemble.
    await this.#follower?.[Symbol.asyncDispose]();
    if (this.#epochsBefore !== undefined) writeFileSync(this.#epochFile, this.#epochsBefore);
    const found = isBefore
      ? `it stands at ${formatZxid(candidate.applied)}, and ${formatZxid(applied)} was followed`
      : `${counted(older, "znode")} of it are older than ${formatZxid(applied)}, the last transaction here, and none of them is here`;
    throw new FollowError(
      `the snapshot is that of another ensemble than the one that was followed, or of a restored one: ${found}; nothing was changed; to follow it, begin with an empty dataDir`,
    );
  }

  #readEpochs(): Buffer | undefined {
    try {
      return readFileSync(this.#epochFile);
    } catch {
      // It is made with the first promise.
      return undefined;
    }
  }

  // Transactions

  #transaction(transaction: ApacheTransaction): Promise<void> | undefined {
    this.#takenCount++;
    const candidate = this.#candidate;
    if (candidate !== undefined) {
      candidate.apply(transaction);
      this.#transactionCount++;
      return this.#pace();
    }
    const header = this.#header;
    this.#translator.header(transaction, header);
    const { applied } = this.#tree;
    if (!this.hasState || !mayFollow(applied, header.zxid))
      throw new FollowError(
        `transaction ${formatZxid(header.zxid)} came behind ${formatZxid(applied)}: one is missing, or comes twice`,
      );
    if (epochOf(header.zxid) > epochOf(applied)) this.#promise(epochOf(header.zxid), "held");
    this.#syncs.applied(transaction);
    this.#isApplying = true;
    this.#encoder.begin(header);
    const ops = this.#translator.ops(transaction);
    if (!this.#applySome(ops)) return this.#applyRest(ops, transaction);
    return this.#end(transaction);
  }

  /** @returns whether the transaction is applied */
  #applySome(ops: Generator<Readonly<TxnOp>, void, undefined>): boolean {
    for (let left = OPS_AT_ONCE; left > 0; left--) {
      const next = ops.next();
      if (next.done === true) return true;
      const op = next.value;
      this.#encoder.op(op);
      this.#digest.applying(op);
      this.#digest.applied(op, this.#parts.replica.followed.apply(this.#header, op));
    }
    return false;
  }

  async #applyRest(ops: Generator<Readonly<TxnOp>, void, undefined>, transaction: ApacheTransaction): Promise<void> {
    do await this.#pace();
    while (!this.#applySome(ops));
    await this.#end(transaction);
  }

  #end(transaction: ApacheTransaction): Promise<void> | undefined {
    const header = this.#header;
    if (transaction.digest !== undefined) this.#compareWith(transaction.digest, header.zxid, pathsOf(transaction));
    this.#encoder.end();
    this.#parts.replica.followed.finish(header);
    this.#parts.applied();
    this.#isApplying = false;
    this.#transactionCount++;
    this.#lastTimeMs = header.timeMs;
    if (this.#encoder.sizeBytes >= BATCH_BYTES) this.#flush();
    else if (!this.#isFlushPosted) {
      this.#isFlushPosted = true;
      setImmediate(() => {
        this.#isFlushPosted = false;
        this.#flush();
      });
    }
    if (transaction.type === ApacheType.RECONFIG) return this.#reconfigured(transaction);
    return this.#pace();
  }

  async #reconfigured({ changes }: ApacheTransaction): Promise<void> {
    for (const change of changes) if (change.kind === "set") await this.#keepServers(change.data?.toString() ?? "");
    await this.#pace();
  }

  #compareWith(expected: bigint, zxid: Zxid, paths: readonly string[]): void {
    this.#comparison.compare({ expected, found: this.#digest.value, zxid, paths });
  }

  async #beginDigest(): Promise<void> {
    this.#digest = new ApacheDigest(this.#tree, crc32);
    await inTurns(this.#digest.begin());
  }

  /**
   * An epoch of the ensemble, before anything is logged of it.
   *
   * @param held whether its history is here
   */
  #promise(epoch: number, held: "held" | "" = ""): void {
    const { log } = this.#parts.storage;
    const { promise, currentEpoch, identity } = log.durable;
    if (epoch > promise.epoch) log.setPromise({ epoch, sid: identity.sid, incarnation: identity.bootCount }, () => {});
    if (held === "held" && epoch > currentEpoch) log.setCurrentEpoch(epoch, () => {});
  }

  // Log and state file

  #flush(): void {
    if (this.#isApplying || this.#hasFailed) return;
    const { log } = this.#parts.storage;
    while (this.#encoder.count > 0) {
      const batch = this.#encoder.take();
      this.#sizes.push(batch.end);
      this.#pendingBytes += batch.end;
      this.#bytes += batch.end;
      this.#entries += batch.count;
      log.append({ bytes: batch.bytes, start: 0, end: batch.end }, GENERATION, batch.last);
      this.#encoder.recycle(batch);
    }
    if (this.#bytes >= MARK_BYTES || this.#entries >= MARK_ENTRIES) this.#mark();
  }

  #markInTime(): void {
    if (this.#isApplying || this.#isInstalling || this.#entries === 0) return;
    this.#flush();
    this.#mark();
  }

  /** The state file may follow to what is applied, once it is durable. */
  #mark(): void {
    if (this.#entries === 0) return;
    const { applied, digestHigh, digestLow } = this.#tree;
    const mark = { zxid: applied, digestHigh, digestLow, bytes: this.#bytes };
    this.#bytes = 0;
    this.#entries = 0;
    if (this.#durable >= applied) this.#parts.storage.checkpoint(mark);
    else this.#marks.push(mark);
  }

  /** Waits where the log or the state file is behind, and lets others have their turn. */
  #pace(): Promise<void> | undefined {
    if (this.#pendingBytes > PENDING_BYTES_MAX || this.#parts.storage.isBehind()) return this.#untilThereIsRoom();
    return performance.now() - this.#turnMs < TURN_MS ? undefined : this.#nextTurn();
  }

  async #untilThereIsRoom(): Promise<void> {
    while (this.#pendingBytes > PENDING_BYTES_MAX && !this.#isStopped && !this.#hasFailed) await this.#nextProgress();
    while (this.#parts.storage.isBehind() && !this.#isStopped && !this.#hasFailed)
      await new Promise((resolve) => setTimeout(resolve, BEHIND_RETRY_MS));
    await this.#nextTurn();
  }

  async #nextTurn(): Promise<void> {
    await nextTurn();
    this.#turnMs = performance.now();
  }

  /** Until a batch is durable, or the end. */
  #nextProgress(): Promise<void> {
    if (this.#sizes.length === 0) return nextTurn();
    this.#progress ??= Promise.withResolvers();
    return this.#progress.promise;
  }
}

/** A durable end of what was followed. */
export interface FollowEnd {
  readonly zxid: Zxid;
  readonly chain: Chain;
  readonly digestHigh: number;
  readonly digestLow: number;
  readonly nodeCount: number;
  readonly sessionCount: number;
  /** The transactions since the last answer to a SYNC. */
  readonly since: SinceSync;
}

const NOT_FOLLOWED = new FollowRefusal("the Apache ensemble is not followed now: follow_status has the reason", {
  isForNow: true,
});
const SNAPSHOT_COMES = new FollowRefusal("a snapshot of the Apache ensemble comes, and is not the state yet", {
  isForNow: true,
});
const NOT_DURABLE = new FollowRefusal("the log cannot be made durable now: the log of this server has the reason", {
  isForNow: true,
});
const TURNING = new FollowRefusal("another request ends the following now, or begins it again", { isForNow: true });

function pathsOf({ changes }: ApacheTransaction): readonly string[] {
  return changes
    .flatMap((change) => ("path" in change ? [change.path] : "paths" in change ? change.paths : []))
    .slice(0, PATHS_MAX);
}

/** Runs work to its end, in turns of the event loop. */
async function inTurns<T>(work: Generator<void, T, undefined>): Promise<T> {
  let startMs = performance.now();
  for (;;) {
    const step = work.next();
    if (step.done === true) return step.value;
    if (performance.now() - startMs < TURN_MS) continue;
    await nextTurn();
    startMs = performance.now();
  }
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
