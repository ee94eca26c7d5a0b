import {
  CHAIN_NONE,
  composeZxid,
  type ElectionMessage,
  emptySlice,
  type LinkRef,
  MajorityQuorum,
  type PeerMessage,
  SESSION_NONE,
  type ServerId,
  serverId,
  ZXID_NONE,
  type Zxid,
} from "@zooid/model";
import type { ReplicaEvent } from "@zooid/replica";
import type { LeaderFault, LearnerFault } from "@zooid/zab";
import { describe, expect, test } from "vitest";
import { Network, type NetworkEnd } from "../cluster/network.ts";
import { NoChance, Prng } from "../cluster/prng.ts";
import { Scheduler } from "../cluster/scheduler.ts";
import { SimServer } from "../cluster/server.ts";
import { StateRegistry } from "../cluster/snapshot-transfer.ts";
import type { Sometimes } from "../seeds/coverage.ts";
import { Ensemble } from "../seeds/ensemble.ts";
import { planOf } from "../seeds/plan.ts";
import { describeEvent, ILLEGAL_KINDS, isIllegal } from "./operator-events.ts";

const [SERVER, PEER, OTHER] = [1, 2, 3].map(serverId) as [ServerId, ServerId, ServerId];
const NOTHING = { zxid: ZXID_NONE, chain: CHAIN_NONE } as const;
const MAJORITY = new MajorityQuorum([SERVER, PEER, OTHER]);
const MISSING = composeZxid(1, 99);
const DELAYS = { delayMsMin: 1, delayMsMax: 1, isShuffled: false };

/** A voter of which the test says every word but its votes: for the server, so that it leads, or for itself. */
class ScriptedPeer implements NetworkEnd {
  readonly sid: ServerId;
  readonly heard: PeerMessage[] = [];
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

  linkOpened(link: LinkRef): void {
    this.#link = link;
  }

  linkClosed(): void {
    this.#link = undefined;
  }

