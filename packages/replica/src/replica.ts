import { DataTree, type PrepareContext, type WatchSink, type WatchTable } from "@zooid/data-tree";
import {
  assert,
  type ByteSlice,
  type ConnectionRef,
  type ConnectRequest,
  clearTxnOp,
  composeZxid,
  ErrorCode,
  type FrameBatch,
  type Identity,
  isWrite,
  may,
  newRequest,
  newTxnHeader,
  newTxnOp,
  nextZxid,
  OpCode,
  PASSWORD_HASH_BYTES,
  Permission,
  type ReplySink,
  type Request,
  type RequestDecoder,
  SESSION_NONE,
  type SessionId,
  sessionIdFromHalves,
  sessionIdHigh,
  sessionIdLow,
  sliceText,
  type TxnBatcher,
  type TxnDecoder,
  type TxnHeader,
  type TxnOp,
  type Zxid,
} from "@zooid/model";
import { ZabPeer } from "@zooid/zab";
import { AuthSchemes, type Hashes } from "./auth.ts";
import { CommitGate, NO_CONNECTION } from "./commit-gate.ts";
import type { ReplicaConfig } from "./config.ts";
import { Connection } from "./connection.ts";
import { LocalReads } from "./local-reads.ts";
import { isServed, isServedPart } from "./served-operations.ts";
import { newSessionId } from "./session-id.ts";
import { type Session, SessionTable } from "./session-table.ts";
import { WaitingFrames } from "./waiting-frames.ts";

/** Why a connection was closed, other than by its own wish or its session's end. */
export type Refusal = "unreadable-request" | "unknown-operation" | "authentication" | "watch-limit";

/**
 * What a replica does to the world. The driver implements it; calls come in the order in which things must happen.
 */
export interface ReplicaSinks {
  readonly replies: ReplySink;
  /** Make these entries durable, then say `synced`. The bytes may be used again after the call. */
  append(batch: FrameBatch, generation: number): void;
  /** There is room again: go on reading this connection. */
  resume(connection: ConnectionRef): void;
  /** A connection is closed for what it sent. For those who observe. */
  refused?(connection: ConnectionRef, refusal: Refusal): void;
  /** One op of a committed transaction was applied. For those who observe; never on the way of an answer. */
  applied?(header: Readonly<TxnHeader>, op: Readonly<TxnOp>): void;
}

/** The machines that turn bytes into values and back, and the platform's hash functions. */
export interface ReplicaTools {
  readonly requests: RequestDecoder;
  readonly batcher: TxnBatcher;
  readonly txns: TxnDecoder;
  readonly hashes: Hashes;
}

/** Counts since start, and gauges. */
export interface ReplicaCounters {
  packetsReceived: number;
  packetsSent: number;
  latencyMsMin: number;
  latencyMsMax: number;
  latencyMsTotal: number;
  latencyCount: number;
  commitCount: number;
  expiredSessions: number;
  authFailures: number;
}

const NO_PASSWORD = { bytes: new Uint8Array(16), start: 0, end: 16 };

/**
 * One member of the ensemble as a single deterministic machine: connections and their sessions, the order of their requests,
 * prepare, broadcast, apply, watches and answers. It never touches a socket, a disk or a clock: time comes with {@link setTime},
 * frames with {@link receive}, durability with {@link synced}; what follows from them it tells its sinks, in order.
 */
export class Replica {
  readonly tree: DataTree;
  readonly watches: WatchTable;
  readonly auth: AuthSchemes;
  readonly zab: ZabPeer;
  readonly counters: ReplicaCounters = newCounters();
  readonly #config: ReplicaConfig;
  readonly #sinks: ReplicaSinks;
  readonly #tools: ReplicaTools;
  readonly #gate = new CommitGate();
  readonly #reads: LocalReads;
  readonly #firings: WatchSink;
  #sessions: SessionTable;
  readonly #connections: (Connection | undefined)[] = [];
  readonly #freeRefs: ConnectionRef[] = [];
  readonly #stalled: Connection[] = [];
  #connectionCount = 0;
  #nowMs = 0;
  #wallMs = 0;
  /** The last zxid given to a prepared transaction, and the one that answers show at least. */
  #prepared: Zxid = composeZxid(0, 0);
  // Set in the constructor: a field that begins as a number is kept unboxed, and every read would box it anew.
  #visible: Zxid;
  #bootCount = 0;
  #sessionCounter = 0;
  // Structures that every request and every transaction is read into.
  readonly #request: Request = newRequest();
  readonly #part: Request = newRequest();
  readonly #header: TxnHeader = newTxnHeader();
  readonly #op: TxnOp = newTxnOp();
  readonly #applyHeader: TxnHeader = newTxnHeader();
  readonly #applyOp: TxnOp = newTxnOp();
  readonly #context: PrepareContext;

