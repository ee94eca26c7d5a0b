import { createHash } from "node:crypto";
import {
  type ConnectionRef,
  copyRange,
  type KnownLevels,
  type LinkRef,
  MajorityQuorum,
  SESSION_NONE,
  type ServerId,
  type SessionId,
  serverId,
  ZXID_NONE,
} from "@zooid/model";
import { versionWith } from "@zooid/model/testing/versions";
import { RequestReader } from "@zooid/wire";
import { TxnBatchEncoder, TxnReader } from "@zooid/wire/txn";
import { VolatileLog } from "@zooid/zab";
import { type MemberConfig, REPLICA_DEFAULTS, type ReplicaConfig } from "../config.ts";
import type { ReplicaEvent } from "../operator-events.ts";
import { Replica } from "../replica.ts";
import type { ReplicaTools } from "../tools.ts";
import { HeardReplies } from "./replies.ts";
import { type Body, sendRequest } from "./requests.ts";

/** The parameters of a client's connection; without a session it creates one. */
export interface Arriving {
  readonly session?: SessionId;
  readonly password?: Uint8Array;
  readonly timeoutMs?: number;
  readonly readOnly?: boolean;
  readonly lastZxidSeen?: number;
}

export const TEST_TICK_MS = 100;

/**
 * For tests: servers connected by a list of steps that are still to run; their disks take no time.
 */
export class TestEnsemble {
  readonly members: readonly TestMember[];
  readonly #todo: (() => void)[] = [];
  readonly #ends = new Map<LinkRef, { readonly member: TestMember; readonly link: LinkRef }>();
  readonly #cutOff = new Set<ServerId>();
  /** Servers whose quorum port cannot be reached, `blocked` from the start on; elections work. */
  readonly #unreachable = new Set<ServerId>();
  /** Refusals of blocked ports, which take a moment. */
  readonly #refused: (() => void)[] = [];
  /** Messages that stay in transit, by the link that they were sent on. */
  readonly #heldOf = new Map<LinkRef, (() => void)[]>();
  #nowMs = 0;

  constructor(
    count: number,
    config: Partial<MemberConfig> & { readonly observers?: number; readonly blocked?: number } = {},
    limits: Partial<ReplicaConfig> = {},
    tools: () => Partial<ReplicaTools> = () => ({}),
  ) {
    const { observers = 0, blocked, ...rest } = config;
    if (blocked !== undefined) this.#unreachable.add(serverId(blocked));
    const sids = Array.from({ length: count + observers }, (_, i) => serverId(i + 1));
    const voters = sids.slice(0, count);
    this.members = sids.map((sid) => new TestMember(sid, voters, { ...limits, ensemble: rest }, this, tools()));
    for (const { replica } of this.members) replica.join(1);
    this.run();
    this.advance(1000);
  }

  get leader(): TestMember {
    const leader = this.members.find(({ replica }) => replica.isLeading);
    if (leader === undefined) throw new Error("no server leads");
    return leader;
  }

  get followers(): readonly TestMember[] {
    return this.members.filter(({ replica }) => replica.isServing && replica.zab.state === "following");
  }

  get observers(): readonly TestMember[] {
    return this.members.filter(({ replica }) => replica.zab.state === "observing");
  }

  later(step: () => void): void {
    this.#todo.push(step);
  }

