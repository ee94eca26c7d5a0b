import { createHash } from "node:crypto";
import {
  CHAIN_NONE,
  type ConnectionRef,
  MajorityQuorum,
  SESSION_NONE,
  type SessionId,
  serverId,
  ZXID_NONE,
  type Zxid,
} from "@zooid/model";
import { RequestReader } from "@zooid/wire";
import { TxnBatchEncoder, TxnReader } from "@zooid/wire/txn";
import { REPLICA_DEFAULTS, type ReplicaConfig } from "../config.ts";
import type { ReplicaEvent } from "../operator-events.ts";
import { Replica } from "../replica.ts";
import type { ConnectionRefusal } from "../sinks.ts";
import type { ReplicaTools } from "../tools.ts";
import { withNoPeers } from "../with-no-peers.ts";
import { HeardReplies } from "./replies.ts";
import { type Body, sendRequest } from "./requests.ts";

/** The parameters of a client's connection; without a session it creates one. */
export interface Connecting {
  readonly address?: string;
  readonly certificateSubject?: string;
  readonly timeoutMs?: number;
  readonly session?: SessionId;
  readonly password?: Uint8Array;
  readonly lastZxidSeen?: Zxid;
}

const NO_PASSWORD = new Uint8Array(16);
const NOWHERE = { zxid: ZXID_NONE, chain: CHAIN_NONE };
const EMPTY_LOG = {
  identity: { ensembleId: "", sid: 1, bootCount: 1, diskId: "" },
  promise: { epoch: 1, sid: 1, incarnation: 1 },
  currentEpoch: 1,
  tail: NOWHERE,
  floor: NOWHERE,
  commitHint: ZXID_NONE,
  epochs: [],
  amnesiac: false,
};

/**
 * For tests: a replica whose log is an array and whose clients are lists of what they received, one
 * line for each packet: the xid and then the answer (`7 ok`, `7 NO_NODE`, `7 data x`, `event 1 /a`,
 * `close`). Nothing is durable before {@link sync}.
 */
export class TestReplica {
  readonly replica: Replica;
  readonly resumed: ConnectionRef[] = [];
  readonly refusals: ConnectionRefusal[] = [];
  readonly notes: ReplicaEvent[] = [];
  /** Connections that sent a wrong password and stay open. */
  readonly wrongPasswords: ConnectionRef[] = [];
  /** Batches that are appended and not durable: the role's generation and the last zxid of each. */
  readonly unsynced: { readonly generation: number; readonly last: Zxid }[] = [];
  readonly #replies = new HeardReplies();
  #nowMs = 0;
  #wallJumpMs = 0;
  #secrets = 0;

  /** @param begin lets the replica lead */
  constructor(
    config: Partial<ReplicaConfig> = {},
    tools: Partial<ReplicaTools> = {},
    begin: (replica: Replica) => void = (replica) => replica.lead(1, 1),
  ) {
    const sid = serverId(1);
    this.replica = new Replica(
      {
        ...REPLICA_DEFAULTS,
        sid,
        verifier: new MajorityQuorum([sid]),
        tickMs: 100,
        sessionTimeoutMsMin: 200,
        sessionTimeoutMsMax: 20_000,
        auth: { superDigest: SUPER_DIGEST, digestEnabled: true, skipAcl: false },
        hashKey: { k0: 1, k1: 2 },
        ...config,
      },
      {
        requests: new RequestReader(),
        batcher: new TxnBatchEncoder(),
        txns: new TxnReader(),
        entries: new TxnReader(),
        hashes: { digest: hash("sha1"), sha256: hash("sha256") },
        // The first token is the user, and believed.
        sasl: () => ({
          step: (token) => ({ kind: "done", token: new Uint8Array(0), user: Buffer.from(token).toString() }),
        }),
        random: () => 0.5,
        ...tools,
      },
      {
        replies: this.#replies.sink(),
        ...withNoPeers({
          durable: EMPTY_LOG,
          append: (_, generation) => this.unsynced.push({ generation, last: this.replica.zab.lastProposed }),
        }),
        elect: () => {},
        install: () => {},
        roleChanged: () => {},
        note: (event) => this.notes.push(event),
        resume: (to) => this.resumed.push(to),
        refused: (_, refusal) => this.refusals.push(refusal),
        wrongPassword: (from) => this.wrongPasswords.push(from),
      },
    );
    this.replica.setTime(0, 1_000_000);
    begin(this.replica);
  }

