import { assert, knowsLevel, MajorityQuorum, OWN_LEVELS, type QuorumVerifier, type ServerId } from "@zooid/model";
import type { DurableLog } from "@zooid/txn-log";
import { damagedImage } from "./damaged-image.ts";
import { type DiskImage, type DiskOptions, levelOf } from "./disk.ts";
import { Network } from "./network.ts";
import { Prng } from "./prng.ts";
import { Scheduler } from "./scheduler.ts";
import { SimServer } from "./server.ts";
import type { ServerOptions } from "./server-options.ts";
import type { ServerWatcher } from "./server-watcher.ts";
import { SnapshotRegistry } from "./snapshot-transfer.ts";

/** The state that a crash interrupted. */
export interface Crash {
  readonly image: DiskImage;
  /** The durable log before a prefix of the unsynced writes was kept. */
  readonly before: DurableLog;
  readonly pendingCount: number;
  readonly wasInstalling: boolean;
}

/** Receives what happens to servers, besides what they do. */
export interface ClusterWatcher extends ServerWatcher<SimServer> {
  /** A server does not start: its version does not know the feature level of its data. */
  startRefused?(sid: ServerId, level: number): void;
  /** A server starts: it loads its state and replays its log before {@link started}. */
  starting?(sid: ServerId): void;
  started?(server: SimServer): void;
  crashed?(server: SimServer, crash: Crash): void;
  /** The disk of a server that is down was emptied, or has lost the end of its log. */
  wiped?(sid: ServerId): void;
  /** A server that is down has the disk back that it had before {@link Cluster.unmount}. */
  mounted?(sid: ServerId, image: DiskImage): void;
}

/** One server of the cluster, with what outlasts its crashes. */
export interface Member {
  readonly sid: ServerId;
  readonly isObserver: boolean;
  /** The running process, which may be paused; undefined while it is down. */
  readonly server: SimServer | undefined;
  /** The disk that the last crash left; undefined for an empty one. */
  readonly image: DiskImage | undefined;
  /** How often it has started. */
  readonly lives: number;
}

type MutableMember = {
  -readonly [Field in keyof Member]: Member[Field];
} & {
  disk: DiskOptions;
  startDueMs: number;
  wallSkewMs: number;
  unmounted: DiskImage | undefined;
  old: DiskImage | undefined;
};

export interface ClusterOptions {
  readonly voters: readonly ServerId[];
  /** Default: none. */
  readonly observers?: readonly ServerId[];
  /** Default: the majority of the voters. */
  readonly verifier?: QuorumVerifier;
  /** Default: virtual time from 0 on, simultaneous events in random order. */
  readonly scheduler?: Scheduler;
  /** Default: links with a latency of 1 to 5 ms. */
  readonly network?: Network;
  /** How long a sync takes. Default: 1 to 5 ms. */
  readonly disk?: DiskOptions;
  /** The first content of a server's disk. Default: none. */
  readonly imageOf?: (sid: ServerId) => DiskImage | undefined;
  /** The random stream of a server's n-th life. Default: one for each life, from seed 1. */
  readonly randomOf?: (sid: ServerId, life: number) => Prng;
  /** Further options of a server, asked for at each start. */
  readonly serverOptions?: (sid: ServerId) => Partial<ServerOptions>;
  readonly watcher?: ClusterWatcher;
}

const LATENCY = { delayMsMin: 1, delayMsMax: 5 };
const SYNC = { syncMsMin: 1, syncMsMax: 5 };

/**
 * An ensemble in one thread and in virtual time. Its servers are real replicas; their links, disks
 * and clocks are simulated. Starts, crashes, pauses and wipes servers, and connects them; what
 * happens is reported to one watcher.
 */
export class Cluster {
  readonly scheduler: Scheduler;
  readonly network: Network;
  readonly verifier: QuorumVerifier;
  readonly voters: readonly ServerId[];
  readonly sids: readonly ServerId[];
  readonly #members: readonly MutableMember[];
  readonly #snapshots = new SnapshotRegistry();
  readonly #randomOf: (sid: ServerId, life: number) => Prng;
  readonly #serverOptions: (sid: ServerId) => Partial<ServerOptions>;
  readonly #watcher: ClusterWatcher;

