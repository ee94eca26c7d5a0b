import type { DataTree } from "@zooid/data-tree";
import {
  assert,
  type ByteSlice,
  type ConnectRequest,
  copySlice,
  ErrorCode,
  OpCode,
  PASSWORD_HASH_BYTES,
  SESSION_NONE,
  type SessionId,
  sessionIdFromHalves,
  sessionIdHigh,
  sessionIdLow,
  type Touch,
  type TxnHeader,
  type Zxid,
} from "@zooid/model";
import type { ZabPeer } from "@zooid/zab";
import type { ReplicaConfig } from "../config.ts";
import type { Connection } from "../connections/connection.ts";
import type { Connections } from "../connections/connections.ts";
import type { Counters } from "../counters.ts";
import type { RequestForwarder } from "../forwarding/request-forwarder.ts";
import type { ServingState } from "../serving-state.ts";
import type { ReplicaSinks } from "../sinks.ts";
import type { ReplicaTools } from "../tools.ts";
import type { OwnWrites } from "../writes/own-writes.ts";
import type { TxnProposer } from "../writes/txn-proposer.ts";
import { EndingSessions } from "./ending-sessions.ts";
import { newSessionId } from "./session-id.ts";
import { isEnding, mayRenew } from "./session-password.ts";
import { type Session, SessionTable } from "./session-table.ts";
import { UnconfirmedRefusals } from "./unconfirmed-refusals.ts";

/** Counters of sessions' ids come again behind so many. */
const SESSIONS_OF_A_START = 2 ** 28;
const NO_PASSWORD = { bytes: new Uint8Array(16), start: 0, end: 16 };

/** A revalidation that a learner has asked its leader for and that is not answered. */
interface Revalidation {
  /** Not its number: that may name another by the time of the answer. */
  readonly connection: Connection;
  readonly session: SessionId;
  readonly timeoutMs: number;
}

/** A close that is committed in part: its client is answered with the last part. */
interface UnansweredClose {
  readonly connection: Connection;
  readonly xid: number;
  readonly receivedMs: number;
}

/** A session whose end this leader has decided and not yet proposed, or not as a whole. */
type EndingSession = Pick<Session, "idHigh" | "idLow">;

/** Transactions of ends whose paths are as long as one may hold that are proposed in one turn. */
const ENDS_OF_FULL_BYTES_PER_TURN = 2;

interface ClientSessionsParts {
  readonly config: ReplicaConfig;
  readonly tools: ReplicaTools;
  readonly sinks: ReplicaSinks;
  readonly tree: DataTree;
  readonly zab: ZabPeer;
  readonly servingState: ServingState;
  readonly connections: Connections;
  readonly counters: Counters;
  readonly writes: OwnWrites;
  readonly proposer: TxnProposer;
  readonly forwarder: RequestForwarder;
}

/**
 * The sessions of clients, from the connect request to the end. The leader decides over those of the ensemble, and its table holds all of
 * them; a learner asks it, and holds those whose clients are connected here. Local ones are this server's own affair.
 */
export class ClientSessions {
  /** Who is to hear that a session is over once that is committed. */
  readonly endings: EndingSessions = new EndingSessions();
  /** Who is to hear that a session is over once a quorum has confirmed who leads. */
  readonly refusals: UnconfirmedRefusals = new UnconfirmedRefusals();
  readonly #config: ReplicaConfig;
  readonly #tools: ReplicaTools;
  readonly #sinks: ReplicaSinks;
  readonly #tree: DataTree;
  readonly #zab: ZabPeer;
  readonly #servingState: ServingState;
  readonly #connections: Connections;
  readonly #counters: Counters;
  readonly #writes: OwnWrites;
  readonly #proposer: TxnProposer;
  readonly #forwarder: RequestForwarder;
  readonly #revalidations = new Map<number, Revalidation>();
  readonly #unansweredCloses = new Map<SessionId, UnansweredClose>();
  /** In the order of their ends: a leader proposes some of them a turn. */
  #ends: EndingSession[] = [];
  #table: SessionTable;
  #bootCount = 0;
  #sessionCounter = 0;
  #revalidationSequence = 0;
  #touchesReportedMs = 0;

