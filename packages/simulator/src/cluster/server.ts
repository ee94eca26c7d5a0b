import {
  type Chain,
  type ConnectionRef,
  type ConnectRequest,
  type DiskRoom,
  type ElectionMessage,
  FRAME_HEADER_BYTES,
  frameLength,
  frameZxid,
  isSameState,
  type KnownLevels,
  type LinkRef,
  type LogPosition,
  OWN_LEVELS,
  type PeerMessage,
  type ServerId,
  type StateOrigin,
  type Zxid,
} from "@zooid/model";
import { Replica } from "@zooid/replica";
import { type SaidDisk, saidDiskOf } from "@zooid/zab";
import { answerSink } from "./answers.ts";
import { ClientFrames } from "./client-frames.ts";
import { Disk, type DiskImage, type DiskOptions } from "./disk.ts";
import type { Network } from "./network.ts";
import type { NetworkEnd } from "./network-end.ts";
import type { Prng } from "./prng.ts";
import { replicaConfigOf, replicaToolsOf } from "./replica-config.ts";
import type { Scheduler } from "./scheduler.ts";
import { type ServerOptions, WALL_CLOCK_START_MS } from "./server-options.ts";
import type { ServerWatcher } from "./server-watcher.ts";
import { type SnapshotRegistry, SnapshotTransfer } from "./snapshot-transfer.ts";
import {
  digestOf,
  originOf,
  type RestoredSessions,
  restoredImageOf,
  type StateImage,
  stateImageOf,
} from "./state-image.ts";
import { Turns } from "./turns.ts";
import { watchTree } from "./watched-tree.ts";

/** The parts that the servers of one cluster share. */
export interface ServerWorld {
  readonly scheduler: Scheduler;
  readonly network: Network;
  readonly snapshots: SnapshotRegistry;
  readonly watcher: ServerWatcher<SimServer>;
}

/**
 * One life of one server: the real replica with a simulated disk, network and clock. It ends with
 * {@link crash}.
 */
export class SimServer implements NetworkEnd {
  readonly sid: ServerId;
  /** The feature levels that its version knows. */
  readonly levels: KnownLevels;
  /** A state that its leader need not send. */
  ready: StateImage | undefined;
  readonly replica: Replica;
  readonly disk: Disk;
  readonly #world: ServerWorld;
  readonly #refused: ReadonlySet<ServerId>;
  readonly #frames: ClientFrames;
  readonly #turns: Turns;
  readonly #secrets: Prng;
  #isUp = true;
  #wallSkewMs = 0;
  #wallSetCount = 0;
  #resumedMs = 0;