  constructor(options: ClusterOptions) {
    const { voters, observers = [], disk = SYNC } = options;
    const root = new Prng(1);
    this.voters = voters;
    this.sids = [...voters, ...observers];
    this.scheduler = options.scheduler ?? new Scheduler(root.fork("ties"));
    this.network = options.network ?? new Network(this.scheduler, root.fork("network"), LATENCY);
    this.verifier = options.verifier ?? new MajorityQuorum(voters);
    this.#randomOf = options.randomOf ?? ((sid, life) => root.fork(`server-${sid}-${life}`));
    this.#serverOptions = options.serverOptions ?? (() => ({}));
    this.#watcher = options.watcher ?? {};
    this.#members = this.sids.map((sid) => ({
      sid,
      isObserver: observers.includes(sid),
      server: undefined,
      image: options.imageOf?.(sid),
      lives: 0,
      disk,
      startDueMs: 0,
      wallSkewMs: 0,
      unmounted: undefined,
      old: undefined,
    }));
  }

  get nowMs(): number {
    return this.scheduler.nowMs;
  }

  get members(): readonly Member[] {
    return this.#members;
  }

  member(sid: ServerId): Member {
    return this.#member(sid);
  }

  /** The running process of a server; undefined while it is down. */
  server(sid: ServerId): SimServer | undefined {
    return this.#member(sid).server;
  }

  /**
   * The feature level of which a server's disk knows, committed or not; 0 without a history. Of a
   * disk that is not mounted, too.
   */
  levelOf(sid: ServerId): number {
    const { server, image, unmounted } = this.#member(sid);
    return Math.max(levelOf(unmounted), levelOf(server === undefined ? image : server.disk.image));
  }

  /** The running processes, paused ones included. */
  running(): readonly SimServer[] {
    return this.#members.flatMap(({ server }) => (server === undefined ? [] : [server]));
  }

  /** The server that leads; one of them, while a deposed leader has not noticed. */
  get leader(): SimServer | undefined {
    return this.running().find((server) => server.isLeading);
  }

  /** Lets virtual time pass. */
  run(forMs: number): void {
    const untilMs = this.nowMs + forMs;
    while (this.scheduler.runNext(untilMs)) {
      // On to the next event.
    }
  }

  after(delayMs: number, run: () => void): void {
    this.scheduler.after(delayMs, run);
  }

  // Servers

  start(sid: ServerId): void {
    const member = this.#member(sid);
    assert(member.server === undefined, `server ${sid} is down when it is started`);
    const { isObserver, image, disk } = member;
    const { scheduler, network, verifier } = this;
    const watcher = this.#watcher;
    const options = { sid, verifier, isObserver, ...this.#serverOptions(sid) };
    const level = levelOf(image);
    if (!knowsLevel(options.levels ?? OWN_LEVELS, level)) {
      watcher.startRefused?.(sid, level);
      return;
    }
    watcher.starting?.(sid);
    const server = new SimServer(
      options,
      image,
      disk,
      { scheduler, network, snapshots: this.#snapshots, watcher },
      this.#randomOf(sid, ++member.lives),
    );
    server.skewWallClock(member.wallSkewMs);
    member.server = server;
    watcher.started?.(server);
  }

  /** Starts a server after a delay, unless it runs by then or another start is scheduled. */
  startIn(sid: ServerId, delayMs: number): void {
    const member = this.#member(sid);
    const dueMs = this.nowMs + delayMs;
    member.startDueMs = dueMs;
    this.after(delayMs, () => {
      if (member.server === undefined && member.startDueMs === dueMs) this.start(sid);
    });
  }

  /**
   * Ends the process of a server at once; nothing happens to one that is down.
   *
   * @param keep how many of the unsynced writes survive, oldest first; random by default
   */
  crash(sid: ServerId, keep?: number): void {
    const member = this.#member(sid);
    const { server } = member;
    if (server === undefined) return;
    const { disk } = server;
    const before = disk.durable;
    const pendingCount = disk.log.pendingCount;
    const wasInstalling = disk.isInstalling;
    const image = server.crash(keep);
    member.server = undefined;
    member.image = image;
    this.#watcher.crashed?.(server, { image, before, pendingCount, wasInstalling });
  }

  /** Empties a server's disk; a running one crashes. */
  wipe(sid: ServerId, keep?: number): void {
    this.crash(sid, keep);
    this.#member(sid).image = undefined;
    this.#watcher.wiped?.(sid);
  }

  /**
   * A server's disk is not mounted: an empty one takes its place until {@link mount}. A running
   * server crashes.
   */
  unmount(sid: ServerId): void {
    const member = this.#member(sid);
    this.crash(sid);
    member.unmounted ??= member.image;
    member.image = undefined;
    this.#watcher.wiped?.(sid);
  }

  /** A server has the disk back that it had before {@link unmount}. A running server crashes. */
  mount(sid: ServerId): void {
    const member = this.#member(sid);
    const { unmounted } = member;
    if (unmounted === undefined) return;
    this.crash(sid);
    member.image = unmounted;
    member.unmounted = undefined;
    this.#watcher.mounted?.(sid, unmounted);
  }

  /** A server's disk is replaced by an empty one, and kept. A running server crashes. */
  replaceDisk(sid: ServerId): void {
    const member = this.#member(sid);
    this.crash(sid);
    member.old ??= member.image;
    member.image = undefined;
    this.#watcher.wiped?.(sid);
  }

  /** The disk of a server that was kept; undefined also while its present one is not in place. */
  oldDisk(sid: ServerId): DiskImage | undefined {
    const { old, unmounted } = this.#member(sid);
    return unmounted === undefined ? old : undefined;
  }

  /** The disk that {@link replaceDisk} kept takes the place of the present one, which is lost. */
  bringBackDisk(sid: ServerId): void {
    const member = this.#member(sid);
    const { old } = member;
    if (old === undefined) return;
    this.crash(sid);
    member.image = old;
    member.old = undefined;
    this.#watcher.mounted?.(sid, old);
  }

  /**
   * Damages the end of a server's log; a running one crashes. The server starts as one that knows
   * that it has lost something it acked.
   *
   * @param keepShare how much of the entries behind its state is left, from 0 to 1
   */
  damage(sid: ServerId, keepShare: number): void {
    this.crash(sid);
    const member = this.#member(sid);
    if (member.image === undefined) return;
    member.image = damagedImage(member.image, keepShare);
    this.#watcher.wiped?.(sid);
  }

  /** Pauses a process. It handles input that arrived during the pause when it resumes. */
  pause(sid: ServerId, forMs: number): void {
    const { server } = this.#member(sid);
    if (server === undefined || server.isPaused) return;
    server.pause();
    this.after(forMs, () => {
      if (server.isUp && server.isPaused) server.resume();
    });
  }

  /** Moves a server's wall clock, now and for its further lives. */
  skewWallClock(sid: ServerId, byMs: number): void {
    const member = this.#member(sid);
    member.wallSkewMs += byMs;
    member.server?.skewWallClock(byMs);
  }

  /** How long a server's syncs take: from its next start on, and from now on if it runs. */
  setDisk(sid: ServerId, options: DiskOptions): void {
    const member = this.#member(sid);
    member.disk = options;
    if (member.server !== undefined) member.server.disk.options = options;
  }

  // Links

  /** Blocks both directions between a server and all others for a while. */
  isolate(sid: ServerId, forMs: number): void {
    const others = this.sids.filter((other) => other !== sid);
    const pairs = others.flatMap((other) => [[sid, other] as const, [other, sid] as const]);
    for (const [from, to] of pairs) this.network.block(from, to);
    this.after(forMs, () => {
      for (const [from, to] of pairs) this.network.unblock(from, to);
    });
  }

  /** Opens every blocked direction and removes all additional latency. */
  healLinks(): void {
    for (const from of this.sids) {
      for (const to of this.sids) {
        if (from === to) continue;
        if (this.network.isBlocked(from, to)) this.network.unblock(from, to);
        this.network.unclog(from, to);
      }
    }
  }

  #member(sid: ServerId): MutableMember {
    const member = this.#members.find((each) => each.sid === sid);
    if (member === undefined) throw new Error(`there is no server ${sid}`);
    return member;
  }
}