  constructor(parts: ClientSessionsParts) {
    this.#config = parts.config;
    this.#tools = parts.tools;
    this.#sinks = parts.sinks;
    this.#tree = parts.tree;
    this.#zab = parts.zab;
    this.#servingState = parts.servingState;
    this.#connections = parts.connections;
    this.#counters = parts.counters;
    this.#writes = parts.writes;
    this.#proposer = parts.proposer;
    this.#forwarder = parts.forwarder;
    this.#table = new SessionTable(parts.config.tickMs, 0);
  }

  /** At the leader every session, elsewhere those whose clients are connected here. */
  get table(): SessionTable {
    return this.#table;
  }

  /** Sessions that this server alone knows. */
  get localCount(): number {
    let count = 0;
    for (const session of this.#table.values()) if (session.isLocal) count++;
    return count;
  }

  // Roles

  /** @param bootCount makes ids differ from those of every earlier start */
  startAlone(bootCount: number): void {
    this.#bootCount = bootCount;
  }

  /** As {@link startAlone}, where a lost disk may have made the count begin anew: so chance has a part in what must not come twice. */
  startAmongOthers(bootCount: number): void {
    this.#bootCount = bootCount;
    this.#sessionCounter = Math.floor(this.#tools.random() * SESSIONS_OF_A_START);
  }

  /** A role is complete. */
  serve(): void {
    this.#table = new SessionTable(this.#config.tickMs, this.#servingState.nowMs);
    this.#touchesReportedMs = this.#servingState.nowMs;
  }

  /** The leader decides over every session of the ensemble; each lives its full timeout again, unless a part of its end is applied. */
  takeOver(): void {
    this.#tree.forEachSession((high, low, timeoutMs) => {
      const id = sessionIdFromHalves(high, low);
      const session = this.#table.add(id, high, low, timeoutMs, this.#servingState.nowMs);
      session.passwordHash = this.#tree.sessionPasswordHash(high, low);
      if (!this.#tree.isSessionEnding(high, low)) return;
      session.closing = true;
      // rule: the-next-leader-continues-ends
      this.#ends.push(session);
    });
  }

  /** The role has ended. */
  left(): void {
    this.#revalidations.clear();
    this.#unansweredCloses.clear();
    this.#ends = [];
    this.endings.clear();
    this.refusals.clear();
    this.#table = new SessionTable(this.#config.tickMs, this.#servingState.nowMs);
  }

  // Beginnings

  /** @param secret 16 random bytes, the password if a session is created, and two more that make its id hard to guess */
  connect(connection: Connection, request: ConnectRequest, secret: Uint8Array): void {
    if (!this.#takes(request) || request.lastZxidSeen > this.#servingState.visible) {
      // It must look for another server, and its session must not be hurt: this one has no quorum, or has not seen what it has seen.
      this.#connections.close(connection);
      return;
    }
    const { sessionTimeoutMsMin, sessionTimeoutMsMax } = this.#config;
    const timeoutMs = Math.min(Math.max(request.timeoutMs, sessionTimeoutMsMin), sessionTimeoutMsMax);
    if (request.sessionId === SESSION_NONE) this.#create(connection, timeoutMs, secret);
    else this.#renew(connection, request.sessionId, request.password, timeoutMs);
  }

