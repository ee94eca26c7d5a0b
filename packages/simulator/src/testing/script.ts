import {
  CHAIN_NONE,
  composeZxid,
  type ElectionMessage,
  emptySlice,
  type LinkRef,
  type LogPosition,
  MajorityQuorum,
  type PeerMessage,
  SESSION_NONE,
  type ServerId,
  serverId,
  ZXID_NONE,
  type Zxid,
} from "@zooid/model";
import type { ReplicaEvent } from "@zooid/replica";
import { expect } from "vitest";
import { Network } from "../cluster/network.ts";
import type { NetworkEnd } from "../cluster/network-end.ts";
import { Prng, ZeroRandom } from "../cluster/prng.ts";
import { Scheduler } from "../cluster/scheduler.ts";
import { SimServer } from "../cluster/server.ts";
import { SnapshotRegistry } from "../cluster/snapshot-transfer.ts";

const SERVER = serverId(1);
export const PEER: ServerId = serverId(2);
export const OTHER: ServerId = serverId(3);
export const NOTHING: LogPosition = { zxid: ZXID_NONE, chain: CHAIN_NONE };
const MAJORITY = new MajorityQuorum([SERVER, PEER, OTHER]);
/** A zxid that no server has. */
export const MISSING: Zxid = composeZxid(1, 99);
const DELAYS = { delayMsMin: 1, delayMsMax: 1, isShuffled: false };

/**
 * A voter whose messages come from the test; its votes are for the server, so that it leads, or for
 * itself.
 */
class ScriptedPeer implements NetworkEnd {
  readonly sid: ServerId;
  readonly messages: PeerMessage[] = [];
  readonly #network: Network;
  #link: LinkRef | undefined;
  leader: ServerId = SERVER;

  constructor(sid: ServerId, network: Network) {
    this.sid = sid;
    this.#network = network;
    network.attach(this);
  }

  receivedElection(from: ServerId, message: ElectionMessage): void {
    if (message.kind !== "notification" || message.role !== "looking") return;
    const { sid, leader } = this;
    const led = {
      role: leader === sid ? "leading" : "following",
      vote: { leader, zxid: ZXID_NONE, peerEpoch: 0 },
    } as const;
    const { role, vote } = leader === SERVER ? message : led;
    const position = { selfZxid: ZXID_NONE, selfEpoch: 0 };
    this.#network.elect(sid, from, { kind: "notification", role, round: message.round, vote, ...position });
  }

  get isLinked(): boolean {
    return this.#link !== undefined;
  }

  linkOpened(link: LinkRef): void {
    this.#link = link;
  }

  linkClosed(): void {
    this.#link = undefined;
  }

  received(_: LinkRef, message: PeerMessage): void {
    this.messages.push(message);
  }

  electionLinkUp(): void {}

  dial(): void {
    this.#network.dial(this.sid, SERVER);
  }

  send(message: PeerMessage): void {
    if (this.#link === undefined) throw new Error(`server ${this.sid} has no link`);
    this.#network.send(this.sid, this.#link, message);
  }
}

/** A real server, and two scripted voters. */
export class Script {
  readonly events: ReplicaEvent[] = [];
  /** The next chunk of each snapshot that was given up. */
  readonly abandoned: number[] = [];
  readonly server: SimServer;
  readonly peer: ScriptedPeer;
  readonly other: ScriptedPeer;
  readonly #scheduler = new Scheduler(new ZeroRandom());
  readonly #network = new Network(this.#scheduler, new ZeroRandom(), DELAYS);

  constructor(options: { readonly counterMax?: number; readonly windowBytes?: number } = {}) {
    this.peer = new ScriptedPeer(PEER, this.#network);
    this.other = new ScriptedPeer(OTHER, this.#network);
    this.server = new SimServer(
      { sid: SERVER, isObserver: false, electionAlg: 3, verifier: MAJORITY, ...options },
      undefined,
      { syncMsMin: 1, syncMsMax: 1 },
      {
        scheduler: this.#scheduler,
        network: this.#network,
        snapshots: new SnapshotRegistry(),
        watcher: {
          noted: (_, event) => this.events.push(event),
          snapshotAbandoned: (_, nextChunk) => this.abandoned.push(nextChunk),
          failed: (_, error) => {
            throw error;
          },
        },
      },
      new Prng(1),
    );
  }

  run(forMs = 60): void {
    const untilMs = this.#scheduler.nowMs + forMs;
    while (this.#scheduler.runNext(untilMs));
  }

  /** The server follows a peer and is linked to it. */
  followsPeer(): void {
    this.peer.leader = PEER;
    this.other.leader = PEER;
    this.run(500);
  }

  /** The peer, as the leader of an epoch, has synced the server with an empty history. */
  syncsWithPeer(ensembleId = ""): void {
    this.followsPeer();
    this.leads(this.peer, { kind: "leader-info", epoch: 1, incarnation: 1, ensembleId });
    this.leads(this.peer, { kind: "sync-begin", epoch: 1, mode: "diff", from: NOTHING, epochs: [] });
    const rest = { endsAmnesia: false, ensembleId: "", config: undefined, committedConfig: undefined };
    this.leads(this.peer, { kind: "new-leader", epoch: 1, through: ZXID_NONE, ...rest });
    this.leads(this.peer, { kind: "up-to-date", epoch: 1, committed: ZXID_NONE });
  }

  /** The peer, which led, gives up, and leads another epoch. */
  leadsAgain(epoch: number): void {
    this.leads(this.peer, { kind: "refuse", reason: "unable", text: "in words" });
    this.run(1000);
    this.leads(this.peer, { kind: "leader-info", epoch, incarnation: 1, ensembleId: "" });
  }

  leads(peer: ScriptedPeer, message: PeerMessage): void {
    peer.send(message);
    this.run();
  }

  /** A peer with an empty log follows the server, which a quorum has elected. */
  comes(peer: ScriptedPeer): void {
    this.run(500);
    peer.dial();
    this.run();
    const promise = { epoch: 0, sid: 0, incarnation: 0 };
    this.says(peer, {
      kind: "learner-info",
      isObserver: false,
      promise,
      isFresh: true,
      isAmnesiac: false,
      isOwn: false,
      ensembleId: "",
      attemptId: "",
      configVersion: ZXID_NONE,
    });
  }

  says(peer: ScriptedPeer, message: PeerMessage): void {
    peer.send(message);
    this.run();
  }

  promises(peer: ScriptedPeer, floor: Zxid = ZXID_NONE): void {
    this.says(peer, { kind: "ack-epoch", isRepeated: false, currentEpoch: 0, logged: NOTHING, floor, tails: [] });
  }

  /** A client opens a session, and a synced peer acks it. */
  commitsSession(): void {
    const ref = this.server.accept();
    this.server.connect(ref, {
      protocolVersion: 0,
      lastZxidSeen: ZXID_NONE,
      timeoutMs: 1000,
      sessionId: SESSION_NONE,
      password: emptySlice(),
      readOnly: false,
    });
    this.run();
    this.says(this.peer, { kind: "ack", epoch: 1, durable: composeZxid(1, 1), check: 0 });
  }

  /** A peer follows the server and is synced, so that the server leads. */
  joins(peer: ScriptedPeer): void {
    this.comes(peer);
    this.promises(peer);
    this.says(peer, { kind: "ack-new-leader", epoch: 1, through: ZXID_NONE });
    expect(this.server.isServing).toBe(true);
  }
}