  /** The last session that was created or renewed. */
  get session(): SessionId {
    return this.#replies.session;
  }

  get password(): Uint8Array {
    return this.#replies.password;
  }

  /** A connection with a session of its own. */
  open(address = "127.0.0.1", timeoutMs = 10_000, connecting: Connecting = {}): ConnectionRef {
    const ref = this.connect({ ...connecting, address, timeoutMs });
    this.turn();
    this.take(ref);
    return ref;
  }

  /** A connection that has sent its connect request. */
  connect(connecting: Connecting = {}): ConnectionRef {
    const { address, certificateSubject, timeoutMs, session, password, lastZxidSeen } = connecting;
    const ref = this.replica.accept(address ?? "127.0.0.1", certificateSubject);
    this.#replies.open(ref);
    const secret = new Uint8Array(18).fill(++this.#secrets);
    this.replica.connect(
      ref,
      {
        protocolVersion: 0,
        lastZxidSeen: lastZxidSeen ?? ZXID_NONE,
        timeoutMs: timeoutMs ?? 10_000,
        sessionId: session ?? SESSION_NONE,
        password: { bytes: password ?? NO_PASSWORD, start: 0, end: 16 },
        readOnly: false,
      },
      secret,
    );
    return ref;
  }

  /** Sends a request; false when the connection is to be read no further. */
  send(ref: ConnectionRef, xid: number, op: number, body: Body = () => {}): boolean {
    return sendRequest(this.replica, ref, xid, op, body);
  }

  /** Sends a request, runs a turn, and takes what was received. */
  ask(ref: ConnectionRef, op: number, body: Body = () => {}): string {
    this.send(ref, 1, op, body);
    this.turn();
    return this.take(ref).join("; ").replace(/^1 /, "");
  }

  authenticate(ref: ConnectionRef, credentials: string): string {
    return this.ask(ref, 100, (writer) => {
      writer.int(0);
      writer.text("digest");
      writer.text(credentials);
    });
  }

  /** Lets a connection be a user of SASL. */
  authenticateBySasl(ref: ConnectionRef, user: string): void {
    this.ask(ref, 102, (writer) => writer.text(user));
  }

  /** Makes batches that were appended durable, by default all of them. */
  sync(count: number = this.unsynced.length): void {
    for (const { generation, last } of this.unsynced.splice(0, count)) this.replica.synced(generation, last);
  }

  /** A driver's turn, with a disk that takes no time. */
  turn(): void {
    this.replica.propose();
    this.sync();
    while (this.replica.deliver(10)) {
      // Until nothing is due.
    }
  }

  /** One call of `deliver` after everything proposed is durable. */
  deliverOnce(): boolean {
    this.replica.propose();
    this.sync();
    return this.replica.deliver(10);
  }

  /** Turns until no turn leaves work to the next one. @returns how many there were */
  finish(): number {
    let turns = 0;
    for (; this.replica.nextTickMs() === this.replica.nowMs; turns++) {
      this.replica.tick();
      this.turn();
    }
    return turns;
  }

  advance(byMs: number): void {
    this.#nowMs += byMs;
    this.replica.setTime(this.#nowMs, 1_000_000 + this.#nowMs + this.#wallJumpMs);
  }

  /** Advances time to every moment at which something is due, up to a limit. */
  advanceInTicks(byMs: number): void {
    const endMs = this.#nowMs + byMs;
    for (;;) {
      const dueMs = this.replica.nextTickMs();
      if (dueMs === undefined || dueMs > endMs) break;
      this.advance(Math.max(0, dueMs - this.#nowMs));
      this.replica.tick();
      this.turn();
    }
    this.advance(endMs - this.#nowMs);
  }

  /** Sets the wall clock. */
  setWallClock(byMs: number): void {
    this.#wallJumpMs += byMs;
    this.advance(0);
  }

  /** Takes what a client received since the last call. */
  take(ref: ConnectionRef): string[] {
    return this.#replies.take(ref);
  }
}

/** The digest of `super:test`. */
const SUPER_DIGEST = "super:D/InIHSb7yEEbrWz8b9l71RjZJU=";

function hash(algorithm: string): (bytes: Uint8Array) => Uint8Array {
  return (bytes) => createHash(algorithm).update(bytes).digest();
}
