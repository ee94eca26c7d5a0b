import { createHash } from "node:crypto";
import {
  type ConnectionRef,
  type ConnectRequest,
  type ElectionMessage,
  FRAME_HEADER_BYTES,
  frameLength,
  frameZxid,
  type HashKey,
  type LinkRef,
  type PeerMessage,
  type QuorumVerifier,
  type ReplySink,
  type ServerId,
  type TxnHeader,
  type TxnOp,
  type Zxid,
} from "@zooid/model";
import { type EnsembleConfig, REPLICA_DEFAULTS, type Refusal, Replica, type ReplicaEvent } from "@zooid/replica";
import { RequestReader } from "@zooid/wire";
import { TxnBatchEncoder, TxnReader } from "@zooid/wire/peer";
import type { ZabLog } from "@zooid/zab";
import { type Answer, answerSink } from "./answers.ts";
import { Disk, type DiskImage, type DiskOptions } from "./disk.ts";
import type { Limits } from "./limits.ts";
import type { Network, NetworkEnd } from "./network.ts";
import { NoChance, type Prng } from "./prng.ts";
import type { Scheduler } from "./scheduler.ts";
import { SnapshotCourier, type StateRegistry } from "./snapshot-transfer.ts";
import { digestOf, stateImageOf } from "./state-image.ts";

export const TICK_MS = 200;
export const INIT_LIMIT = 10;
export const SYNC_LIMIT = 5;
export const SESSION_TIMEOUT_MS = 2000;
/** Frames of a connection with room again that are read in one turn. */
export const READ_ON_COUNT_MAX = 4;
const NO_BYTES = new Uint8Array(0);
/** How long the rest of a short turn waits, in half milliseconds. */
const SHORT_TURN_PAUSES = 16;

export interface ServerOptions {
  readonly sid: ServerId;
  readonly verifier: QuorumVerifier;
  readonly isObserver: boolean;
  readonly electionAlg: 0 | 3;
  readonly counterMax?: number;
  readonly windowBytes?: number;
  readonly runBytes?: number;
  /** Whatever else its place in the ensemble is to be. */
  readonly ensemble?: Partial<EnsembleConfig>;
  /** It is the ensemble: no election, no links; it takes its epoch when it starts. */
  readonly standalone?: boolean;
  /** Default: those of every replica. */
  readonly limits?: Limits;
  /** Whether a turn may end while a transaction is applied in part, and while more is due to be applied. */
  readonly hasShortTurns?: boolean;
  /** When its turns end, and how much is delivered in one, is not left to chance. */
  readonly isSteady?: boolean;
  /** Where answers go in place of the watcher: as bytes, say. */
  readonly replies?: ReplySink;
}

/** What the world around a server is told of it. */
export interface ServerWatcher {
  heard(server: SimServer, to: ConnectionRef, xid: number, zxid: number, answer: Answer): void;
  /** A transaction is about to be applied; its first op. */
  applying?(server: SimServer, header: Readonly<TxnHeader>, op: Readonly<TxnOp>): void;
  /** A transaction was applied whole: also at a replay. */
  applied(server: SimServer, header: Readonly<TxnHeader>): void;
  /** The tree became a state that was received, or that the log continues. */
  loaded?(server: SimServer): void;
  /** A leader hands entries to its log, which is when they are proposed. */
  proposed?(server: SimServer, bytes: Uint8Array, start: number, end: number): void;
  /** After each step of a server. */
  stepped(server: SimServer): void;
  sent(server: SimServer, link: LinkRef, message: PeerMessage): void;
  elects?(server: SimServer, to: ServerId, message: ElectionMessage): void;
  note(server: SimServer, event: ReplicaEvent): void;
  /** A learner gave up a state that it received in part. */
  stateAbandoned?(server: SimServer, nextPart: number): void;
  /** A connection is about to be closed for what its client asked. */
  refused?(server: SimServer, ref: ConnectionRef, refusal: Refusal): void;
  /** A connection has asked for too much and is not read until there is room. */
  stalled?(server: SimServer): void;
  failed(server: SimServer, error: unknown): void;
}