  /** Runs until nothing is left to do, without time passing. */
  run(): void {
    for (let rounds = 0; this.#todo.length > 0 || rounds < 3; rounds++) {
      for (const step of this.#todo.splice(0)) step();
      for (const member of this.members) member.endTurn();
    }
  }

  /** Lets time pass, a tenth of a tick at a time. */
  advance(byMs: number): void {
    const endMs = this.#nowMs + byMs;
    while (this.#nowMs < endMs) {
      this.#nowMs = Math.min(endMs, this.#nowMs + TEST_TICK_MS / 10);
      for (const refuse of this.#refused.splice(0)) refuse();
      for (const { replica } of this.members) {
        replica.setTime(this.#nowMs, 1_000_000 + this.#nowMs);
        replica.tick();
        replica.expireSessions();
      }
      this.run();
    }
  }

  /** The leader's end of its link to another server. */
  linkOf(member: TestMember): LinkRef {
    const { leader } = this;
    for (const [link, end] of this.#ends) {
      if (end.member === member && this.#ends.get(end.link)?.member === leader) return link;
    }
    throw new Error(`server ${member.sid} has no link to its leader`);
  }

  /** Cuts a server off from all others until {@link rejoin}; its links break. */
  cutOff(member: TestMember): void {
    this.#cutOff.add(member.sid);
    const ends = new Map(this.#ends);
    for (const [link, { member: other, link: there }] of ends) {
      if (ends.get(there)?.member !== member && other !== member) continue;
      this.#ends.delete(link);
      this.later(() => other.replica.zab.linkClosed(there, "cut off"));
    }
    this.run();
  }

  /** Nothing reaches a server's quorum port until it is {@link openPort opened} again. */
  blockPort(member: TestMember): void {
    this.#unreachable.add(member.sid);
  }

  openPort(member: TestMember): void {
    this.#unreachable.delete(member.sid);
  }

  rejoin(member: TestMember): void {
    this.#cutOff.delete(member.sid);
    for (const other of this.members) {
      if (other === member) continue;
      this.later(() => other.replica.membership.electionLinkUp(member.sid));
      this.later(() => member.replica.membership.electionLinkUp(other.sid));
    }
    this.run();
  }

  /** A server runs another version from now on: see `versionWith`. */
  upgrade(member: TestMember, highest: number): void {
    Object.assign(member.levels, versionWith(highest));
    if (member.replica.isLeading) return;
    this.cutOff(member);
    this.rejoin(member);
    this.advance(2000);
  }

  isReachable(a: ServerId, b: ServerId): boolean {
    return !this.#cutOff.has(a) && !this.#cutOff.has(b);
  }

  member(sid: ServerId): TestMember {
    return this.members[sid - 1] as TestMember;
  }

  dial(from: TestMember, to: ServerId): void {
    if (this.#unreachable.has(to)) {
      this.#refused.push(() => from.replica.zab.dialFailed("refused"));
      return;
    }
    if (!this.isReachable(from.sid, to)) {
      from.replica.zab.dialFailed("cut off");
      return;
    }
    const [here, there] = [++this.#links, ++this.#links] as [LinkRef, LinkRef];
    const other = this.member(to);
    this.#ends.set(here, { member: other, link: there });
    this.#ends.set(there, { member: from, link: here });
    other.replica.zab.linkOpened(there, from.sid, false);
    from.replica.zab.linkOpened(here, to, true);
  }
  #links = 0;

  send(link: LinkRef, deliver: (member: TestMember, link: LinkRef) => void): void {
    const step = (): void => {
      const end = this.#ends.get(link);
      if (end !== undefined) deliver(end.member, end.link);
    };
    const held = this.#heldOf.get(link);
    if (held === undefined) this.later(step);
    else held.push(step);
  }

  /**
   * Holds back a server's messages on its link to the leader until the returned function is called.
   */
  holdBack(member: TestMember): () => void {
    const link = this.#ends.get(this.linkOf(member))?.link;
    if (link === undefined) throw new Error(`the link of server ${member.sid} has another end`);
    const held: (() => void)[] = [];
    this.#heldOf.set(link, held);
    return () => {
      this.#heldOf.delete(link);
      for (const step of held) this.later(step);
      this.run();
    };
  }

  close(link: LinkRef): void {
    const end = this.#ends.get(link);
    if (end === undefined) return;
    this.later(() => {
      this.#ends.delete(link);
      if (this.#ends.delete(end.link)) end.member.replica.zab.linkClosed(end.link, "closed");
    });
  }
}

/** One of its servers; each of its clients is a list of what it received. */
export class TestMember {
  readonly sid: ServerId;
  readonly replica: Replica;
  readonly notes: ReplicaEvent[] = [];
  /** The feature levels that its version knows. */
  readonly levels: KnownLevels;
  readonly #ensemble: TestEnsemble;
  readonly #replies = new HeardReplies();
  #secrets = 0;
  /** The entries that a full disk holds back; undefined while it has room. */
  #held: (() => void)[] | undefined;

  constructor(
    sid: ServerId,
    voters: readonly ServerId[],
    config: Partial<Omit<ReplicaConfig, "ensemble">> & { readonly ensemble: Partial<MemberConfig> },
    ensemble: TestEnsemble,
    tools: Partial<ReplicaTools>,
  ) {
    this.sid = sid;
    this.#ensemble = ensemble;
    this.levels = { ...(config.levels ?? REPLICA_DEFAULTS.levels) };
    const unused = (): never => {
      throw new Error("these logs hold everything, so no state is ever sent");
    };
    const log = new VolatileLog(
      sid,
      (step) => ensemble.later(() => this.#write(step)),
      (generation, zxid) => this.replica.synced(generation, zxid),
    );
    this.replica = new Replica(
      {
        ...REPLICA_DEFAULTS,
        sid,
        verifier: new MajorityQuorum(voters),
        tickMs: TEST_TICK_MS,
        sessionTimeoutMsMin: 200,
        sessionTimeoutMsMax: 20_000,
        auth: { superDigest: undefined, digestEnabled: true, skipAcl: false },
        hashKey: { k0: 1, k1: 2 },
        ...config,
        levels: this.levels,
        ensemble: {
          isObserver: !voters.includes(sid),
          electionAlg: 3,
          initLimit: 10,
          syncLimit: 5,
          newEnsembleId: `made by ${sid}`,
          ...config.ensemble,
        },
      },
      {
        requests: new RequestReader(),
        batcher: new TxnBatchEncoder(),
        txns: new TxnReader(),
        entries: new TxnReader(),
        hashes: { digest: hash("sha1"), sha256: hash("sha256") },
        random: () => 0.5,
        ...tools,
      },
      {
        replies: this.#replies.sink(),
        log,
        links: {
          dial: (to) => ensemble.later(() => ensemble.dial(this, to)),
          cancelDial: () => {},
          send: (link, message) => {
            // The sender's buffers are its own again after the call.
            const sent =
              "bytes" in message
                ? { ...message, bytes: copyRange(message.bytes, message.start, message.end) }
                : message;
            const copy = "bytes" in sent ? { ...sent, start: 0, end: sent.bytes.length } : sent;
            ensemble.send(link, (member, there) => member.replica.receivePeer(there, copy));
          },
          refuse: (link, reason, { kind }) =>
            ensemble.send(link, (member, there) =>
              member.replica.receivePeer(there, { kind: "refuse", reason, text: kind }),
            ),
          close: (link) => ensemble.close(link),
        },
        snapshots: {
          open: unused,
          start: unused,
          credit: unused,
          end: () => {},
          receive: unused,
          chunk: unused,
          abandon: () => {},
        },
        elect: (to, message) =>
          ensemble.later(() => {
            if (ensemble.isReachable(sid, to)) ensemble.member(to).replica.receiveElection(sid, message);
          }),
        install: unused,
        roleChanged: () => {},
        note: (event) => this.notes.push(event),
        resume: () => {},
      },
    );
    this.replica.setTime(0, 1_000_000);
  }

  /** The last session that was created or renewed here. */
  get session(): SessionId {
    return this.#replies.session;
  }

  get password(): Uint8Array {
    return this.#replies.password;
  }

  /** A connection that has sent its connect request; what it received is not taken yet. */
  connect(arriving: Arriving = {}): ConnectionRef {
    const ref = this.replica.accept("127.0.0.1");
    this.#replies.open(ref);
    const { session = SESSION_NONE, password = new Uint8Array(16), timeoutMs = 10_000, readOnly = false } = arriving;
    this.replica.connect(
      ref,
      {
        protocolVersion: 0,
        lastZxidSeen: (arriving.lastZxidSeen ?? ZXID_NONE) as typeof ZXID_NONE,
        timeoutMs,
        sessionId: session,
        password: { bytes: password, start: 0, end: 16 },
        readOnly,
      },
      new Uint8Array(18).fill(++this.#secrets),
    );
    this.#ensemble.run();
    return ref;
  }

  /** A connection with a session. */
  open(arriving: Arriving = {}): ConnectionRef {
    const ref = this.connect(arriving);
    this.take(ref);
    return ref;
  }

  send(ref: ConnectionRef, xid: number, op: number, body: Body = () => {}): boolean {
    return sendRequest(this.replica, ref, xid, op, body);
  }

  /** Sends a request, runs until nothing is left to do, and takes what was received. */
  ask(ref: ConnectionRef, op: number, body: Body = () => {}): string {
    this.send(ref, 1, op, body);
    this.#ensemble.run();
    return this.take(ref).join("; ").replace(/^1 /, "");
  }

  take(ref: ConnectionRef): string[] {
    return this.#replies.take(ref);
  }

  /**
   * From now on nothing becomes durable here. The replica knows it by {@link Replica.setRoom}
   * alone.
   */
  fillDisk(): void {
    this.#held ??= [];
  }

  #write(step: () => void): void {
    if (this.#held === undefined) step();
    else this.#held.push(step);
  }

  disconnect(ref: ConnectionRef): void {
    this.replica.disconnect(ref);
  }

  endTurn(): void {
    this.replica.propose();
    while (this.replica.deliver(10)) {
      // Until nothing is due.
    }
    this.replica.flush();
  }
}

function hash(algorithm: string): (bytes: Uint8Array) => Uint8Array {
  return (bytes) => createHash(algorithm).update(bytes).digest();
}
