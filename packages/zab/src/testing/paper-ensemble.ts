import {
  composeZxid,
  epochOf,
  type LogState,
  MajorityQuorum,
  type PeerMessage,
  type ServerId,
  serverId,
  ZXID_NONE,
  type Zxid,
} from "@zooid/model";
import { frameEntries } from "../frame-entries.ts";
import { LocalNetwork } from "../local-network.ts";
import type { RoleEnd } from "../operator-events.ts";
import { ZabPeer } from "../peer.ts";
import { VolatileLog } from "../volatile-log.ts";

/** A message at the moment at which its sender passed it to the network. */
export interface Sent {
  readonly from: number;
  readonly to: number;
  readonly message: PeerMessage;
  /** The log that the sender had on disk at that moment. */
  readonly disk: LogState;
}

/** An entry at the moment at which a server delivered it. */
export interface Delivered {
  readonly zxid: Zxid;
  /** The name that its leader gave it: `1.2` is the second entry of epoch 1. */
  readonly name: string;
}

interface Server {
  readonly log: VolatileLog;
  peer: ZabPeer;
  /** Over all of its lives. */
  readonly delivered: Delivered[];
  /** Completions of its disk, where they are held. */
  heldWrites: (() => void)[] | undefined;
}

/**
 * For tests: servers S1, S2, S3 … in one process, each with a log that outlives its crashes, on a
 * network that records what is sent and can lose it. Elections are the test's: {@link elect}.
 */
export class PaperEnsemble {
  readonly sent: Sent[] = [];
  /** By leader and epoch, in the order of the proposals. */
  readonly proposed: Delivered[] = [];
  /** The entries that a leader of each epoch had delivered when it first proposed. */
  readonly deliveredBefore: Map<number, readonly Delivered[]> = new Map();
  /** The servers that began to serve clients, with the epoch, in that order. */
  readonly served: { readonly sid: number; readonly epoch: number }[] = [];
  readonly ends: { readonly sid: number; readonly end: RoleEnd }[] = [];
  readonly #network = new LocalNetwork();
  readonly #servers = new Map<number, Server>();
  readonly #verifier: MajorityQuorum;
  #isLost: (sent: Sent) => boolean = (): boolean => false;

  constructor(count = 3) {
    const sids = Array.from({ length: count }, (_, i) => serverId(i + 1));
    this.#verifier = new MajorityQuorum(sids);
    for (const sid of sids) this.#add(sid);
  }

  get sids(): readonly number[] {
    return [...this.#servers.keys()];
  }

  peer(sid: number): ZabPeer {
    return this.#server(sid).peer;
  }

  /** The log that would survive a crash of the server now. */
  disk(sid: number): LogState {
    return this.#server(sid).log.durable;
  }

  /** The names of what a server has delivered. */
  delivered(sid: number): readonly string[] {
    return this.deliveredEntries(sid).map(({ name }) => name);
  }

  deliveredEntries(sid: number): readonly Delivered[] {
    return this.#server(sid).delivered;
  }

  /** Phase 0: these servers agree on a leader, by whatever election. Then all runs to its end. */
  elect(leader: number, ...followers: readonly number[]): void {
    this.peer(leader).lead();
    for (const sid of followers) this.peer(sid).follow(serverId(leader));
    this.run();
  }

  /** A server finds the leader that serves already. */
  follow(sid: number, leader: number): void {
    this.peer(sid).follow(serverId(leader));
    this.run();
  }

  run(): void {
    this.#network.run();
  }

  /** The leader proposes this number of entries in its epoch. */
  propose(leader: number, count = 1): void {
    const { peer } = this.#server(leader);
    const { epoch, lastProposed } = peer;
    const first = epochOf(lastProposed) === epoch ? lastProposed + 1 : composeZxid(epoch, 1);
    if (!this.deliveredBefore.has(epoch)) this.deliveredBefore.set(epoch, [...this.#server(leader).delivered]);
    const entries = Array.from({ length: count }, (_, i) => {
      const zxid = (first + i) as Zxid;
      const name = `${epoch}.${zxid - composeZxid(epoch, 0)}`;
      this.proposed.push({ zxid, name });
      return new TextEncoder().encode(name);
    });
    peer.propose(frameEntries(first as Zxid, entries));
    this.run();
  }

  /** The server loses all but its disk, and starts again without a role. */
  crash(sid: number): void {
    const server = this.#server(sid);
    server.heldWrites = undefined;
    server.peer.stop();
    this.run();
    server.peer = this.#newPeer(serverId(sid), server.log);
    this.#connect(serverId(sid));
  }

  /** The server's disk completes nothing until {@link releaseDisk}. */
  holdDisk(sid: number): void {
    this.#server(sid).heldWrites ??= [];
  }

  releaseDisk(sid: number): void {
    const server = this.#server(sid);
    const held = server.heldWrites ?? [];
    server.heldWrites = undefined;
    for (const step of held) this.#network.later(step);
    this.run();
  }

  /** From now on these messages are lost; the links stay. */
  lose(isLost: (sent: Sent) => boolean): void {
    this.#isLost = isLost;
  }

  /** The messages of one kind, in the order in which they were sent. */
  sentOf<Kind extends PeerMessage["kind"]>(
    kind: Kind,
  ): readonly (Sent & { readonly message: PeerMessage & { readonly kind: Kind } })[] {
    return this.sent.filter(
      (each): each is Sent & { readonly message: PeerMessage & { readonly kind: Kind } } => each.message.kind === kind,
    );
  }

  #server(sid: number): Server {
    const server = this.#servers.get(sid);
    if (server === undefined) throw new RangeError(`there is no server S${sid}`);
    return server;
  }

  #add(sid: ServerId): void {
    const later = (step: () => void): void => {
      const { heldWrites } = this.#server(sid);
      if (heldWrites === undefined) this.#network.later(step);
      else heldWrites.push(step);
    };
    const log = new VolatileLog(sid, later, (generation, zxid) => this.peer(sid).synced(generation, zxid));
    this.#servers.set(sid, { log, peer: this.#newPeer(sid, log), delivered: [], heldWrites: undefined });
    this.#connect(sid);
  }

  #connect(sid: ServerId): void {
    this.#network.add(sid, this.peer(sid), ({ zxid, bytes, start, end }) => {
      this.#server(sid).delivered.push({ zxid, name: new TextDecoder().decode(bytes.subarray(start, end)) });
    });
  }

  #newPeer(sid: ServerId, log: VolatileLog): ZabPeer {
    const links = this.#network.linksOf(sid);
    return new ZabPeer(
      { sid, verifier: this.#verifier },
      {
        log,
        links: {
          ...links,
          send: (link, message) => {
            const to = this.#network.otherEnd(link);
            if (to === undefined) return;
            const sent: Sent = { from: sid, to, message, disk: log.durable };
            this.sent.push(sent);
            if (!this.#isLost(sent)) links.send(link, message);
          },
        },
        application: {
          applied: () => this.#server(sid).delivered.at(-1)?.zxid ?? ZXID_NONE,
        },
        roles: {
          serve: (epoch) => void this.served.push({ sid, epoch }),
          left: (end) => void this.ends.push({ sid, end }),
          note: () => {},
        },
      },
    );
  }
}