export interface World {
  readonly scheduler: Scheduler;
  readonly network: Network;
  readonly registry: StateRegistry;
  readonly watcher: ServerWatcher;
}

/** One life of one server: the real replica in a simulated world. It ends with {@link crash}. */
export class SimServer implements NetworkEnd {
  readonly sid: ServerId;
  readonly replica: Replica;
  readonly disk: Disk;
  readonly #world: World;
  readonly #chance: Prng;
  readonly #secrets: Prng;
  /** Where a turn ends before all is applied; undefined: nowhere. */
  readonly #shortTurns: Prng | undefined;
  /** What came on connections that are not read for now. */
  readonly #unread = new Map<ConnectionRef, Uint8Array[]>();
  readonly #resumed: ConnectionRef[] = [];
  #isUp = true;
  #isPaused = false;
  readonly #held: (() => void)[] = [];
  #isTurnDue = false;
  /** The rest of what is due to be applied has its turn later. */
  #isDelivering = false;
  #wallSkewMs = 0;
  #tickDueMs = Number.POSITIVE_INFINITY;

  constructor(
    options: ServerOptions,
    image: DiskImage | undefined,
    diskOptions: DiskOptions,
    world: World,
    chance: Prng,
  ) {
    this.sid = options.sid;
    this.#world = world;
    this.#chance = options.isSteady === true ? new NoChance() : chance.fork("steps");
    this.#secrets = chance.fork("secrets");
    this.#shortTurns = options.hasShortTurns === true ? chance.fork("short turns") : undefined;
    const { scheduler, network, registry, watcher } = world;
    this.disk = new Disk({
      sid: options.sid,
      image,
      scheduler,
      chance: chance.fork("disk"),
      options: diskOptions,
      takeEpoch: options.standalone === true,
      handler: {
        appended: (generation, zxid) => this.input(() => this.replica.synced(generation, zxid)),
        input: (step) => this.input(step),
        failed: (error) => watcher.failed(this, error),
      },
    });
    const courier = new SnapshotCourier({
      disk: this.disk,
      scheduler,
      chance: chance.fork("snapshots"),
      registry,
      send: (link, message) => this.#send(link, message),
      input: (step) => this.input(step),
      abandoned: (nextPart) => watcher.stateAbandoned?.(this, nextPart),
    });
    this.replica = new Replica(
      {
        ...REPLICA_DEFAULTS,
        ...options.limits,
        sid: options.sid,
        verifier: options.verifier,
        tickMs: TICK_MS,
        sessionTimeoutMsMin: SESSION_TIMEOUT_MS,
        sessionTimeoutMsMax: SESSION_TIMEOUT_MS,
        auth: { superDigest: undefined, digestEnabled: true, skipAcl: false },
        hashKey: keyOf(this.#secrets.next()),
        isTtlEnabled: true,
        reaping: { checkIntervalMs: 2 * TICK_MS, perMinuteMax: 10_000, neverUsedMsMax: 0 },
        ensemble: options.standalone === true ? undefined : this.#placeOf(options),
      },
      {
        requests: new RequestReader(),
        batcher: new TxnBatchEncoder(1024),
        txns: new TxnReader(),
        hashes: { digest: sha1, sha256 },
        random: () => this.#secrets.next() / 2 ** 32,
      },
      {
        replies: options.replies ?? answerSink((to, xid, zxid, answer) => watcher.heard(this, to, xid, zxid, answer)),
        log: this.#logOf(this.disk),
        links: {
          dial: (to) => network.dial(this.sid, to),
          cancelDial: () => network.cancelDial(this.sid),
          send: (link, message) => this.#send(link, message),
          refuse: (link, reason, { kind }) => this.#send(link, { kind: "refuse", reason, text: kind }),
          close: (link) => network.close(this.sid, link),
        },
        snapshots: courier,
        elect: (to, message) => {
          watcher.elects?.(this, to, message);
          network.elect(this.sid, to, message);
        },
        install: () => this.#load(),
        roleChanged: () => {},
        note: (event) => watcher.note(this, event),
        resume: (ref) => this.#resumed.push(ref),
        refused: (ref, refusal) => watcher.refused?.(this, ref, refusal),
      },
    );
    this.#observeTree();
    this.#setTime();
    this.#load();
    const { tail, commitHint, currentEpoch, identity } = this.disk.durable;
    const run = this.disk.log.readNow(this.replica.tree.applied, Number.POSITIVE_INFINITY);
    // rule: replay-what-is-committed
    replayRun(run.bytes, Math.min(commitHint, tail.zxid) as Zxid, this.replica);
    network.attach(this);
    this.input(() => {
      if (options.standalone === true) this.replica.lead(currentEpoch, identity.bootCount);
      else this.replica.join(identity.bootCount);
    });
  }

  #placeOf(options: ServerOptions): EnsembleConfig {
    return {
      isObserver: options.isObserver,
      electionAlg: options.electionAlg,
      initLimit: INIT_LIMIT,
      syncLimit: SYNC_LIMIT,
      newEnsembleId: `ensemble-${this.#secrets.next()}`,
      ...(options.counterMax === undefined ? {} : { counterMax: options.counterMax }),
      ...(options.windowBytes === undefined ? {} : { windowBytes: options.windowBytes }),
      ...(options.runBytes === undefined ? {} : { runBytes: options.runBytes }),
      ...options.ensemble,
    };
  }