  received(_: LinkRef, message: PeerMessage): void {
    this.heard.push(message);
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

/** A real server, and what the two others of its ensemble do to it. */
class Script {
  readonly events: ReplicaEvent[] = [];
  /** The part that was next of each state that was given up. */
  readonly abandoned: number[] = [];
  readonly server: SimServer;
  readonly peer: ScriptedPeer;
  readonly other: ScriptedPeer;
  readonly #scheduler = new Scheduler(new NoChance());
  readonly #network = new Network(this.#scheduler, new NoChance(), DELAYS);

  constructor(options: { readonly counterMax?: number } = {}) {
    this.peer = new ScriptedPeer(PEER, this.#network);
    this.other = new ScriptedPeer(OTHER, this.#network);
    this.server = new SimServer(
      { ...{ sid: SERVER, isObserver: false, electionAlg: 3, verifier: MAJORITY }, ...options },
      undefined,
      { syncMsMin: 1, syncMsMax: 1 },
      {
        scheduler: this.#scheduler,
        network: this.#network,
        registry: new StateRegistry(),
        watcher: {
          heard: () => {},
          applied: () => {},
          stepped: () => {},
          sent: () => {},
          note: (_, event) => this.events.push(event),
          stateAbandoned: (_, nextPart) => this.abandoned.push(nextPart),
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

  /** The server follows a peer, and both know each other. */
  followsPeer(): void {
    this.peer.leader = PEER;
    this.other.leader = PEER;
    this.run(500);
  }

  /** The peer, as the leader of an epoch, has brought the server level: there is nothing to bring. */
  levelWithPeer(): void {
    this.followsPeer();
    this.leads(this.peer, { kind: "leader-info", epoch: 1, incarnation: 1, ensembleId: "" });
    this.leads(this.peer, { kind: "sync-begin", epoch: 1, mode: "diff", from: NOTHING, epochs: [] });
    const rest = { endsAmnesia: false, ensembleId: "", config: undefined };
    this.leads(this.peer, { kind: "new-leader", epoch: 1, through: ZXID_NONE, ...rest });
    this.leads(this.peer, { kind: "up-to-date", epoch: 1, committed: ZXID_NONE });
  }

  leads(peer: ScriptedPeer, message: PeerMessage): void {
    peer.send(message);
    this.run();
  }

  /** A peer comes to follow the server, which a quorum has elected, and says what it has: nothing. */
  comes(peer: ScriptedPeer): void {
    this.run(500);
    peer.dial();
    this.run();
    const promise = { epoch: 0, sid: 0, incarnation: 0 };
    this.says(peer, {
      ...{ kind: "learner-info", isObserver: false, promise },
      ...{ isFresh: true, isAmnesiac: false, ensembleId: "" },
    });
  }

  says(peer: ScriptedPeer, message: PeerMessage): void {
    peer.send(message);
    this.run();
  }

  promises(peer: ScriptedPeer, floor: Zxid = ZXID_NONE): void {
    this.says(peer, { kind: "ack-epoch", isRepeated: false, currentEpoch: 0, logged: NOTHING, floor, tails: [] });
  }

  /** A client opens a session, and a peer that is level acks it. */
  commitsSession(): void {
    const ref = this.server.accept();
    this.server.connect(ref, {
      ...{ protocolVersion: 0, lastZxidSeen: ZXID_NONE, timeoutMs: 1000, sessionId: SESSION_NONE },
      ...{ password: emptySlice(), readOnly: false },
    });
    this.run();
    this.says(this.peer, { kind: "ack", epoch: 1, durable: composeZxid(1, 1), round: 0 });
  }

  /** A peer follows the server and is level with it, which leads therefore. */
  joins(peer: ScriptedPeer): void {
    this.comes(peer);
    this.promises(peer);
    this.says(peer, { kind: "ack-new-leader", epoch: 1, through: ZXID_NONE });
    expect(this.server.isServing).toBe(true);
  }
}

function opening(timeoutMs: number): PeerMessage {
  const session = { sessionHigh: 2, sessionLow: 7, passwordHash: new Uint8Array(16) };
  return { kind: "open-session", sequence: 1, timeoutMs, ...session };
}

type Cases<Kind extends string> = Readonly<Record<Kind, (script: Script) => void>>;

const FAULTS: Cases<LearnerFault["fault"]["kind"] | LeaderFault["fault"]["kind"]> = {
  "epoch-acked-twice": (script) => {
    script.joins(script.peer);
    script.promises(script.peer);
  },
  "acceptance-not-offered": (script) => {
    script.comes(script.peer);
    script.promises(script.peer);
    script.says(script.peer, { kind: "ack-new-leader", epoch: 1, through: MISSING });
  },
  "ack-out-of-turn": (script) => {
    script.joins(script.peer);
    script.says(script.peer, { kind: "ack", epoch: 1, durable: MISSING, round: 0 });
  },
  "pong-of-another-epoch": (script) => {
    script.joins(script.peer);
    script.says(script.peer, { kind: "pong", epoch: 2, round: 0, applied: ZXID_NONE, touches: [] });
  },
  "request-before-level": (script) => {
    script.comes(script.peer);
    script.says(script.peer, { kind: "sync", sequence: 1 });
  },
  "not-for-a-leader": (script) => {
    script.joins(script.peer);
    script.says(script.peer, { kind: "up-to-date", epoch: 1, committed: ZXID_NONE });
  },
  "requests-break-off": (script) => {
    script.joins(script.peer);
    script.says(script.peer, { kind: "forward", count: 1, bytes: new Uint8Array(30), start: 0, end: 29 });
  },
  "session-exists": (script) => {
    script.joins(script.peer);
    script.says(script.peer, opening(1000));
    script.says(script.peer, opening(1000));
  },
  "session-impossible": (script) => {
    script.joins(script.peer);
    script.says(script.peer, opening(-1));
  },
  "epoch-named-twice": (script) => {
    script.levelWithPeer();
    script.leads(script.peer, { kind: "leader-info", epoch: 1, incarnation: 1, ensembleId: "" });
  },
  "level-out-of-turn": (script) => {
    script.levelWithPeer();
    script.leads(script.peer, { kind: "up-to-date", epoch: 1, committed: ZXID_NONE });
  },
  "commit-of-what-is-missing": (script) => {
    script.levelWithPeer();
    script.leads(script.peer, { kind: "commit", epoch: 1, committed: MISSING });
  },
  "ping-of-another-epoch": (script) => {
    script.levelWithPeer();
    script.leads(script.peer, { kind: "ping", epoch: 2, round: 0, committed: ZXID_NONE });
  },
  "out-of-turn": (script) => {
    script.levelWithPeer();
    script.leads(script.peer, { kind: "sync-begin", epoch: 1, mode: "diff", from: NOTHING, epochs: [] });
  },
};

const PARTED: Cases<
  | "committed-history-unknown"
  | "history-not-the-leaders"
  | "refused-by-leader"
  | "refused-by-learner"
  | "histories-differ"
  | "applied-beyond"
> = {
  "committed-history-unknown": (script) => {
    script.comes(script.peer);
    script.promises(script.peer, MISSING);
  },
  "history-not-the-leaders": (script) => {
    script.followsPeer();
    script.leads(script.peer, { kind: "refuse", reason: "diverged", text: "in words" });
  },
  "refused-by-leader": (script) => {
    script.followsPeer();
    script.leads(script.peer, { kind: "refuse", reason: "diverged", text: "in words" });
  },
  "refused-by-learner": (script) => {
    script.joins(script.peer);
    script.says(script.peer, { kind: "refuse", reason: "diverged", text: "in words" });
  },
  "histories-differ": (script) => {
    script.followsPeer();
    script.leads(script.peer, { kind: "leader-info", epoch: 1, incarnation: 1, ensembleId: "" });
    const from = { zxid: ZXID_NONE, chain: 1n } as typeof NOTHING;
    script.leads(script.peer, { kind: "sync-begin", epoch: 1, mode: "diff", from, epochs: [] });
  },
  "applied-beyond": (script) => {
    // A session of its own is applied while the server leads. Then another one leads, and has never heard of it.
    script.joins(script.peer);
    script.commitsSession();
    expect(script.server.replica.tree.applied).toBe(composeZxid(1, 1));
    script.peer.leader = PEER;
    script.other.leader = PEER;
    script.says(script.peer, { kind: "refuse", reason: "unable", text: "in words" });
    script.run(1000);
    script.leads(script.peer, { kind: "leader-info", epoch: 2, incarnation: 1, ensembleId: "" });
    script.leads(script.peer, { kind: "sync-begin", epoch: 2, mode: "diff", from: NOTHING, epochs: [] });
  },
};

/** What the simulation makes of an event. */
function judge(script: Script, event: ReplicaEvent): void {
  new Ensemble(planOf(1)).note(script.server, event);
}

describe("rule I32 fires at", () => {
  test.each(Object.entries(FAULTS))("a message that is %s", (kind, run) => {
    const script = new Script();
    run(script);
    const event = script.events.find((each) => each.kind === "illegal-message" && each.fault.kind === kind);
    expect(event, script.events.map(describeEvent).join("; ")).toBeDefined();
    if (event !== undefined) expect(() => judge(script, event)).toThrow("I32");
    // Nothing that came before was illegal.
    expect(script.events.find(isIllegal)).toBe(event);
  });

  test.each(Object.entries(PARTED))("histories that part: %s", (kind, run) => {
    const script = new Script();
    run(script);
    const event = script.events.find((each) => each.kind === kind);
    expect(event, script.events.map(describeEvent).join("; ")).toBeDefined();
    if (event !== undefined) expect(() => judge(script, event)).toThrow("I32");
  });

  test("no other kind", () => {
    expect([...ILLEGAL_KINDS].sort()).toEqual(["illegal-message", ...Object.keys(PARTED)].sort());
  });
});

test("rule I32 does not fire at a refusal that says nothing of histories", () => {
  const script = new Script();
  script.followsPeer();
  script.leads(script.peer, { kind: "refuse", reason: "not-leading", text: "in words" });
  const event = script.events.find(({ kind }) => kind === "refused-by-leader");
  expect(event).toBeDefined();
  if (event !== undefined) judge(script, event);
});

/** How often a run without faults reaches something, once it was told this. */
function countOf(what: Sometimes, tell: (ensemble: Ensemble) => void): number {
  const ensemble = new Ensemble(
    planOf(1, { voters: 1, observers: 0, clients: 1, tenants: 0, only: [], faultsUntilMs: 100 }),
  );
  tell(ensemble);
  return ensemble.run().sometimes[what] ?? 0;
}

const COUNTED: readonly (readonly [Sometimes, ReplicaEvent["kind"], () => Script])[] = [
  [
    "leader with a smaller log refused",
    "learner-is-ahead",
    () => {
      const script = new Script();
      script.comes(script.peer);
      const logged = { zxid: MISSING, chain: CHAIN_NONE };
      const tails = [{ epoch: 1, last: 99 }];
      script.says(script.peer, {
        ...{ kind: "ack-epoch", isRepeated: false, currentEpoch: 1 },
        ...{ logged, floor: ZXID_NONE, tails },
      });
      return script;
    },
  ],
  [
    "counter near its end, new epoch",
    "counter-used-up",
    () => {
      const script = new Script({ counterMax: 1 });
      script.joins(script.peer);
      script.commitsSession();
      script.run();
      return script;
    },
  ],
  [
    "leader lost its quorum",
    "quorum-lost",
    () => {
      const script = new Script();
      script.joins(script.peer);
      script.run(5000);
      return script;
    },
  ],
  [
    "successor led without an election",
    "leader-handed-over",
    () => {
      const script = new Script();
      script.levelWithPeer();
      script.leads(script.peer, { kind: "hand-over", epoch: 1, successor: OTHER });
      return script;
    },
  ],
];

describe("what a long run must have seen is counted", () => {
  test.each(COUNTED)("%s, by the event %s", (what, kind, run) => {
    const script = run();
    const event = script.events.find((each) => each.kind === kind);
    expect(event, script.events.map(describeEvent).join("; ")).toBeDefined();
    const count = countOf(what, (ensemble) => event !== undefined && ensemble.note(script.server, event));
    expect([countOf(what, () => {}), count]).toEqual([0, 1]);
  });

  test("SNAP interrupted, by a state that is given up", () => {
    const script = new Script();
    script.followsPeer();
    script.leads(script.peer, { kind: "leader-info", epoch: 1, incarnation: 1, ensembleId: "" });
    script.leads(script.peer, { kind: "sync-begin", epoch: 1, mode: "snap", from: NOTHING, epochs: [] });
    script.leads(script.peer, { kind: "refuse", reason: "unable", text: "in words" });
    expect(script.abandoned).toEqual([0]);
    const tell = (ensemble: Ensemble): void => ensemble.stateAbandoned(script.server, 0);
    expect([countOf("SNAP interrupted", () => {}), countOf("SNAP interrupted", tell)]).toEqual([0, 1]);
  });
});
