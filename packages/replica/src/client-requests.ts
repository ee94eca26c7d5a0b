import {
  assert,
  type ConnectionRef,
  composeZxid,
  copyRange,
  ErrorCode,
  isEphemeralMode,
  isWrite,
  newRequest,
  OpCode,
  type Request,
  type Zxid,
} from "@zooid/model";
import type { ZabPeer } from "@zooid/zab";
import type { Admission } from "./admission.ts";
import type { AuthSchemes } from "./auth.ts";
import type { AuthPackets } from "./auth-packets.ts";
import type { ClientSessions } from "./client-sessions.ts";
import type { ReplicaConfig } from "./config.ts";
import type { Connection } from "./connection.ts";
import type { Connections } from "./connections.ts";
import type { Counters } from "./counters.ts";
import type { LocalReads } from "./local-reads.ts";
import type { OwnWrites } from "./own-writes.ts";
import { PendingSyncs } from "./pending-syncs.ts";
import { isServed } from "./served-operations.ts";
import type { Session } from "./session-table.ts";
import type { ReplicaSinks } from "./sinks.ts";
import type { Standing } from "./standing.ts";
import type { ToLeader } from "./to-leader.ts";
import type { ReplicaTools } from "./tools.ts";
import type { TxnMaker } from "./txn-maker.ts";
import { WaitingFrames } from "./waiting-frames.ts";
import type { WatchBudget } from "./watch-budget.ts";

/**
 * What a request that waits counts for, beside its own bytes and those of its answer. All that waits of a connection may have to be answered
 * in one moment, before the answer to its next write: so few requests wait that this takes some milliseconds.
 */
const WAITING_BYTES = 512;
const FRAME_BYTES_PER_WORK_LOG2 = 12;