  /** The disk, with whoever watches told of what a leader proposes. */
  #logOf(disk: Disk): ZabLog {
    const { watcher } = this.#world;
    if (watcher.proposed === undefined) return disk;
    return {
      get durable() {
        return disk.durable;
      },
      append: (run, generation, committed) => {
        if (this.replica.zab.state === "leading") watcher.proposed?.(this, run.bytes, run.start, run.end);
        disk.append(run, generation, committed);
      },
      setPromise: (promise, done) => disk.setPromise(promise, done),
      setCurrentEpoch: (epoch, done) => disk.setCurrentEpoch(epoch, done),
      setEnsembleId: (ensembleId, done) => disk.setEnsembleId(ensembleId, done),
      beginStage: (after, done) => disk.beginStage(after, done),
      stage: (run, done) => disk.stage(run, done),
      dropStage: (done) => disk.dropStage(done),
      flip: (flip, done) => disk.flip(flip, done),
      read: (after, bytesMax, done) => disk.read(after, bytesMax, done),
      chainAt: (zxid, done) => disk.chainAt(zxid, done),
    };
  }

  /** Tells of each transaction before its first op and behind its last: nearer than what a replica tells by itself. */
  #observeTree(): void {
    const { tree } = this.replica;
    const { watcher } = this.#world;
    const apply = tree.apply.bind(tree);
    const finish = tree.finish.bind(tree);
    let applying = -1;
    tree.apply = (header, op, sink) => {
      if (header.zxid !== applying) {
        applying = header.zxid;
        watcher.applying?.(this, header, op);
      }
      return apply(header, op, sink);
    };
    tree.finish = (header) => {
      finish(header);
      watcher.applied(this, header);
    };
  }

  get isUp(): boolean {
    return this.#isUp;
  }

  get isPaused(): boolean {
    return this.#isPaused;
  }

  get isServing(): boolean {
    return this.#isUp && this.replica.isServing;
  }

  get wallSkewMs(): number {
    return this.#wallSkewMs;
  }

  get isLeading(): boolean {
    return this.#isUp && this.replica.isLeading;
  }

  // Faults

  /** @param keep how many of the writes that are not synced survive; by default chance decides */
  crash(keep?: number): DiskImage {
    this.#isUp = false;
    this.#world.network.detach(this.sid);
    return this.disk.crash(keep);
  }

  pause(): void {
    this.#isPaused = true;
  }

  /** Everything that came meanwhile happens at once. */
  resume(): void {
    this.#isPaused = false;
    for (const step of this.#held.splice(0)) this.input(step);
    this.#wakeAt(0);
  }

  skewWallClock(byMs: number): void {
    this.#wallSkewMs += byMs;
  }

  /** What a state thread does: the state follows what is committed and durable. */
  keepState(): void {
    const { isApplying, tree } = this.replica;
    const chain = this.disk.log.chainNow(tree.applied);
    if (chain === undefined || this.#isPaused || isApplying) return;
    this.disk.keepState(stateImageOf(tree, { zxid: tree.applied, chain }));
  }

  // Clients

  accept(address = "127.0.0.1"): ConnectionRef {
    return this.replica.accept(address);
  }

  connect(ref: ConnectionRef, request: ConnectRequest): void {
    this.input(() => {
      if (this.replica.connection(ref)?.phase === "new") this.replica.connect(ref, request, this.#secrets.bytes(18));
    });
  }

  receive(ref: ConnectionRef, frame: Uint8Array): void {
    this.input(() => {
      const unread = this.#unread.get(ref);
      if (unread !== undefined) unread.push(frame);
      else if (!this.#read(ref, frame)) this.#stall(ref);
    });
  }

  /** Whether a connection is not read until there is room. */
  isStalled(ref: ConnectionRef): boolean {
    return this.#unread.has(ref);
  }

  disconnect(ref: ConnectionRef): void {
    this.input(() => {
      // The number may name another connection from now on.
      this.#unread.delete(ref);
      this.replica.disconnect(ref);
    });
  }

  /** False when the connection is not to be read for now. */
  #read(ref: ConnectionRef, frame: Uint8Array): boolean {
    return this.replica.receive(ref, frame, 0, frame.length) || this.replica.connection(ref)?.phase !== "open";
  }

  #stall(ref: ConnectionRef): void {
    this.#unread.set(ref, []);
    this.#world.watcher.stalled?.(this);
  }

  /** Connections with room again are read on, some frames a turn, until they have none. */
  #readOn(): void {
    for (const ref of this.#resumed.splice(0)) {
      const unread = this.#unread.get(ref);
      if (unread === undefined) continue;
      let isRead = true;
      for (let i = 0; i < READ_ON_COUNT_MAX && unread.length > 0 && isRead; i++) {
        isRead = this.#read(ref, unread.shift() ?? NO_BYTES);
      }
      if (!isRead) this.#world.watcher.stalled?.(this);
      else if (unread.length === 0) this.#unread.delete(ref);
      else {
        this.#resumed.push(ref);
        this.input(() => {});
      }
    }
  }

  // The network's end

  linkOpened(link: LinkRef, sid: ServerId, isDialed: boolean): void {
    this.input(() => this.replica.zab.linkOpened(link, sid, isDialed));
  }

  linkClosed(link: LinkRef, reason: string): void {
    this.input(() => this.replica.zab.linkClosed(link, reason));
  }

  received(link: LinkRef, message: PeerMessage): void {
    this.input(() => this.replica.receivePeer(link, message));
  }

  receivedElection(from: ServerId, message: ElectionMessage): void {
    this.input(() => this.replica.receiveElection(from, message));
  }

  electionLinkUp(sid: ServerId): void {
    this.input(() => this.replica.membership.electionLinkUp(sid));
  }

  /** One input, and later, with others that come meanwhile, the end of the turn. */
  input(step: () => void): void {
    if (!this.#isUp) return;
    if (this.#isPaused) {
      this.#held.push(step);
      return;
    }
    this.#step(step);
    if (this.#isTurnDue) return;
    this.#isTurnDue = true;
    this.#world.scheduler.after(this.#chance.chance(0.7) ? 0 : this.#chance.below(3), () => this.#endTurn());
  }

  #endTurn(): void {
    if (!this.#isUp || this.#isPaused) {
      if (this.#isUp) this.#held.push(() => {});
      this.#isTurnDue = false;
      return;
    }
    this.#isTurnDue = false;
    if (this.#resumed.length > 0) this.#step(() => this.#readOn());
    if (!this.#isUp) return;
    this.#step(() => {
      const { replica } = this;
      const dueMs = replica.nextTickMs();
      if (dueMs !== undefined && dueMs <= replica.nowMs) replica.tick();
      const expiryMs = replica.nextExpiryMs();
      if (expiryMs !== undefined && expiryMs <= replica.nowMs) replica.expireSessions();
      replica.propose();
      this.#deliver();
      replica.flush();
    });
    const dueMs = Math.min(this.replica.nextTickMs() ?? Infinity, this.replica.nextExpiryMs() ?? Infinity);
    this.#wakeAt(dueMs);
  }

  /** A few at a time, so that the limit is walked too. Where a turn is short, the rest has a later one, and turns between apply nothing. */
  #deliver(): void {
    while (!this.#isDelivering && this.replica.deliver(1 + this.#chance.below(5))) {
      if (this.#shortTurns?.chance(0.4) !== true) continue;
      this.#isDelivering = true;
      this.#world.scheduler.after(this.#shortTurns.below(SHORT_TURN_PAUSES) / 2, () => {
        this.#isDelivering = false;
        this.input(() => {});
      });
    }
  }

  #wakeAt(dueMs: number): void {
    const { scheduler } = this.#world;
    if (dueMs === Infinity || (dueMs >= this.#tickDueMs && this.#tickDueMs > scheduler.nowMs)) return;
    this.#tickDueMs = dueMs;
    scheduler.after(Math.max(1, dueMs - scheduler.nowMs), () => {
      if (this.#tickDueMs === dueMs) this.#tickDueMs = Number.POSITIVE_INFINITY;
      this.input(() => {});
    });
  }

  #step(step: () => void): void {
    this.#setTime();
    try {
      step();
    } catch (error) {
      this.#world.watcher.failed(this, error);
      return;
    }
    this.#world.watcher.stepped(this);
  }

  #send(link: LinkRef, message: PeerMessage): void {
    this.#world.watcher.sent(this, link, message);
    this.#world.network.send(this.sid, link, message);
  }

  #setTime(): void {
    const { nowMs } = this.#world.scheduler;
    // rule: sessions-live-by-the-monotonic-clock
    this.replica.setTime(Math.floor(nowMs), 1_000_000 + Math.floor(nowMs) + this.#wallSkewMs);
  }

  /** The tree becomes the state that the log names. */
  #load(): void {
    const { state } = this.disk;
    if (state === undefined) return;
    this.replica.tree.loadSnapshot(state.records);
    if (digestOf(this.replica.tree) !== state.digest) throw new Error("a state was loaded that is not what it was");
    this.#world.watcher.loaded?.(this);
  }
}

function replayRun(bytes: Uint8Array, through: Zxid, replica: Replica): void {
  let at = 0;
  while (at < bytes.length) {
    const zxid = frameZxid(bytes, at);
    const start = at + FRAME_HEADER_BYTES;
    const end = start + frameLength(bytes, at);
    if (zxid > through) return;
    replica.replay(zxid, bytes, start, end);
    at = end;
  }
}

function sha1(bytes: Uint8Array): Uint8Array {
  return createHash("sha1").update(bytes).digest();
}

function sha256(bytes: Uint8Array): Uint8Array {
  return createHash("sha256").update(bytes).digest();
}

function keyOf(word: number): HashKey {
  return { k0: word, k1: ~word };
}
