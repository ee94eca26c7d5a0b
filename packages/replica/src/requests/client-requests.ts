import {
  assert,
  type ConnectionRef,
  composeZxid,
  ErrorCode,
  isEphemeralMode,
  isWrite,
  newRequest,
  OpCode,
  type Request,
  WireError,
  type Zxid,
} from "@zooid/model";
import type { ZabPeer } from "@zooid/zab";
import type { AuthPackets } from "../auth/auth-packets.ts";
import type { AuthSchemes } from "../auth/auth-schemes.ts";
import type { ReplicaConfig } from "../config.ts";
import type { Admission } from "../connections/admission.ts";
import type { Connection } from "../connections/connection.ts";
import type { Connections } from "../connections/connections.ts";
import type { WatchBudget } from "../connections/watch-budget.ts";
import type { Counters } from "../counters.ts";
import type { RequestForwarder } from "../forwarding/request-forwarder.ts";
import type { LocalReads } from "../reads/local-reads.ts";
import type { ServingState } from "../serving-state.ts";
import type { ClientSessions } from "../sessions/client-sessions.ts";
import type { Session } from "../sessions/session-table.ts";
import type { ReplicaSinks } from "../sinks.ts";
import type { ReplicaTools } from "../tools.ts";
import type { OwnWrites } from "../writes/own-writes.ts";
import type { TxnProposer } from "../writes/txn-proposer.ts";
import { ClientSyncs } from "./client-syncs.ts";
import { isServed } from "./served-operations.ts";
import { SetWatches } from "./set-watches.ts";
import { type Answer, WaitingRequests } from "./waiting-requests.ts";

interface ClientRequestsParts {
  readonly config: ReplicaConfig;
  readonly tools: ReplicaTools;
  readonly sinks: ReplicaSinks;
  readonly watchBudget: WatchBudget;
  readonly auth: AuthSchemes;
  readonly zab: ZabPeer;
  readonly servingState: ServingState;
  readonly connections: Connections;
  readonly counters: Counters;
  readonly admission: Admission;
  readonly packets: AuthPackets;
  readonly reads: LocalReads;
  readonly sessions: ClientSessions;
  readonly writes: OwnWrites;
  readonly proposer: TxnProposer;
  readonly forwarder: RequestForwarder;
}

/**
 * The requests of this server's clients, in the order of each connection: a write goes to the leader, which may be this server; a read is
 * answered here and now, or behind the writes and syncs of its connection that came before it.
 */
export class ClientRequests {
  readonly #config: ReplicaConfig;
  readonly #tools: ReplicaTools;
  readonly #sinks: ReplicaSinks;
  readonly #watchBudget: WatchBudget;
  readonly #auth: AuthSchemes;
  readonly #zab: ZabPeer;
  readonly #servingState: ServingState;
  readonly #connections: Connections;
  readonly #counters: Counters;
  readonly #admission: Admission;
  readonly #packets: AuthPackets;
  readonly #reads: LocalReads;
  readonly #sessions: ClientSessions;
  readonly #writes: OwnWrites;
  readonly #proposer: TxnProposer;
  readonly #forwarder: RequestForwarder;
  readonly #syncs: ClientSyncs;
  readonly #setWatches: SetWatches;
  readonly #waiting: WaitingRequests;
  // Structures that every request is read into.
  readonly #request: Request = newRequest();
  readonly #part: Request = newRequest();