interface ClientRequestsParts {
  readonly config: ReplicaConfig;
  readonly tools: ReplicaTools;
  readonly sinks: ReplicaSinks;
  readonly watchBudget: WatchBudget;
  readonly auth: AuthSchemes;
  readonly zab: ZabPeer;
  readonly standing: Standing;
  readonly connections: Connections;
  readonly counters: Counters;
  readonly admission: Admission;
  readonly packets: AuthPackets;
  readonly reads: LocalReads;
  readonly sessions: ClientSessions;
  readonly writes: OwnWrites;
  readonly maker: TxnMaker;
  readonly toLeader: ToLeader;
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
  readonly #standing: Standing;
  readonly #connections: Connections;
  readonly #counters: Counters;
  readonly #admission: Admission;
  readonly #packets: AuthPackets;
  readonly #reads: LocalReads;
  readonly #sessions: ClientSessions;
  readonly #writes: OwnWrites;
  readonly #maker: TxnMaker;
  readonly #toLeader: ToLeader;
  readonly #syncs = new PendingSyncs();
  #heldBack: Connection[] = [];
  #releaseWorkLeft = 0;
  #unfinished: Connection[] = [];
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
    this.#standing = parts.standing;
    this.#connections = parts.connections;
    this.#counters = parts.counters;
    this.#admission = parts.admission;
    this.#packets = parts.packets;
    this.#reads = parts.reads;
    this.#sessions = parts.sessions;
    this.#writes = parts.writes;
    this.#maker = parts.maker;
    this.#toLeader = parts.toLeader;
  }

  /** Syncs that are not answered yet. */
  get syncCount(): number {
    return this.#syncs.count;
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
    const { nowMs } = this.#standing;
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
    if (this.#standing.isReadOnly && (isWrite(op) || op === OpCode.SYNC)) {
      this.#refuseReadOnly(connection, session, request);
    } else if (isWrite(op)) this.#write(connection, session, request, bytes, start, end);
    else if (op === OpCode.SYNC) this.#sync(connection, request, bytes, start, end);
    // rule: reads-wait-behind-writes
    else if (mustWait(connection)) this.#waitToRead(connection, request, bytes, start, end);
    // rule: no-reads-in-the-middle-of-a-transaction
    else if (this.#standing.isApplying && op !== OpCode.PING) {
      this.#waitToRead(connection, request, bytes, start, end);
      this.#holdBack(connection);
    } else this.#answer(connection, request, bytes, start, end, nowMs);
    return this.#admission.admits(connection);
  }

  /** An auth packet takes effect at once, for requests that follow; its answer keeps its place in the order. */
  #receiveAuth(connection: Connection, request: Request, bytes: Uint8Array, start: number, end: number): boolean {
    if (mustWait(connection)) {
      this.#wait(connection, WAITING_BYTES, bytes, start, end);
      const granted = this.#packets.authenticate(connection.identities, request);
      // Nothing behind a refused packet may be served; the refusal is said, and the connection closed, when its turn comes.
      if (granted === "refused" || granted === "elsewhere") return false;
      this.#packets.noteGuess(connection, connection.identities, granted);
      connection.identities = granted;
      return this.#admission.admits(connection);
    }
    const before = connection.answeredAs;
    this.#packets.answer(connection, request, this.#standing.nowMs);
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
    if (mustWait(connection)) {
      connection.saslAnswers.push(answer);
      this.#wait(connection, WAITING_BYTES, bytes, start, end);
      return !answer.isLast && this.#admission.admits(connection);
    }
    this.#packets.answerSasl(connection, request.xid, answer, this.#standing.nowMs);
    return connection.phase === "open";
  }

  #wait(connection: Connection, answerBytes: number, bytes: Uint8Array, start: number, end: number): void {
    connection.waiting ??= new WaitingFrames();
    connection.waiting.push(connection.issued, this.#standing.nowMs, answerBytes, bytes, start, end);
  }

  /** A read waits. What its answer will take is estimated, since all that waits for a write is answered in one moment. */
  #waitToRead(connection: Connection, request: Request, bytes: Uint8Array, start: number, end: number): void {
    let answerBytes = WAITING_BYTES + end - start;
    try {
      this.#tools.requests.body(request);
      answerBytes += this.#reads.answerBytes(connection, request);
    } catch (error) {
      if (!isUnreadable(error)) throw error;
    }
    this.#wait(connection, Math.min(answerBytes, this.#config.waitingAnswerBytesMax), bytes, start, end);
  }

  /** What a connection reads waits for the rest of a transaction, or for the next turn. */
  #holdBack(connection: Connection): void {
    if (connection.isHeldBack) return;
    connection.isHeldBack = true;
    this.#heldBack.push(connection);
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
    const { visible } = this.#standing;
    let isReadable = true;
    try {
      this.#tools.requests.body(request);
      // Of writes only those come here that are refused, and one that can be read is refused for what it asks of a local session.
      if (isWrite(op)) this.#sinks.replies.header(ref, xid, visible, ErrorCode.EPHEMERAL_ON_LOCAL_SESSION);
      else if (op === OpCode.SET_WATCHES || op === OpCode.SET_WATCHES2) {
        if (!this.#beginSetWatches(connection, request, bytes, start, end, receivedMs)) return;
      } else this.#reads.answer(connection, request, this.#tools.requests, visible);
    } catch (error) {
      if (!isUnreadable(error)) throw error;
      isReadable = false;
    }
    if (!isReadable) this.#sinks.replies.header(ref, xid, visible, ErrorCode.MARSHALLING_ERROR);
    this.#readAnswered(connection, op, xid, receivedMs);
  }

  #readAnswered(connection: Connection, op: number, xid: number, receivedMs: number): void {
    this.#counters.answered(connection, op, xid, this.#standing.visible, receivedMs);
    if (connection.phase === "open" && !this.#watchBudget.admits(connection.ref)) {
      this.#connections.refuse(connection, "watch-limit");
    }
  }

  // setWatches

  /** Takes the first paths of a setWatches. False when there are more, and it is not answered yet. */
  #beginSetWatches(
    connection: Connection,
    request: Request,
    bytes: Uint8Array,
    start: number,
    end: number,
    receivedMs: number,
  ): boolean {
    const { requests } = this.#tools;
    const { setWatchesPerTurn } = this.#config;
    const most = this.#standing.isApplying ? 0 : setWatchesPerTurn;
    if (this.#reads.setWatches(connection, request, requests, this.#standing.visible, 0, most)) return true;
    connection.unfinished = { frame: copyRange(bytes, start, end), receivedMs, taken: most };
    this.#unfinished.push(connection);
    return false;
  }

  /** Whether {@link goOn} has something to do. */
  get hasUnfinished(): boolean {
    return this.#unfinished.length > 0 || (this.#heldBack.length > 0 && !this.#standing.isApplying);
  }

  /** Answers more of what waited, and takes more paths of every setWatches that is carried out in part; all of these take as many as one may. */
  goOn(): void {
    if (this.#standing.isApplying) return;
    if (this.#heldBack.length > 0) this.#releaseHeldBack();
    const connections = this.#unfinished;
    if (connections.length === 0) return;
    this.#unfinished = [];
    const most = Math.ceil(this.#config.setWatchesPerTurn / connections.length);
    for (const connection of connections) this.#goOnWith(connection, most);
  }

  #goOnWith(connection: Connection, most: number): void {
    const { unfinished } = connection;
    if (unfinished === undefined || connection.phase !== "open") return;
    const { frame, receivedMs, taken } = unfinished;
    const request = this.#request;
    const { requests } = this.#tools;
    requests.open(frame, 0, frame.length, request);
    requests.body(request);
    if (!this.#reads.setWatches(connection, request, requests, this.#standing.visible, taken, most)) {
      unfinished.taken += most;
      this.#unfinished.push(connection);
      return;
    }
    connection.unfinished = undefined;
    this.#readAnswered(connection, request.op, request.xid, receivedMs);
    this.#release(connection);
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
      if (op === OpCode.CLOSE_SESSION && !mustWait(connection)) {
        this.#sessions.closeLocal(connection, xid, this.#standing.nowMs);
      } else this.#refuseWrite(connection, request, ErrorCode.EPHEMERAL_ON_LOCAL_SESSION, bytes, start, end);
      return;
    }
    if (end - start > connection.largestWriteBytes) connection.largestWriteBytes = end - start;
    const sequence = this.#writes.issue(connection, xid, op, end - start);
    this.#sinks.asked?.(sequence, connection, request);
    if (op === OpCode.CLOSE_SESSION) session.closing = true;
    if (!this.#standing.isLeading) {
      this.#toLeader.write(sequence, session, connection, bytes, start, end);
      return;
    }
    const asker = this.#writes.asker(session, xid, op, sequence);
    if (session.owner !== this.#config.sid && !session.isLocal) this.#maker.refuse(asker, ErrorCode.SESSION_MOVED);
    else if (op === OpCode.CLOSE_SESSION) this.#maker.closeSession(asker);
    else this.#maker.write(asker, connection.identities, request, session.isLocal);
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
    if (mustWait(connection)) {
      this.#wait(connection, WAITING_BYTES, bytes, start, end);
      return;
    }
    this.#sinks.replies.header(connection.ref, xid, this.#standing.visible, code);
    this.#counters.answered(connection, op, xid, this.#standing.visible, this.#standing.nowMs);
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
    const { visible, nowMs } = this.#standing;
    if (op === OpCode.CLOSE_SESSION) {
      session.closing = true;
      this.#sessions.closeLocal(connection, xid, nowMs);
      return;
    }
    this.#sinks.replies.header(connection.ref, xid, visible, ErrorCode.NOT_READ_ONLY);
    this.#counters.answered(connection, op, xid, visible, nowMs);
  }

  // Syncs

  /**
   * Its answer waits until this server has applied all that was on its way when it came, whoever asked for that, by the word of a quorum.
   * An ensemble of one needs nobody's word.
   */
  #sync(connection: Connection, request: Request, bytes: Uint8Array, start: number, end: number): void {
    const { isLeading, visible, nowMs } = this.#standing;
    const isAlone = this.#config.ensemble === undefined;
    if (isAlone && !mustWait(connection) && this.#maker.prepared <= visible) {
      this.#answer(connection, request, bytes, start, end, nowMs);
      return;
    }
    const sequence = this.#syncs.nextSequence();
    connection.issued++;
    connection.syncBytes += end - start;
    this.#syncs.push({
      sequence,
      connection: connection.ref,
      frame: copyRange(bytes, start, end),
      receivedMs: nowMs,
      round: isLeading && !isAlone ? this.#zab.confirm() : 0,
      readAt: isLeading ? this.#maker.prepared : undefined,
      isConfirmed: isAlone,
    });
    if (!isLeading) this.#toLeader.ask({ kind: "sync", sequence });
  }

  /** The leader's word on a sync. */
  syncReplied(sequence: number, readAt: Zxid): void {
    // rule: a-sync-waits-for-what-was-committed
    this.#syncs.replied(sequence, readAt);
    this.answerSyncs();
  }

  /** A quorum has said that this server still led when a round began. */
  confirmed(round: number): void {
    this.#syncs.confirmed(round);
    this.answerSyncs();
  }

  /** Answers the syncs whose moment has come. */
  answerSyncs(): void {
    // What was asked before them waits for the rest of the transaction.
    if (this.#standing.isApplying) return;
    while (this.#syncs.count > 0) {
      const due = this.#syncs.takeDue(this.#standing.visible);
      if (due === undefined) return;
      const connection = this.#connections.get(due.connection);
      if (connection === undefined) continue;
      if (connection.isHeldBack) this.releaseNow(connection);
      const { frame } = due;
      if (connection.phase === "open") {
        this.#tools.requests.open(frame, 0, frame.length, this.#request);
        this.#answer(connection, this.#request, frame, 0, frame.length, due.receivedMs);
      }
      connection.syncBytes -= frame.length;
      this.issuedAnswered(connection);
    }
  }

  // What waits

  /** A connection's oldest write or sync was answered: what stood behind it may go on. */
  issuedAnswered(connection: Connection): void {
    connection.answered++;
    if (connection.gone) {
      this.#connections.forget(connection);
      return;
    }
    if (connection.unanswered === 0) connection.largestWriteBytes = 0;
    this.#releaseWorkLeft = this.#config.releaseWorkPerTurn;
    this.#release(connection);
  }

  /** Answers what waits for nothing any more. */
  #release(connection: Connection): void {
    const { waiting } = connection;
    const request = this.#request;
    while (waiting?.isDue(connection.answered) === true && connection.phase === "open") {
      if (connection.unfinished !== undefined) return;
      if (this.#standing.isApplying) {
        this.#holdBack(connection);
        return;
      }
      if (this.#releaseWorkLeft <= 0) {
        this.#holdBack(connection);
        break;
      }
      waiting.take();
      const { bytes, start, end } = waiting;
      const workBefore = this.#reads.workCount;
      this.#tools.requests.open(bytes, start, end, request);
      this.#answer(connection, request, bytes, start, end, waiting.receivedMs);
      this.#releaseWorkLeft -= 1 + ((end - start) >> FRAME_BYTES_PER_WORK_LOG2) + this.#reads.workCount - workBefore;
    }
    this.#admission.answered(connection);
  }

  /** Releases connections that were held back for a transaction's rest, or for a turn of their own; all of them together as much as one may. */
  #releaseHeldBack(): void {
    const heldBack = this.#heldBack;
    this.#heldBack = [];
    this.#releaseWorkLeft = this.#config.releaseWorkPerTurn;
    for (const [i, connection] of heldBack.entries()) {
      if (this.#releaseWorkLeft <= 0) {
        for (const later of heldBack.slice(i)) this.#heldBack.push(later);
        return;
      }
      connection.isHeldBack = false;
      if (!connection.gone) this.#release(connection);
    }
  }

  /** A write or sync of a connection that was held back is about to be answered: first comes what was asked before it. */
  releaseNow(connection: Connection): void {
    this.#releaseWorkLeft = Number.POSITIVE_INFINITY;
    this.#release(connection);
  }

  /** Answers the reads that waited for the rest of a transaction, which is applied now. */
  applied(): void {
    if (this.#heldBack.length > 0) this.#releaseHeldBack();
  }

  /** The role has ended, and with it what was asked of the leader. */
  clear(): void {
    this.#syncs.clear();
    this.#unfinished = [];
    for (const connection of this.#heldBack) connection.isHeldBack = false;
    this.#heldBack = [];
  }
}

/** Whether what a connection asks stands behind something of it that is not answered. */
function mustWait({ unanswered, unfinished, waiting }: Connection): boolean {
  return unanswered > 0 || unfinished !== undefined || (waiting !== undefined && waiting.count > 0);
}

/** createTTL and createContainer never make ephemerals, whatever flags they carry. */
function isEphemeralCreate({ op, flags }: Request): boolean {
  return (op === OpCode.CREATE || op === OpCode.CREATE2) && isEphemeralMode(flags);
}

/** Decoders throw errors that carry a code of theirs; anything else is a defect and goes on. */
function isUnreadable(error: unknown): boolean {
  return error instanceof Error && error.name === "WireError";
}