  constructor(
    options: ServerOptions,
    image: DiskImage | undefined,
    diskOptions: DiskOptions,
    world: ServerWorld,
    random: Prng,
  ) {
    this.sid = options.sid;
    this.levels = options.levels ?? OWN_LEVELS;
    this.#refused = new Set(options.refused);
    this.#world = world;
    this.#secrets = random.fork("secrets");
    const { scheduler, network, snapshots, watcher } = world;
    this.disk = new Disk({
      sid: options.sid,
      image,
      scheduler,
      random: random.fork("disk"),
      options: diskOptions,
      takeEpoch: options.standalone === true,
      handler: {
        appending: ({ bytes, start, end }) => {
          if (this.replica.zab.state === "leading") watcher.proposed?.(this, bytes, start, end);
        },
        appended: (generation, zxid) => this.input(() => this.replica.synced(generation, zxid)),
        input: (step) => this.input(step),
        failed: (error) => this.#failed(error),
        roomChanged: (isFull) => this.setRoom(isFull ? "full" : "enough"),
      },
    });
    const transfer = new SnapshotTransfer({
      disk: this.disk,
      scheduler,
      random: random.fork("snapshots"),
      registry: snapshots,
      send: (link, message) => this.#send(link, message),
      input: (step) => this.input(step),
      checkpoint: () => this.checkpoint(),
      abandoned: (nextChunk) => watcher.snapshotAbandoned?.(this, nextChunk),
      ready: (origin, position) => this.#readyAt(origin, position),
    });
    this.replica = new Replica(
      replicaConfigOf(options, this.#secrets),
      replicaToolsOf(this.#secrets, options.batchBytesMax),
      {
        replies:
          options.replies ?? answerSink((to, xid, zxid, answer) => watcher.replied?.(this, to, xid, zxid, answer)),
        log: this.disk,
        links: {
          dial: (to) => network.dial(this.sid, to),
          cancelDial: () => network.cancelDial(this.sid),
          send: (link, message) => this.#send(link, message),
          refuse: (link, reason, { kind }) => this.#send(link, { kind: "refuse", reason, text: kind }),
          close: (link) => network.close(this.sid, link),
        },
        snapshots: transfer,
        elect: (to, message) => {
          watcher.voted?.(this, to, message);
          network.elect(this.sid, to, message);
        },
        install: () => this.#load(),
        roleChanged: () => {},
        note: (event) => watcher.noted?.(this, event),
        resume: (ref) => this.#frames.resume(ref),
        refused: (ref, refusal) => watcher.refused?.(this, ref, refusal),
      },
    );
    this.#frames = new ClientFrames(this.replica, {
      reading: (ref) => watcher.reading?.(this, ref),
      stalled: () => watcher.stalled?.(this),
    });
    this.#turns = new Turns({
      scheduler,
      replica: this.replica,
      frames: this.#frames,
      random,
      options,
      isUp: () => this.#isUp,
      batchLeft: () => watcher.batchLeft?.(),
      step: (run) => this.#step(run),
    });
    watchTree(this.replica.tree, {
      applying: (header, op) => watcher.applying?.(this, header, op),
      applied: (header) => watcher.applied?.(this, header),
    });
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

  get isUp(): boolean {
    return this.#isUp;
  }

  get isPaused(): boolean {
    return this.#turns.isPaused;
  }

  get isServing(): boolean {
    return this.#isUp && this.replica.isServing;
  }

  get isLeading(): boolean {
    return this.#isUp && this.replica.isLeading;
  }

  get nowMs(): number {
    return this.#world.scheduler.nowMs;
  }

  /** The time of its wall clock. */
  get wallMs(): number {
    return WALL_CLOCK_START_MS + Math.floor(this.nowMs) + this.#wallSkewMs;
  }

  /** By how much its wall clock is ahead of that of a server that was never skewed. */
  get wallSkewMs(): number {
    return this.#wallSkewMs;
  }

  /** How often its wall clock was set. */
  get wallSetCount(): number {
    return this.#wallSetCount;
  }

  /** When its last pause ended. */
  get resumedMs(): number {
    return this.#resumedMs;
  }

  // Faults

  /** @param keep how many of the unsynced writes survive; random by default */
  crash(keep?: number): DiskImage {
    this.#isUp = false;
    this.#world.network.detach(this.sid);
    return this.disk.crash(keep);
  }

  pause(): void {
    this.#turns.pause();
  }

  /** Handles everything that arrived during the pause, at once. */
  resume(): void {
    this.#resumedMs = this.nowMs;
    this.#turns.resume();
  }

  skewWallClock(byMs: number): void {
    this.#wallSkewMs += byMs;
    this.#wallSetCount++;
  }

  /** The room on its disk has changed. */
  setRoom(room: DiskRoom): void {
    this.input(() => this.replica.setRoom(room));
  }

  /** Writes a checkpoint: the tree as it is, at a committed and durable zxid. */
  checkpoint(): void {
    const { isApplying, tree } = this.replica;
    const chain = this.disk.log.chainNow(tree.applied);
    if (chain === undefined || this.isPaused || isApplying) return;
    this.disk.keepState(stateImageOf(tree, { zxid: tree.applied, chain }));
  }

  /**
   * An operator of this server, which leads, restores a state of the past. @returns whether it
   * begins
   */
  restore(image: StateImage, sessions: RestoredSessions = "end"): boolean {
    return this.replica.zab.restore({
      standAt: (zxid, _epochs, done) => {
        const { scheduler, watcher } = this.#world;
        scheduler.after(this.#secrets.below(30), () => {
          if (!this.#isUp) return;
          this.input(() => {
            const chain = this.#secrets.bytes(8).reduce((sum, byte) => sum * 256n + BigInt(byte), 0n) as Chain;
            const { level } = this.replica.zab;
            const made = restoredImageOf(image, { zxid, chain }, { sessions, level });
            // Only a state that is kept as it is can be one that others have ready.
            const state = sessions === "keep" ? { ...made, origin: originOf(image, level) } : made;
            const stateFile = `restored-${zxid}`;
            this.disk.putState(stateFile, state);
            watcher.restoring?.(this, zxid, { image, sessions });
            done({ stateFile, position: state.position });
          });
        });
      },
      ended: (end) => this.#world.watcher.restoreEnded?.(this, end),
    });
  }

  #readyAt(origin: StateOrigin, position: LogPosition): StateImage | undefined {
    const image = this.ready;
    if (image === undefined || !isSameState(originOf(image, origin.level), origin)) return undefined;
    return restoredImageOf(image, position, { sessions: "keep", level: origin.level });
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
    this.input(() => this.#frames.receive(ref, frame));
  }

  /** Whether a connection is not read until there is room. */
  isStalled(ref: ConnectionRef): boolean {
    return this.#frames.isStalled(ref);
  }

  disconnect(ref: ConnectionRef): void {
    this.input(() => {
      this.#frames.forget(ref);
      this.replica.disconnect(ref);
    });
  }

  // Links

  linkOpened(link: LinkRef, sid: ServerId, isDialed: boolean, said?: SaidDisk): void {
    this.input(() => this.replica.zab.linkOpened(link, sid, isDialed, said));
  }

  linkClosed(link: LinkRef, reason: string): void {
    this.input(() => this.replica.zab.linkClosed(link, reason));
  }

  received(link: LinkRef, message: PeerMessage): void {
    this.input(() => {
      this.#world.watcher.received?.(this, link, message);
      this.replica.receivePeer(link, message);
    });
  }

  receivedElection(from: ServerId, message: ElectionMessage): void {
    this.input(() => this.replica.receiveElection(from, message));
  }

  electionLinkUp(sid: ServerId, said: SaidDisk): void {
    this.input(() => this.replica.membership.electionLinkUp(sid, said));
  }

  electionLinkDown(sid: ServerId): void {
    this.input(() => this.replica.membership.electionLinkDown(sid));
  }

  unanswered(sid: ServerId, tookMs: number): void {
    this.input(() => this.replica.zab.peerUnanswered(sid, tookMs));
  }

  get said(): SaidDisk {
    return saidDiskOf(this.disk.durable);
  }

  get refused(): ReadonlySet<ServerId> {
    return this.#refused;
  }

  get awaited(): Iterable<ServerId> {
    const { founding, members } = this.replica.zab;
    return founding.isFounder ? members.verifier.voters : [];
  }

  // Steps

  /** Steps the replica once; the end of the turn comes later. */
  input(step: () => void): void {
    this.#turns.input(step);
  }

  #step(step: () => void): void {
    this.#setTime();
    try {
      step();
    } catch (error) {
      this.#failed(error);
      return;
    }
    this.#world.watcher.stepped?.(this);
  }

  #failed(error: unknown): void {
    const { watcher } = this.#world;
    if (watcher.failed === undefined) throw error;
    watcher.failed(this, error);
  }

  #send(link: LinkRef, message: PeerMessage): void {
    this.#world.watcher.sent?.(this, link, message);
    this.#world.network.send(this.sid, link, message);
  }

  #setTime(): void {
    const { nowMs, wallMs } = this;
    // rule: sessions-live-by-the-monotonic-clock
    this.replica.setTime(Math.floor(nowMs), wallMs);
  }

  /** Replaces the tree by the snapshot that the log names. */
  #load(): void {
    const { state } = this.disk;
    if (state === undefined) return;
    this.replica.tree.loadSnapshot(state.records);
    if (digestOf(this.replica.tree) !== state.digest) throw new Error("a snapshot was loaded with another digest");
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