  constructor(config: ReplicaConfig, tools: ReplicaTools, sinks: ReplicaSinks) {
    this.#config = config;
    this.#visible = composeZxid(0, 0);
    this.#tools = tools;
    this.#sinks = sinks;
    this.auth = new AuthSchemes(config.auth, tools.hashes, config);
    this.tree = new DataTree({ hashSeed: config.hashSeed });
    this.watches = this.tree.watches;
    this.#firings = {
      mayRead: (ref, acl) => {
        const connection = this.#connections[ref];
        return connection !== undefined && may(this.auth.rules, connection.identities, acl, Permission.READ);
      },
      event: (ref, zxid, type, path) => sinks.replies.event(ref, zxid, type, path),
    };
    this.#sessions = new SessionTable(config.tickMs, 0);
    this.#reads = new LocalReads(this.tree, this.auth, sinks.replies, config);
    this.zab = new ZabPeer(
      {
        sid: config.sid,
        verifier: config.verifier,
        outstandingCountMax: config.outstandingCountMax,
        outstandingBytesMax: config.outstandingBytesMax,
      },
      {
        append: (batch, generation) => sinks.append(batch, generation),
        deliver: (zxid, bytes, start, end) => this.#deliver(zxid, bytes, start, end),
        release: (batch) => tools.batcher.recycle(batch),
      },
    );
    this.#context = {
      sessionHigh: 0,
      sessionLow: 0,
      identities: [],
      rules: this.auth.rules,
      zxid: this.#prepared,
      timeMs: 0,
      isTtlEnabled: config.isTtlEnabled,
      fixAcl: (acl, identities) => this.auth.fixAcl(acl, identities),
    };
  }

  /** The zxid that reads are answered with: what was applied last, or the beginning of this epoch. */
  get visibleZxid(): Zxid {
    return this.#visible;
  }

  get connectionCount(): number {
    return this.#connectionCount;
  }

  get sessions(): SessionTable {
    return this.#sessions;
  }

  /** Own requests that are read and not answered. */
  get outstandingCount(): number {
    return this.#gate.count;
  }

  get nowMs(): number {
    return this.#nowMs;
  }

  resetCounters(): void {
    Object.assign(this.counters, newCounters());
  }

  connection(ref: ConnectionRef): Connection | undefined {
    return this.#connections[ref];
  }

  *connections(): IterableIterator<Connection> {
    for (const connection of this.#connections) if (connection !== undefined && !connection.gone) yield connection;
  }

  /**
   * Notes the time, once a turn.
   *
   * @param nowMs a monotonic clock: sessions live by it
   * @param wallMs the wall clock: only ever stored (ctime, mtime), and never going back within an epoch
   */
  setTime(nowMs: number, wallMs: number): void {
    this.#nowMs = nowMs;
    if (wallMs > this.#wallMs) this.#wallMs = wallMs;
  }

  /** Applies one entry of the log at start, before {@link lead}; nobody is answered. */
  replay(zxid: Zxid, bytes: Uint8Array, start: number, end: number): void {
    const { txns } = this.#tools;
    const header = this.#applyHeader;
    txns.open(bytes, start, end, header);
    header.zxid = zxid;
    while (txns.next(this.#applyOp)) this.tree.apply(header, this.#applyOp, undefined);
    this.tree.finish(header);
    if (header.timeMs > this.#wallMs) this.#wallMs = header.timeMs;
  }

  /**
   * Begins to serve as leader of an epoch whose promise is durable. Every known session lives its full timeout again.
   *
   * @param bootCount makes session ids differ from those of every earlier start
   */
  lead(epoch: number, bootCount: number): void {
    const history = this.tree.applied;
    this.zab.lead(epoch, history);
    this.#bootCount = bootCount;
    this.#prepared = composeZxid(epoch, 0);
    this.#visible = this.#prepared;
    this.#sessions = new SessionTable(this.#config.tickMs, this.#nowMs);
    this.tree.forEachSession((high, low, timeoutMs) => {
      this.#sessions.add(sessionIdFromHalves(high, low), high, low, timeoutMs, this.#nowMs);
    });
  }

  /** A client connected. The number it gets names it in every call until {@link disconnect}. */
  accept(address: string): ConnectionRef {
    const ref = this.#freeRefs.pop() ?? (this.#connections.length as ConnectionRef);
    this.#connections[ref] = new Connection(ref, address);
    this.#connectionCount++;
    return ref;
  }

  /** The socket is gone. The session is not: it lives until it times out or is renewed. */
  disconnect(ref: ConnectionRef): void {
    const connection = this.#connections[ref];
    if (connection === undefined || connection.gone) return;
    connection.gone = true;
    connection.phase = "closing";
    this.#connectionCount--;
    this.watches.removeConnection(ref);
    if (connection.session?.connection === ref) connection.session.connection = undefined;
    connection.waiting = undefined;
    this.#forget(connection);
  }

  /**
   * Takes a client's first frame.
   *
   * @param secret 16 random bytes, the password if a session is created, and two more that make its id hard to guess
   */
  connect(ref: ConnectionRef, request: ConnectRequest, secret: Uint8Array): void {
    const connection = this.#connections[ref];
    assert(connection !== undefined && connection.phase === "new", "a connection sends one connect request, first");
    this.counters.packetsReceived++;
    connection.stats.received++;
    if (request.lastZxidSeen > this.#visible) {
      // It has seen what this server has not: it must look for another one, and its session must not be hurt.
      this.#close(connection);
      return;
    }
    const { sessionTimeoutMsMin, sessionTimeoutMsMax } = this.#config;
    const timeoutMs = Math.min(Math.max(request.timeoutMs, sessionTimeoutMsMin), sessionTimeoutMsMax);
    if (request.sessionId === SESSION_NONE) this.#createSession(connection, timeoutMs, secret);
    else this.#renewSession(connection, request.sessionId, request.password, timeoutMs);
  }

  /**
   * Takes one frame of an open connection. The bytes are read during the call only.
   *
   * @returns false when no more may be read for now; `resume` tells when it may
   */
  receive(ref: ConnectionRef, bytes: Uint8Array, start: number, end: number): boolean {
    const connection = this.#connections[ref];
    if (connection === undefined || connection.phase !== "open") return false;
    const request = this.#request;
    try {
      this.#tools.requests.open(bytes, start, end, request);
    } catch {
      this.#refuseConnection(connection, "unreadable-request");
      return false;
    }
    this.counters.packetsReceived++;
    connection.stats.received++;
    const { op } = request;
    if (op === OpCode.AUTH) return this.#receiveAuth(connection, request, bytes, start, end);
    if (!isServed(op)) {
      this.#sinks.replies.header(ref, request.xid, -1, ErrorCode.UNIMPLEMENTED);
      this.#answered(connection, op, request.xid, -1, this.#nowMs);
      this.#refuseConnection(connection, "unknown-operation");
      return false;
    }
    const { session } = connection;
    assert(session !== undefined, "an open connection has a session");
    // What comes behind the session's end is dropped, as if it had come too late.
    if (session.closing) return true;
    session.touchedMs = this.#nowMs;
    if (isWrite(op)) this.#write(connection, session, request, bytes, start, end);
    else if (connection.unanswered > 0) this.#wait(connection, bytes, start, end);
    else this.#answer(connection, request, this.#nowMs);
    return this.#admits(connection);
  }

  /** Proposes what was prepared since the last call: one batch. */
  propose(): void {
    if (this.#tools.batcher.count > 0) this.zab.propose(this.#tools.batcher.take());
  }

  /** Whether anything was prepared that {@link propose} would propose. */
  get hasPrepared(): boolean {
    return this.#tools.batcher.count > 0;
  }

  /** Everything up to a zxid, appended in a role generation, is durable here. */
  synced(generation: number, zxid: Zxid): void {
    this.zab.synced(generation, zxid);
  }

  /**
   * Applies what is committed, answers it, and lets what waited behind it go on.
   *
   * @returns whether more is due: reads get their turn first
   */
  deliver(most: number): boolean {
    const more = this.zab.deliver(most);
    if (this.#stalled.length > 0 && !this.#isFull()) this.#resumeStalled();
    return more;
  }

  /** Ends the sessions of at most one due bucket. */
  expireSessions(): void {
    this.#sessions.expire(this.#nowMs, (session) => {
      this.counters.expiredSessions++;
      this.#closeSession(session, NO_CONNECTION, 0);
    });
  }

  /** When {@link expireSessions} has anything to do next; undefined when there are no sessions. */
  nextExpiryMs(): number | undefined {
    return this.#sessions.nextBorderMs();
  }

  #createSession(connection: Connection, timeoutMs: number, secret: Uint8Array): void {
    const id = newSessionId({
      sid: this.#config.sid,
      bootCount: this.#bootCount,
      counter: ++this.#sessionCounter,
      random: ((secret[16] ?? 0) << 8) | (secret[17] ?? 0),
    });
    const password = secret.slice(0, 16);
    const session = this.#sessions.add(id, sessionIdHigh(id), sessionIdLow(id), timeoutMs, this.#nowMs);
    session.connection = connection.ref;
    connection.session = session;
    connection.password = password;
    connection.phase = "creating";
    this.#begin(session, connection, 0, OpCode.CREATE_SESSION);
    const hash = this.#tools.hashes.sha256(password);
    const op = this.#op;
    const kept = { bytes: hash, start: 0, end: PASSWORD_HASH_BYTES };
    this.tree.prepareCreateSession(timeoutMs, kept, this.#context, op);
    this.#tools.batcher.op(op);
    this.#tools.batcher.end();
  }

  #renewSession(connection: Connection, id: SessionId, password: Readonly<ByteSlice>, timeoutMs: number): void {
    const session = this.#sessions.get(id);
    // The hash is computed for an unknown id too: the time an answer takes tells nothing about which ids exist.
    const hash = this.#tools.hashes.sha256(password.bytes.subarray(password.start, password.end));
    const expected = this.tree.sessionPasswordHash(sessionIdHigh(id), sessionIdLow(id));
    const isRight = equalInConstantTime(hash, expected ?? NO_PASSWORD.bytes) && expected !== undefined;
    if (session === undefined || session.closing || !isRight) {
      this.#sinks.replies.connected(connection.ref, 0, SESSION_NONE, NO_PASSWORD);
      this.#answered(connection, OpCode.CREATE_SESSION, -1, this.#visible, this.#nowMs);
      this.#close(connection);
      return;
    }
    const before = session.connection === undefined ? undefined : this.#connections[session.connection];
    if (before !== undefined) this.#close(before);
    session.connection = connection.ref;
    session.touchedMs = this.#nowMs;
    this.#sessions.setTimeout(session, timeoutMs);
    connection.session = session;
    connection.phase = "open";
    this.#sinks.replies.connected(connection.ref, timeoutMs, id, password);
    this.#answered(connection, OpCode.CREATE_SESSION, -1, this.#visible, this.#nowMs);
    this.#sinks.resume(connection.ref);
  }

  /** An auth packet takes effect at once, for requests that follow; its answer keeps its place in the order. */
  #receiveAuth(connection: Connection, request: Request, bytes: Uint8Array, start: number, end: number): boolean {
    if (connection.unanswered > 0) {
      this.#wait(connection, bytes, start, end);
      const granted = this.#authenticate(connection.identities, request);
      // Nothing behind a refused packet may be served; the refusal is said, and the connection closed, when its turn comes.
      if (granted === undefined) return false;
      connection.identities = granted;
      return this.#admits(connection);
    }
    this.#answerAuth(connection, request, this.#nowMs);
    connection.identities = connection.answeredAs;
    return connection.phase === "open";
  }

  #answerAuth(connection: Connection, request: Request, receivedMs: number): void {
    const granted = this.#authenticate(connection.answeredAs, request);
    const code = granted === undefined ? ErrorCode.AUTH_FAILED : ErrorCode.OK;
    this.#sinks.replies.header(connection.ref, request.xid, composeZxid(0, 0), code);
    this.#answered(connection, request.op, request.xid, 0, receivedMs);
    if (granted === undefined) {
      this.counters.authFailures++;
      this.#refuseConnection(connection, "authentication");
    } else {
      connection.answeredAs = granted;
    }
  }

  /** A connection's identities with those that an auth packet adds; undefined when it is refused or cannot be read. */
  #authenticate(known: readonly Identity[], request: Request): readonly Identity[] | undefined {
    try {
      this.#tools.requests.body(request);
    } catch {
      return undefined;
    }
    const { data } = request;
    const credentials = request.hasData ? data.bytes.subarray(data.start, data.end) : undefined;
    const added = this.auth.authenticate(sliceText(request.path), credentials, known);
    const isNew = (one: Identity): boolean =>
      !known.some((other) => other.scheme === one.scheme && other.id === one.id);
    if (added === undefined) return undefined;
    const all = [...known, ...added.filter(isNew)];
    return all.length > this.#config.identityCountMax ? undefined : all;
  }

  #wait(connection: Connection, bytes: Uint8Array, start: number, end: number): void {
    connection.waiting ??= new WaitingFrames();
    connection.waiting.push(connection.lastWrite, this.#nowMs, bytes, start, end);
  }

  /** Answers a request that changes nothing here and now. */
  #answer(connection: Connection, request: Request, receivedMs: number): void {
    const { ref } = connection;
    const { op, xid } = request;
    if (op === OpCode.AUTH) {
      this.#answerAuth(connection, request, receivedMs);
      return;
    }
    let isReadable = true;
    try {
      this.#tools.requests.body(request);
      this.#reads.answer(connection, request, this.#tools.requests, this.#visible);
    } catch (error) {
      if (!isUnreadable(error)) throw error;
      isReadable = false;
    }
    if (!isReadable) this.#sinks.replies.header(ref, xid, this.#visible, ErrorCode.MARSHALLING_ERROR);
    this.#answered(connection, op, xid, this.#visible, receivedMs);
    if (connection.phase === "open" && this.watches.countOf(ref) > this.#config.watchCountMax) {
      this.#refuseConnection(connection, "watch-limit");
    }
  }

  #write(
    connection: Connection,
    session: Session,
    request: Request,
    bytes: Uint8Array,
    start: number,
    end: number,
  ): void {
    const { op, xid } = request;
    if (op === OpCode.CLOSE_SESSION) {
      this.#closeSession(session, connection.ref, xid);
      return;
    }
    try {
      this.#tools.requests.body(request);
    } catch {
      // The refusal has its place behind what came before; no transaction is made of it.
      if (connection.unanswered > 0) this.#wait(connection, bytes, start, end);
      else this.#answer(connection, request, this.#nowMs);
      return;
    }
    this.#begin(session, connection, xid, op);
    const context = this.#context;
    context.identities = connection.identities;
    if (op === OpCode.MULTI) {
      this.#prepareMulti(context);
    } else {
      const code = this.tree.prepare(request, context, this.#op);
      if (code === ErrorCode.OK) this.#tools.batcher.op(this.#op);
      else this.#refuse(code, 0, 0);
    }
    this.#tools.batcher.end();
  }

  /** Prepares every part against the tree as the parts before it leave it; one that is refused takes all of them back. */
  #prepareMulti(context: PrepareContext): void {
    const { requests, batcher } = this.#tools;
    const part = this.#part;
    const count = this.#countParts();
    if (count < 0) {
      this.#refuse(ErrorCode.MARSHALLING_ERROR, 0, 0);
      return;
    }
    requests.rewindParts();
    this.tree.beginMulti();
    for (let i = 0; requests.nextPart(part); i++) {
      const code = isServedPart(part.op) ? this.tree.prepare(part, context, this.#op) : ErrorCode.UNIMPLEMENTED;
      if (code !== ErrorCode.OK) {
        this.tree.abortMulti();
        batcher.rewind();
        this.#refuse(code, i, count);
        return;
      }
      batcher.op(this.#op);
    }
    this.tree.endMulti();
  }

  /** How many parts a multi has; -1 when one cannot be read. */
  #countParts(): number {
    let count = 0;
    try {
      while (this.#tools.requests.nextPart(this.#part)) count++;
    } catch {
      return -1;
    }
    return count;
  }

  #refuse(code: number, failedIndex: number, opCount: number): void {
    const op = this.#op;
    clearTxnOp(op, OpCode.ERROR);
    op.code = code;
    op.failedIndex = failedIndex;
    op.opCount = opCount;
    this.#tools.batcher.op(op);
  }

  #closeSession(session: Session, ref: ConnectionRef, xid: number): void {
    session.closing = true;
    const connection = ref === NO_CONNECTION ? undefined : this.#connections[ref];
    this.#begin(session, connection, xid, OpCode.CLOSE_SESSION);
    this.tree.prepareCloseSession(session.idHigh, session.idLow, this.#context, (op) => this.#tools.batcher.op(op));
    this.#tools.batcher.end();
  }

  /** Opens the next transaction: gives it its zxid and its place among this server's own. */
  #begin(session: Session, connection: Connection | undefined, xid: number, op: number): void {
    const header = this.#header;
    this.#prepared = nextZxid(this.#prepared);
    header.zxid = this.#prepared;
    header.sessionHigh = session.idHigh;
    header.sessionLow = session.idLow;
    header.cxid = xid;
    header.timeMs = this.#wallMs;
    header.origin = this.#config.sid;
    header.originSeq = this.#gate.put(connection?.ref ?? NO_CONNECTION, xid, op, this.#nowMs);
    header.op = op;
    if (connection !== undefined) {
      connection.unanswered++;
      connection.lastWrite = header.originSeq;
    }
    const context = this.#context;
    context.sessionHigh = session.idHigh;
    context.sessionLow = session.idLow;
    context.zxid = header.zxid;
    context.timeMs = header.timeMs;
    this.#tools.batcher.begin(header);
  }

  /** Applies a committed transaction, fires its watches, and answers the client that waits for it, in this order. */
  #deliver(zxid: Zxid, bytes: Uint8Array, start: number, end: number): void {
    const { txns } = this.#tools;
    const header = this.#applyHeader;
    const op = this.#applyOp;
    txns.open(bytes, start, end, header);
    header.zxid = zxid;
    const gate = this.#gate;
    let connection: Connection | undefined;
    if (header.origin === this.#config.sid) {
      gate.take(header.originSeq);
      if (gate.connection !== NO_CONNECTION) connection = this.#connections[gate.connection];
    }
    if (header.op === OpCode.MULTI) this.#applyMulti(header, op, connection);
    else this.#applySimple(header, op, connection);
    this.counters.commitCount++;
    if (connection !== undefined) this.#committed(connection, header.originSeq);
  }

  #applySimple(header: TxnHeader, op: TxnOp, connection: Connection | undefined): void {
    const { txns } = this.#tools;
    let node = 0;
    while (txns.next(op)) {
      node = this.tree.apply(header, op, this.#firings);
      this.#sinks.applied?.(header, op);
    }
    this.tree.finish(header);
    this.#visible = header.zxid;
    if (op.op === OpCode.CLOSE_SESSION) this.#sessionClosed(header, connection);
    else if (connection !== undefined) this.#answerWrite(connection, header.zxid, op, node);
  }

  #answerWrite(connection: Connection, zxid: Zxid, op: TxnOp, node: number): void {
    const { replies } = this.#sinks;
    const { ref } = connection;
    const { xid, receivedMs } = this.#gate;
    switch (op.op) {
      case OpCode.CREATE:
        replies.path(ref, xid, zxid, op.path);
        break;
      case OpCode.CREATE2:
      case OpCode.CREATE_CONTAINER:
      case OpCode.CREATE_TTL:
        replies.pathAndStat(ref, xid, zxid, op.path, this.tree.view(node));
        break;
      case OpCode.SET_DATA:
      case OpCode.SET_ACL:
        replies.stat(ref, xid, zxid, this.tree.view(node));
        break;
      case OpCode.ERROR:
        replies.header(ref, xid, zxid, op.code);
        break;
      case OpCode.CREATE_SESSION:
        this.#sessionCreated(connection, op.timeoutMs);
        break;
      default:
        replies.header(ref, xid, zxid, ErrorCode.OK);
    }
    this.#answered(connection, this.#gate.op, op.op === OpCode.CREATE_SESSION ? -1 : xid, zxid, receivedMs);
  }

  #applyMulti(header: TxnHeader, op: TxnOp, connection: Connection | undefined): void {
    const { replies } = this.#sinks;
    const { txns } = this.#tools;
    const { xid, receivedMs } = this.#gate;
    const ref = connection?.ref;
    let isOpen = false;
    let isRefused = false;
    while (txns.next(op)) {
      const node = this.tree.apply(header, op, this.#firings);
      this.#sinks.applied?.(header, op);
      if (op.op === OpCode.ERROR) {
        isRefused = true;
        break;
      }
      if (ref === undefined) continue;
      if (!isOpen) replies.multiBegin(ref, xid, header.zxid);
      isOpen = true;
      this.#answerPart(ref, op, node);
    }
    this.tree.finish(header);
    this.#visible = header.zxid;
    if (connection === undefined || ref === undefined) return;
    if (isRefused && op.opCount === 0) {
      replies.header(ref, xid, header.zxid, op.code);
    } else {
      if (!isOpen) replies.multiBegin(ref, xid, header.zxid);
      if (isRefused) this.#answerRefusedParts(ref, op);
      replies.multiEnd(ref);
    }
    this.#answered(connection, OpCode.MULTI, xid, header.zxid, receivedMs);
  }

  #answerPart(ref: ConnectionRef, op: TxnOp, node: number): void {
    const { replies } = this.#sinks;
    switch (op.op) {
      case OpCode.CREATE:
        replies.partPath(ref, op.path);
        break;
      case OpCode.CREATE2:
      case OpCode.CREATE_CONTAINER:
      case OpCode.CREATE_TTL:
        replies.partPathAndStat(ref, op.path, this.tree.view(node));
        break;
      case OpCode.SET_DATA:
        replies.partStat(ref, this.tree.view(node));
        break;
      default:
        replies.partEmpty(ref, op.op);
    }
  }

  /** Of a failed multi every part is an error: 0 before the one that failed, its own code, "inconsistent" behind it. */
  #answerRefusedParts(ref: ConnectionRef, op: TxnOp): void {
    for (let i = 0; i < op.opCount; i++) {
      const code = i < op.failedIndex ? ErrorCode.OK : i === op.failedIndex ? op.code : ErrorCode.RUNTIME_INCONSISTENCY;
      this.#sinks.replies.partError(ref, code);
    }
  }

  #sessionCreated(connection: Connection, timeoutMs: number): void {
    const { session, password } = connection;
    if (connection.gone || session === undefined || password === undefined) return;
    connection.password = undefined;
    connection.phase = "open";
    this.#sinks.replies.connected(connection.ref, timeoutMs, session.id, { bytes: password, start: 0, end: 16 });
    this.#sinks.resume(connection.ref);
  }

  #sessionClosed(header: TxnHeader, connection: Connection | undefined): void {
    const session = this.#sessions.get(sessionIdFromHalves(header.sessionHigh, header.sessionLow));
    const holder = session?.connection === undefined ? undefined : this.#connections[session.connection];
    if (session !== undefined) this.#sessions.remove(session);
    if (connection !== undefined) {
      const { xid, receivedMs } = this.#gate;
      this.#sinks.replies.header(connection.ref, xid, header.zxid, ErrorCode.OK);
      this.#answered(connection, OpCode.CLOSE_SESSION, xid, header.zxid, receivedMs);
      this.#close(connection);
    }
    if (holder !== undefined && holder !== connection) this.#close(holder);
  }

  /** A connection's own write was answered: what stood behind it may go on. */
  #committed(connection: Connection, sequence: number): void {
    connection.unanswered--;
    if (connection.gone) {
      this.#forget(connection);
      return;
    }
    const { waiting } = connection;
    if (waiting !== undefined && waiting.count > 0) waiting.release(sequence, this.#releaseTo(connection));
    if (connection.stalled && !this.#isFull() && this.#hasRoom(connection)) {
      connection.stalled = false;
      this.#sinks.resume(connection.ref);
    }
  }

  #releaseTo(connection: Connection): (bytes: Uint8Array, start: number, end: number, receivedMs: number) => void {
    return (bytes, start, end, receivedMs) => {
      if (connection.phase !== "open") return;
      this.#tools.requests.open(bytes, start, end, this.#request);
      this.#answer(connection, this.#request, receivedMs);
    };
  }

  #admits(connection: Connection): boolean {
    if (connection.phase !== "open") return false;
    if (!this.#isFull() && this.#hasRoom(connection)) return true;
    if (!connection.stalled) {
      connection.stalled = true;
      this.#stalled.push(connection);
    }
    return false;
  }

  #hasRoom(connection: Connection): boolean {
    return (
      connection.inFlight < this.#config.inFlightCountMax &&
      (connection.waiting?.sizeBytes ?? 0) < this.#config.inFlightBytesMax
    );
  }

  #isFull(): boolean {
    const { batcher } = this.#tools;
    return (
      this.zab.isFull ||
      batcher.sizeBytes >= this.#config.outstandingBytesMax ||
      batcher.count >= this.#config.outstandingCountMax
    );
  }

  #resumeStalled(): void {
    const stalled = this.#stalled.splice(0);
    for (const connection of stalled) {
      if (!connection.stalled || connection.phase !== "open") continue;
      if (this.#hasRoom(connection)) {
        connection.stalled = false;
        this.#sinks.resume(connection.ref);
      } else {
        this.#stalled.push(connection);
      }
    }
  }

  #refuseConnection(connection: Connection, refusal: Refusal): void {
    this.#sinks.refused?.(connection.ref, refusal);
    this.#close(connection);
  }

  #close(connection: Connection): void {
    if (connection.phase === "closing") return;
    connection.phase = "closing";
    if (connection.session?.connection === connection.ref) connection.session.connection = undefined;
    this.watches.removeConnection(connection.ref);
    this.#sinks.replies.close(connection.ref);
  }

  #forget(connection: Connection): void {
    if (connection.unanswered > 0) return;
    this.#connections[connection.ref] = undefined;
    this.#freeRefs.push(connection.ref);
  }

  #answered(connection: Connection, op: number, xid: number, zxid: number, receivedMs: number): void {
    const latencyMs = this.#nowMs - receivedMs;
    connection.stats.answered(op, xid, zxid, latencyMs, this.#nowMs);
    const { counters } = this;
    counters.packetsSent++;
    if (op === OpCode.PING) return;
    if (latencyMs < counters.latencyMsMin) counters.latencyMsMin = latencyMs;
    if (latencyMs > counters.latencyMsMax) counters.latencyMsMax = latencyMs;
    counters.latencyMsTotal += latencyMs;
    counters.latencyCount++;
  }
}

function newCounters(): ReplicaCounters {
  return {
    packetsReceived: 0,
    packetsSent: 0,
    latencyMsMin: Number.POSITIVE_INFINITY,
    latencyMsMax: 0,
    latencyMsTotal: 0,
    latencyCount: 0,
    commitCount: 0,
    expiredSessions: 0,
    authFailures: 0,
  };
}

function equalInConstantTime(hash: Uint8Array, expected: Uint8Array): boolean {
  let difference = 0;
  for (let i = 0; i < PASSWORD_HASH_BYTES; i++) difference |= (hash[i] ?? 0) ^ (expected[i] ?? 0);
  return difference === 0;
}

/** Decoders throw errors that carry a code of theirs; anything else is a defect and goes on. */
function isUnreadable(error: unknown): boolean {
  return error instanceof Error && error.name === "WireError";
}