  /** Whether a client may have a session here now. */
  #takes({ readOnly, sessionId }: ConnectRequest): boolean {
    const { isServing, isLeading, isReadOnly } = this.#servingState;
    if (isServing) return !isLeading || this.#config.ensemble?.leaderServes !== false;
    // A session of the ensemble may be alive on the other side of a partition.
    return isReadOnly && readOnly === true && !this.#tree.hasSession(sessionIdHigh(sessionId), sessionIdLow(sessionId));
  }

  #create(connection: Connection, timeoutMs: number, secret: Uint8Array): void {
    const id = newSessionId({
      sid: this.#config.sid,
      bootCount: this.#bootCount,
      counter: ++this.#sessionCounter,
      random: ((secret[16] ?? 0) << 8) | (secret[17] ?? 0),
    });
    const password = secret.slice(0, 16);
    const passwordHash = this.#tools.hashes.sha256(password).slice(0, PASSWORD_HASH_BYTES);
    const session = this.#table.add(id, sessionIdHigh(id), sessionIdLow(id), timeoutMs, this.#servingState.nowMs);
    session.passwordHash = passwordHash;
    connection.password = password;
    if (this.#servingState.isReadOnly || this.#config.ensemble?.localSessions === true) {
      session.isLocal = true;
      this.#renewed(connection, session);
      return;
    }
    session.connection = connection.ref;
    connection.session = session;
    connection.phase = "creating";
    this.#propagate(session, this.#writes.issue(connection, 0, OpCode.CREATE_SESSION, 0));
  }

  /** A session of this server's own becomes one of the ensemble: from this moment on its end is the ensemble's affair too. */
  upgrade(session: Session): void {
    session.isLocal = false;
    this.#propagate(session, this.#writes.issueForNobody(OpCode.CREATE_SESSION));
  }

  /** Makes a session one of the ensemble. */
  #propagate(session: Session, sequence: number): void {
    const { timeoutMs, passwordHash } = session;
    assert(passwordHash !== undefined, "whoever makes a session has its password");
    if (this.#servingState.isLeading) {
      session.owner = this.#config.sid;
      const requester = this.#writes.requester(session, 0, OpCode.CREATE_SESSION, sequence);
      this.#proposer.createSession(requester, timeoutMs, passwordHash);
      return;
    }
    this.#forwarder.ask({
      kind: "open-session",
      sequence,
      sessionHigh: session.idHigh,
      sessionLow: session.idLow,
      timeoutMs,
      passwordHash,
    });
  }

  /** The transaction is applied that created the session of a client of this server. */
  created(connection: Connection, timeoutMs: number): void {
    const { session, password } = connection;
    if (connection.phase !== "creating" || session === undefined || password === undefined) return;
    connection.password = undefined;
    connection.phase = "open";
    this.#sinks.replies.connected(connection.ref, {
      timeoutMs,
      session: session.id,
      password: { bytes: password, start: 0, end: 16 },
      isReadOnly: false,
    });
    this.#sinks.resume(connection.ref);
  }

  // Renewals

  #renew(connection: Connection, id: SessionId, password: Readonly<ByteSlice>, timeoutMs: number): void {
    const { bytes, start, end } = password;
    // The hash is computed for an unknown id too: the time an answer takes tells nothing about which ids exist.
    const passwordHash = this.#tools.hashes.sha256(bytes.subarray(start, end)).slice(0, PASSWORD_HASH_BYTES);
    connection.password = copySlice(password);
    const session = this.#table.get(id);
    if (session?.isLocal === true || this.#servingState.isReadOnly)
      this.#renewLocal(connection, session, passwordHash, timeoutMs);
    else if (this.#servingState.isLeading) this.#renewAsLeader(connection, id, passwordHash, timeoutMs);
    else this.#askLeader(connection, id, passwordHash, timeoutMs);
  }

  #renewLocal(connection: Connection, session: Session | undefined, passwordHash: Uint8Array, timeoutMs: number): void {
    if (!mayRenew(session, passwordHash)) {
      this.#refuse(connection);
      return;
    }
    this.#table.setTimeout(session, timeoutMs);
    this.#renewed(connection, session);
  }

  #renewAsLeader(connection: Connection, id: SessionId, passwordHash: Uint8Array, timeoutMs: number): void {
    const session = this.#table.get(id);
    if (isEnding(session, passwordHash)) {
      connection.phase = "renewing";
      this.endings.add(id, undefined, () => {
        if (!connection.gone && connection.phase === "renewing") this.#refuse(connection);
      });
      return;
    }
    if (!mayRenew(session, passwordHash)) {
      this.#refuseOnceConfirmed(connection);
      return;
    }
    session.owner = this.#config.sid;
    this.#table.setTimeout(session, timeoutMs);
    this.#renewed(connection, session);
  }

  /** The leader alone knows whether the session lives, and who holds it from now on. */
  #askLeader(connection: Connection, id: SessionId, passwordHash: Uint8Array, timeoutMs: number): void {
    connection.phase = "renewing";
    const sequence = ++this.#revalidationSequence;
    this.#revalidations.set(sequence, { connection, session: id, timeoutMs });
    this.#forwarder.ask({
      kind: "revalidate",
      sequence,
      sessionHigh: sessionIdHigh(id),
      sessionLow: sessionIdLow(id),
      timeoutMs,
      passwordHash,
    });
  }

  /** The leader's word on a session whose client came here. */
  revalidated(sequence: number, isValid: boolean): void {
    const asked = this.#revalidations.get(sequence);
    this.#revalidations.delete(sequence);
    if (asked === undefined) return;
    const { connection } = asked;
    if (connection.gone || connection.phase !== "renewing") return;
    if (!isValid) {
      this.#refuse(connection);
      return;
    }
    const { session: id, timeoutMs } = asked;
    const session =
      this.#table.get(id) ??
      this.#table.add(id, sessionIdHigh(id), sessionIdLow(id), timeoutMs, this.#servingState.nowMs);
    session.timeoutMs = timeoutMs;
    // An end that was asked for here is refused where the session had moved; where it is not, it is still to come.
    session.closing = false;
    this.#renewed(connection, session);
  }

  #renewed(connection: Connection, session: Session): void {
    this.#closeHolder(session);
    const { password } = connection;
    assert(password !== undefined, "a renewal keeps the password until it is answered");
    session.connection = connection.ref;
    session.touchedMs = this.#servingState.nowMs;
    connection.session = session;
    connection.password = undefined;
    connection.phase = "open";
    const echo = { bytes: password, start: 0, end: password.length };
    this.#sinks.replies.connected(connection.ref, {
      timeoutMs: session.timeoutMs,
      session: session.id,
      password: echo,
      isReadOnly: this.#servingState.isReadOnly,
    });
    this.#connectAnswered(connection);
    this.#sinks.resume(connection.ref);
  }

  #refuseOnceConfirmed(connection: Connection): void {
    if (this.#config.ensemble === undefined) {
      this.#refuse(connection);
      return;
    }
    connection.phase = "renewing";
    this.refusals.add(this.#zab.checkLeadership(), undefined, () => {
      if (!connection.gone && connection.phase === "renewing") this.#refuse(connection);
    });
  }

  #refuse(connection: Connection): void {
    this.#sinks.replies.connected(connection.ref, {
      timeoutMs: 0,
      session: SESSION_NONE,
      password: NO_PASSWORD,
      isReadOnly: this.#servingState.isReadOnly,
    });
    this.#connectAnswered(connection);
    this.#connections.close(connection);
  }

  #connectAnswered(connection: Connection): void {
    const { visible, nowMs } = this.#servingState;
    this.#counters.answered(connection, OpCode.CREATE_SESSION, -1, visible, nowMs);
  }

  /** A client of this server that held the session until now is let go. */
  #closeHolder(session: Session): void {
    const holder = this.#holderOf(session);
    if (holder !== undefined) this.#connections.close(holder);
  }

  // For learners' clients

  /** A learner's client begins a session. */
  open(session: Pick<Session, "id" | "idHigh" | "idLow" | "timeoutMs" | "owner" | "passwordHash">): void {
    const { id, idHigh, idLow, timeoutMs } = session;
    const added = this.#table.add(id, idHigh, idLow, timeoutMs, this.#servingState.nowMs);
    added.owner = session.owner;
    added.passwordHash = session.passwordHash;
  }

  /** A client came to a learner with this session, and goes on there. */
  moveTo(owner: Session["owner"], session: Session, timeoutMs: number): void {
    this.#closeHolder(session);
    session.owner = owner;
    session.touchedMs = this.#servingState.nowMs;
    this.#table.setTimeout(session, timeoutMs);
  }

  /** At a learner: who was heard of since the last time. Those without a client are forgotten. */
  takeTouches(): readonly Touch[] {
    const touches: Touch[] = [];
    for (const session of this.#table.values()) {
      if (session.isLocal) continue;
      if (session.touchedMs >= this.#touchesReportedMs) {
        touches.push({ sessionHigh: session.idHigh, sessionLow: session.idLow, timeoutMs: session.timeoutMs });
      }
      if (session.connection === undefined) this.#table.remove(session);
    }
    this.#touchesReportedMs = this.#servingState.nowMs;
    return touches;
  }

  /** At the leader: a learner has heard of these. */
  touched(touches: readonly Touch[]): void {
    if (!this.#servingState.isLeading) return;
    for (const { sessionHigh, sessionLow } of touches) {
      const session = this.#table.get(sessionIdFromHalves(sessionHigh, sessionLow));
      if (session !== undefined && !session.closing) session.touchedMs = this.#servingState.nowMs;
    }
  }

  // Ends

  /** Ends the sessions of at most one due bucket. */
  expire(): void {
    this.#table.expire(this.#servingState.nowMs, (session) => {
      if (session.isLocal) {
        this.#counters.values.expiredSessions++;
        this.#closeHolder(session);
        this.#table.remove(session);
        return;
      }
      // Only the leader ends sessions of the ensemble; elsewhere the table is no more than a list.
      // rule: the-leader-alone-ends-sessions
      if (!this.#servingState.isLeading) return;
      this.#counters.values.expiredSessions++;
      session.closing = true;
      this.#ends.push(session);
    });
    this.proposeEnds();
  }

  /** Whether {@link proposeEnds} has something to do. */
  get hasEnds(): boolean {
    return this.#ends.length > 0;
  }

  /** Proposes ends that were decided, as many as one turn may hold: thousands of sessions may end at the same moment. */
  proposeEnds(): void {
    if (this.#proposer.isPreparing) return;
    const { endOpCountPerTurn, closePathBytesMax } = this.#config;
    const { batcher } = this.#tools;
    const begin = this.#proposer.opCount;
    const beginBytes = batcher.sizeBytes;
    let taken = 0;
    for (const session of this.#ends) {
      if (this.#proposer.opCount - begin >= endOpCountPerTurn) break;
      if (batcher.sizeBytes - beginBytes >= ENDS_OF_FULL_BYTES_PER_TURN * closePathBytesMax) break;
      taken++;
      const sequence = this.#writes.issueForNobody(OpCode.CLOSE_SESSION);
      this.#proposer.closeSession(this.#writes.requester(session, 0, OpCode.CLOSE_SESSION, sequence));
    }
    if (taken > 0) this.#ends = this.#ends.slice(taken);
  }

  /** The client of a local session has ended it. */
  closeLocal(connection: Connection, xid: number, receivedMs: number): void {
    const { session } = connection;
    const { visible } = this.#servingState;
    this.#sinks.replies.header(connection.ref, xid, visible, ErrorCode.OK);
    this.#counters.answered(connection, OpCode.CLOSE_SESSION, xid, visible, receivedMs);
    this.#connections.close(connection);
    if (session !== undefined) this.#table.remove(session);
  }

  /**
   * A transaction is applied that removes a part of a session's ephemerals and does not end it yet.
   *
   * @param asking whose request it was, where a client of this server asked for it
   */
  partlyEnded({ sessionHigh, sessionLow }: TxnHeader, asking: Connection | undefined): void {
    const id = sessionIdFromHalves(sessionHigh, sessionLow);
    if (asking !== undefined) {
      const { xid, receivedMs } = this.#writes.gate;
      this.#unansweredCloses.set(id, { connection: asking, xid, receivedMs });
    }
    const holder = this.#holderOf(this.#table.get(id));
    if (holder !== undefined && holder !== this.#unansweredCloses.get(id)?.connection) this.#connections.close(holder);
    // rule: an-end-continues-behind-its-first-part
    if (this.#servingState.isLeading) this.#ends.push({ idHigh: sessionHigh, idLow: sessionLow });
  }

  /**
   * The transaction is applied that ends a session.
   *
   * @param asking whose request it was, where a client of this server asked for it
   */
  ended(header: TxnHeader, asking: Connection | undefined): void {
    const id = sessionIdFromHalves(header.sessionHigh, header.sessionLow);
    const session = this.#table.get(id);
    this.endings.ended(id);
    const holder = this.#holderOf(session);
    if (session !== undefined) this.#table.remove(session);
    const { xid, receivedMs } = this.#writes.gate;
    const close = asking === undefined ? this.#unansweredCloses.get(id) : { connection: asking, xid, receivedMs };
    this.#unansweredCloses.delete(id);
    if (close !== undefined) this.#answerClose(close, header.zxid);
    if (holder !== undefined && holder !== close?.connection) this.#connections.close(holder);
  }

  #answerClose({ connection, xid, receivedMs }: UnansweredClose, zxid: Zxid): void {
    // Its number may be another connection's by now.
    if (connection.gone) return;
    this.#sinks.replies.header(connection.ref, xid, zxid, ErrorCode.OK);
    this.#counters.answered(connection, OpCode.CLOSE_SESSION, xid, zxid, receivedMs);
    this.#connections.close(connection);
  }

  /** The connection of this server that holds a session. */
  #holderOf(session: Session | undefined): Connection | undefined {
    return session?.connection === undefined ? undefined : this.#connections.get(session.connection);
  }
}
