import {
  type ElectionMessage,
  FRAME_HEADER_BYTES,
  frameLength,
  frameZxid,
  type LinkRef,
  type PeerMessage,
  type QuorumVerifier,
  type ServerId,
  ZXID_NONE,
  type Zxid,
} from "@zooid/model";
import { Disk, type DiskImage, type Network, type NetworkEnd, type Prng, type Scheduler } from "@zooid/simulator";
import { frameEntries, ZabPeer } from "@zooid/zab";

const TICK_MS = 200;
const ENTRY_BYTES = 4;

export interface CounterWorld {
  readonly scheduler: Scheduler;
  readonly network: Network;
  readonly verifier: QuorumVerifier;
  /** The server has no role: an election is needed. */
  looks(server: CounterServer): void;
}

/**
 * One life of one server of a replicated counter: a peer of the broadcast, a disk, and the
 * increments that were delivered. An increment is an entry that holds its number.
 */
export class CounterServer implements NetworkEnd {
  readonly sid: ServerId;
  /** The numbers of the increments that were applied, in order: the counter is their count. */
  readonly applied: number[] = [];
  readonly #peer: ZabPeer;
  readonly #disk: Disk;
  readonly #world: CounterWorld;
  /** Increments that this server leads and has not acknowledged. */
  readonly #waiting = new Map<number, () => void>();
  #appliedZxid: Zxid = ZXID_NONE;
  #serves = false;
  #isUp = true;

  constructor(sid: ServerId, image: DiskImage | undefined, random: Prng, world: CounterWorld) {
    this.sid = sid;
    this.#world = world;
    const { scheduler, network, verifier } = world;
    this.#disk = new Disk({
      sid,
      image,
      scheduler,
      random,
      options: { syncMsMin: 1, syncMsMax: 10 },
      handler: {
        appended: (generation, zxid) => this.#input(() => this.#peer.synced(generation, zxid)),
        input: (step) => this.#input(step),
        roomChanged: () => {},
        failed: (error) => {
          throw error;
        },
      },
    });
    this.#peer = new ZabPeer(
      { sid, verifier, tickMs: TICK_MS, newEnsembleId: "counters" },
      {
        log: this.#disk,
        links: {
          dial: (to) => network.dial(sid, to),
          cancelDial: () => network.cancelDial(sid),
          send: (link, message) => network.send(sid, link, message),
          close: (link) => network.close(sid, link),
        },
        application: {
          applied: () => this.#appliedZxid,
        },
        election: {
          look: () => world.looks(this),
          wanted: () => this.#peer.lead(),
          successor: () => {},
        },
        roles: {
          serve: () => {
            this.#serves = true;
          },
          left: () => {
            // The outcome of these is unknown: their clients get no answer.
            this.#waiting.clear();
            this.#serves = false;
          },
          note: () => {},
        },
      },
    );
    this.#replay();
    network.attach(this);
    this.#tick();
    world.looks(this);
  }

  get isUp(): boolean {
    return this.#isUp;
  }

  get isLooking(): boolean {
    return this.#peer.isLooking;
  }

  get isLeading(): boolean {
    return this.#serves && this.#peer.state === "leading";
  }

  /** How good its history is: an epoch, and the last entry. Elections prefer the best. */
  get history(): readonly [epoch: number, last: Zxid, sid: ServerId] {
    const { currentEpoch, tail } = this.#disk.durable;
    return [currentEpoch, tail.zxid, this.sid];
  }

  lead(): void {
    this.#input(() => this.#peer.lead());
  }

  follow(leader: ServerId): void {
    this.#input(() => this.#peer.follow(leader));
  }

  /**
   * Proposes an increment.
   *
   * @param done called once a quorum has it on disk and this server has applied it
   */
  increment(number: number, done: () => void): void {
    if (!this.isLeading || this.#peer.isFull) return;
    const entry = Buffer.alloc(ENTRY_BYTES);
    entry.writeUInt32BE(number);
    this.#waiting.set(number, done);
    this.#input(() => this.#peer.propose(frameEntries((this.#peer.lastProposed + 1) as Zxid, [entry])));
  }

  /** Ends the process: what is not synced is lost, but for a prefix. */
  crash(): DiskImage {
    this.#isUp = false;
    this.#world.network.detach(this.sid);
    return this.#disk.crash();
  }

  // The network

  linkOpened(link: LinkRef, sid: ServerId, isDialed: boolean): void {
    this.#input(() => this.#peer.linkOpened(link, sid, isDialed));
  }

  linkClosed(link: LinkRef, reason: string): void {
    this.#input(() => this.#peer.linkClosed(link, reason));
  }

  received(link: LinkRef, message: PeerMessage): void {
    this.#input(() => this.#peer.onMessage(link, message));
  }

  receivedElection(_from: ServerId, _message: ElectionMessage): void {}

  electionLinkUp(_sid: ServerId): void {}

  // Turns

  /** One input and the end of its turn. */
  #input(step: () => void): void {
    if (!this.#isUp) return;
    this.#peer.setTime(Math.floor(this.#world.scheduler.nowMs));
    step();
    const entries = this.#peer.takeCommitted();
    while (entries.next()) this.#apply(entries.zxid, entries.bytes, entries.start);
    this.#peer.applied();
    this.#peer.flush();
    // Older entries come from the log.
    if (entries.hasMore) this.#world.scheduler.after(0, () => this.#input(() => {}));
  }

  #tick(): void {
    this.#world.scheduler.after(TICK_MS / 4, () => {
      if (!this.#isUp) return;
      this.#input(() => {
        if ((this.#peer.nextDueMs() ?? Infinity) <= this.#world.scheduler.nowMs) this.#peer.tick();
      });
      this.#tick();
    });
  }

  #apply(zxid: Zxid, bytes: Uint8Array, start: number): void {
    const number = Buffer.from(bytes.buffer, bytes.byteOffset + start, ENTRY_BYTES).readUInt32BE();
    this.applied.push(number);
    this.#appliedZxid = zxid;
    this.#waiting.get(number)?.();
    this.#waiting.delete(number);
  }

  /** After a crash: everything in the log that is known to be committed. */
  #replay(): void {
    const { tail, commitHint } = this.#disk.durable;
    const { bytes } = this.#disk.log.readNow(ZXID_NONE, Number.POSITIVE_INFINITY);
    for (let at = 0; at < bytes.length; at += FRAME_HEADER_BYTES + frameLength(bytes, at)) {
      const zxid = frameZxid(bytes, at);
      if (zxid > Math.min(commitHint, tail.zxid)) return;
      this.#apply(zxid, bytes, at + FRAME_HEADER_BYTES);
    }
  }
}