  constructor(parts: ClientRequestsParts) {
    this.#config = parts.config;
    this.#tools = parts.tools;
    this.#sinks = parts.sinks;
    this.#watchBudget = parts.watchBudget;
    this.#auth = parts.auth;
    this.#zab = parts.zab;
    this.#servingState = parts.servingState;
    this.#connections = parts.connections;
    this.#counters = parts.counters;
    this.#admission = parts.admission;
    this.#packets = parts.packets;
    this.#reads = parts.reads;
    this.#sessions = parts.sessions;
    this.#writes = parts.writes;
    this.#proposer = parts.proposer;
    this.#forwarder = parts.forwarder;
    const answer: Answer = (connection, request, bytes, start, end, receivedMs) =>
      this.#answer(connection, request, bytes, start, end, receivedMs);
    this.#waiting = new WaitingRequests(parts, this.#request, answer);
    this.#syncs = new ClientSyncs(parts, this.#waiting, this.#request, answer);
    this.#setWatches = new SetWatches(parts, this.#request, (connection, request, receivedMs) => {
      this.#readAnswered(connection, request.op, request.xid, receivedMs);
      this.#waiting.release(connection);
    });
  }

  /**
   * Takes one frame of an open connection.
   *
   * @returns false when no more may be read for now
   */
  receive(ref: ConnectionRef, bytes: Uint8Array, start: number, end: number): boolean {
    const connection = this.#connections.get(ref);
    if (connection === undefined || connection.phase !== "open") return false;
    const request = this.#request;
    try {
      this.#tools.requests.open(bytes, start, end, request);
    } catch {
      this.#connections.refuse(connection, "unreadable-request");
      return false;
    }
    this.#counters.received(connection);
    const { op } = request;
    const { nowMs } = this.#servingState;
    if (op === OpCode.AUTH) return this.#receiveAuth(connection, request, bytes, start, end);
    if (op === OpCode.SASL) return this.#receiveSasl(connection, request, bytes, start, end);
    if (!this.#auth.mayAsk(connection.identities)) {
      this.#sinks.replies.header(ref, request.xid, composeZxid(0, 0), ErrorCode.SESSION_CLOSED_REQUIRE_SASL_AUTH);
      this.#counters.answered(connection, op, request.xid, 0, nowMs);
      this.#connections.refuse(connection, "unauthenticated");
      return false;
    }
    if (!isServed(op)) {
      this.#sinks.replies.header(ref, request.xid, -1, ErrorCode.UNIMPLEMENTED);
      this.#counters.answered(connection, op, request.xid, -1, nowMs);
      this.#connections.refuse(connection, "unknown-operation");
      return false;
    }
    const { session } = connection;
    assert(session !== undefined, "an open connection has a session");
    // What comes behind the session's end is dropped, as if it had come too late.
    if (session.closing) return true;
    session.touchedMs = nowMs;
    if (this.#servingState.isReadOnly && (isWrite(op) || op === OpCode.SYNC)) {
      this.#refuseReadOnly(connection, session, request);
    } else if (isWrite(op)) this.#write(connection, session, request, bytes, start, end);
    else if (op === OpCode.SYNC) this.#syncs.sync(connection, request, bytes, start, end);
    // rule: reads-wait-behind-writes
    else if (connection.mustWait) this.#waiting.waitToRead(connection, request, bytes, start, end);
    // rule: no-reads-in-the-middle-of-a-transaction
    else if (this.#servingState.isApplying && op !== OpCode.PING) {
      this.#waiting.waitToRead(connection, request, bytes, start, end);
      this.#waiting.holdBack(connection);
    } else this.#answer(connection, request, bytes, start, end, nowMs);
    return this.#admission.admits(connection);
  }

  /** An auth packet takes effect at once, for requests that follow; its answer keeps its place in the order. */
  #receiveAuth(connection: Connection, request: Request, bytes: Uint8Array, start: number, end: number): boolean {
    if (connection.mustWait) {
      this.#waiting.wait(connection, bytes, start, end);
      const granted = this.#packets.authenticate(connection.identities, request);
      // Nothing behind a refused packet may be served; the refusal is said, and the connection closed, when its turn comes.
      if (granted === "refused" || granted === "elsewhere") return false;
      this.#packets.noteGuess(connection, connection.identities, granted);
      connection.identities = granted;
      return this.#admission.admits(connection);
    }
    const before = connection.answeredAs;
    this.#packets.answer(connection, request, this.#servingState.nowMs);
    connection.identities = connection.answeredAs;
    this.#packets.noteGuess(connection, before, connection.identities);
    return connection.phase === "open";
  }

  /** A step of the connection's SASL exchange: as with {@link #receiveAuth}, what it brings counts at once, its answer waits its turn. */
  #receiveSasl(connection: Connection, request: Request, bytes: Uint8Array, start: number, end: number): boolean {
    const answer = this.#packets.stepSasl(connection, request);
    if (answer === undefined) {
      this.#connections.refuse(connection, "unreadable-request");
      return false;
    }
    if (connection.mustWait) {
      connection.saslAnswers.push(answer);
      this.#waiting.wait(connection, bytes, start, end);
      return !answer.isLast && this.#admission.admits(connection);
    }
    this.#packets.answerSasl(connection, request.xid, answer, this.#servingState.nowMs);
    return connection.phase === "open";
  }

  /** The frame is the one that the decoder has opened. */
  #answer(
    connection: Connection,
    request: Request,
    bytes: Uint8Array,
    start: number,
    end: number,
    receivedMs: number,
  ): void {
    const { ref } = connection;
    const { op, xid } = request;
    if (op === OpCode.AUTH) {
      this.#packets.answer(connection, request, receivedMs);
      return;
    }
    if (op === OpCode.SASL) {
      const answer = connection.saslAnswers.shift();
      assert(answer !== undefined, "a step of SASL that waits was taken when it came");
      this.#packets.answerSasl(connection, xid, answer, receivedMs);
      return;
    }
    if (op === OpCode.CLOSE_SESSION) {
      this.#sessions.closeLocal(connection, xid, receivedMs);
      return;
    }
    const { visible } = this.#servingState;
    let isReadable = true;
    try {
      this.#tools.requests.body(request);
      // Of writes only those come here that are refused, and one that can be read is refused for what it asks of a local session.
      if (isWrite(op)) this.#sinks.replies.header(ref, xid, visible, ErrorCode.EPHEMERAL_ON_LOCAL_SESSION);
      else if (op === OpCode.SET_WATCHES || op === OpCode.SET_WATCHES2) {
        if (!this.#setWatches.begin(connection, request, bytes, start, end, receivedMs)) return;
      } else this.#reads.answer(connection, request, this.#tools.requests, visible);
    } catch (error) {
      if (!(error instanceof WireError)) throw error;
      isReadable = false;
    }
    if (!isReadable) this.#sinks.replies.header(ref, xid, visible, ErrorCode.MARSHALLING_ERROR);
    this.#readAnswered(connection, op, xid, receivedMs);
  }

  #readAnswered(connection: Connection, op: number, xid: number, receivedMs: number): void {
    this.#counters.answered(connection, op, xid, this.#servingState.visible, receivedMs);
    if (connection.phase === "open" && !this.#watchBudget.admits(connection.ref)) {
      this.#connections.refuse(connection, "watch-limit");
    }
  }

  // Writes

  #write(
    connection: Connection,
    session: Session,
    request: Request,
    bytes: Uint8Array,
    start: number,
    end: number,
  ): void {
    const { op, xid } = request;
    if (op !== OpCode.CLOSE_SESSION) {
      try {
        this.#tools.requests.body(request);
      } catch {
        this.#refuseWrite(connection, request, ErrorCode.MARSHALLING_ERROR, bytes, start, end);
        return;
      }
    }
    if (session.isLocal && !this.#mayLocally(session, request)) {
      if (op === OpCode.CLOSE_SESSION && !connection.mustWait) {
        this.#sessions.closeLocal(connection, xid, this.#servingState.nowMs);
      } else this.#refuseWrite(connection, request, ErrorCode.EPHEMERAL_ON_LOCAL_SESSION, bytes, start, end);
      return;
    }
    if (end - start > connection.largestWriteBytes) connection.largestWriteBytes = end - start;
    const sequence = this.#writes.issue(connection, xid, op, end - start);
    this.#sinks.asked?.(sequence, connection, request);
    if (op === OpCode.CLOSE_SESSION) session.closing = true;
    if (!this.#servingState.isLeading) {
      this.#forwarder.write(sequence, session, connection, bytes, start, end);
      return;
    }
    const requester = this.#writes.requester(session, xid, op, sequence);
    if (session.owner !== this.#config.sid && !session.isLocal)
      this.#proposer.refuse(requester, ErrorCode.SESSION_MOVED);
    else if (op === OpCode.CLOSE_SESSION) this.#proposer.closeSession(requester);
    else this.#proposer.write(requester, connection.identities, request, session.isLocal);
  }

  /** The refusal of a write of which no transaction is made has its place behind what came before, where the frame is read once more. */
  #refuseWrite(
    connection: Connection,
    { op, xid }: Request,
    code: ErrorCode,
    bytes: Uint8Array,
    start: number,
    end: number,
  ): void {
    if (connection.mustWait) {
      this.#waiting.wait(connection, bytes, start, end);
      return;
    }
    this.#sinks.replies.header(connection.ref, xid, this.#servingState.visible, code);
    this.#counters.answered(connection, op, xid, this.#servingState.visible, this.#servingState.nowMs);
  }

  /**
   * Whether a session of this server's own may ask this of the leader. One that needs an ephemeral becomes a session of the ensemble
   * first, where that is allowed: its creation goes ahead.
   */
  #mayLocally(session: Session, request: Request): boolean {
    if (request.op === OpCode.CLOSE_SESSION) {
      session.closing = true;
      return false;
    }
    if (!this.#isEphemeral(request)) return true;
    if (this.#config.ensemble?.localSessionsUpgrading !== true) return false;
    this.#sessions.upgrade(session);
    return true;
  }

  #isEphemeral(request: Request): boolean {
    const { requests } = this.#tools;
    if (request.op !== OpCode.MULTI) return isEphemeralCreate(request);
    let isEphemeral = false;
    try {
      while (!isEphemeral && requests.nextPart(this.#part)) isEphemeral = isEphemeralCreate(this.#part);
    } catch {
      // Whoever makes the transaction refuses it.
    }
    requests.rewindParts();
    return isEphemeral;
  }

  /** A server without a quorum changes nothing; a session of its own may end, and ends. */
  #refuseReadOnly(connection: Connection, session: Session, { op, xid }: Request): void {
    const { visible, nowMs } = this.#servingState;
    if (op === OpCode.CLOSE_SESSION) {
      session.closing = true;
      this.#sessions.closeLocal(connection, xid, nowMs);
      return;
    }
    this.#sinks.replies.header(connection.ref, xid, visible, ErrorCode.NOT_READ_ONLY);
    this.#counters.answered(connection, op, xid, visible, nowMs);
  }

  // Syncs

  /** Syncs that are not answered yet. */
  get syncCount(): number {
    return this.#syncs.count;
  }

  /** The leader's word on a sync. */
  syncReplied(sequence: number, readAt: Zxid): void {
    // rule: a-sync-waits-for-what-was-committed
    this.#syncs.replied(sequence, readAt);
  }

  /** A quorum has said that this server still led when a round began. */
  confirmed(round: number): void {
    this.#syncs.confirmed(round);
  }

  /** Answers syncs whose moment has come. @returns whether there are more */
  answerSyncs(): boolean {
    this.#syncs.answerDue();
    return this.#syncs.hasDue;
  }

  /** A write of a connection is about to be answered: first come the syncs that it asked for before. */
  answerSyncsOf(connection: Connection): void {
    this.#syncs.answerDueOf(connection);
  }

  // What an earlier turn left

  /** Whether {@link goOn} has something to do. */
  get hasUnfinished(): boolean {
    return this.#setWatches.hasUnfinished || (this.#waiting.hasHeldBack && !this.#servingState.isApplying);
  }

  /** Answers more of what waited, and takes more paths of every setWatches that is carried out in part. */
  goOn(): void {
    if (this.#servingState.isApplying) return;
    this.#waiting.goOn();
    this.#setWatches.goOn();
  }

  /** A connection's oldest write was answered: what stood behind it may go on. */
  issuedAnswered(connection: Connection): void {
    this.#waiting.issuedAnswered(connection);
  }

  /** A write of a connection that was held back is about to be answered: first comes what was asked before it. */
  releaseNow(connection: Connection): void {
    this.#waiting.releaseNow(connection);
  }

  /** Answers the reads that waited for the rest of a transaction, which is applied now. */
  applied(): void {
    this.#waiting.goOn();
  }

  /** The role has ended, and with it what was asked of the leader. */
  clear(): void {
    this.#syncs.clear();
    this.#setWatches.clear();
    this.#waiting.clear();
  }
}

/** createTTL and createContainer never make ephemerals, whatever flags they carry. */
function isEphemeralCreate({ op, flags }: Request): boolean {
  return (op === OpCode.CREATE || op === OpCode.CREATE2) && isEphemeralMode(flags);
}
