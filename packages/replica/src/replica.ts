import { DataTree, type WatchSink, type WatchTable } from "@zooid/data-tree";
import {
  assert,
  type ByteSlice,
  type ConnectionRef,
  type ConnectRequest,
  composeZxid,
  copyRange,
  copySlice,
  type ElectionMessage,
  ErrorCode,
  type Identity,
  isEphemeralMode,
  isWrite,
  type LinkRef,
  may,
  newRequest,
  newTxnHeader,
  newTxnOp,
  OpCode,
  PASSWORD_HASH_BYTES,
  type PeerMessage,
  Permission,
  type ReplySink,
  type Request,
  type RequestDecoder,
  SESSION_NONE,
  type ServerId,
  type SessionId,
  sessionIdFromHalves,
  sessionIdHigh,
  sessionIdLow,
  sliceText,
  type Touch,
  type TxnBatcher,
  type TxnDecoder,
  type TxnHeader,
  type TxnOp,
  type Zxid,
} from "@zooid/model";
import type { SnapshotPort, ZabLinks, ZabLog, ZabPeer } from "@zooid/zab";
import { AuthSchemes, type Granted, type Hashes, type SaslExchange } from "./auth.ts";
import { CommitGate, NO_CONNECTION } from "./commit-gate.ts";
import type { ReplicaConfig } from "./config.ts";
import { Connection, type SaslAnswer } from "./connection.ts";
import { DigestHistory } from "./digest-history.ts";
import { EndingSessions } from "./ending-sessions.ts";
import { ForwardReader, ForwardRun } from "./forward-run.ts";
import { LocalReads } from "./local-reads.ts";
import { Membership } from "./membership.ts";
import { PendingSyncs } from "./pending-syncs.ts";
import { QuotaNotes } from "./quota-notes.ts";
import { Reaper } from "./reaper.ts";
import { RemoteClients, ToldIdentities } from "./remote-clients.ts";
import { isServed } from "./served-operations.ts";
import { newSessionId } from "./session-id.ts";
import { type Session, SessionTable } from "./session-table.ts";
import { Tally } from "./tally.ts";
import { type Asker, TxnMaker } from "./txn-maker.ts";
import { UnconfirmedRefusals } from "./unconfirmed-refusals.ts";
import { WaitingFrames } from "./waiting-frames.ts";
import { WriteAnswers } from "./write-answers.ts";

/** Why a connection was closed, other than by its own wish or its session's end. */
export type Refusal =
  | "unreadable-request"
  | "unknown-operation"
  | "authentication"
  | "unauthenticated"
  | "other-ensemble"
  | "watch-limit";

/**
 * What a replica does to the world. The driver implements it; calls come in the order in which things must happen.
 */
export interface ReplicaSinks {
  readonly replies: ReplySink;
  /** Make entries durable, then say `synced`. The bytes of an append may be used again after the call. */
  readonly log: ZabLog;
  readonly links: ZabLinks;
  readonly snapshots: SnapshotPort;
  /** To another server's election port; only the newest message to each counts. */
  elect(to: ServerId, message: ElectionMessage): void;
  /** The log has named a state that was received: load the tree from it, now. */
  install(): void;
  /** This server's role changed, or how far it has come; see {@link Replica.membership} and {@link Replica.isServing}. */
  roleChanged(): void;
  /** A sentence for operators. */
  note(text: string): void;
  /** There is room again: go on reading this connection. */
  resume(connection: ConnectionRef): void;
  /** A connection is closed for what it sent. For those who observe. */
  refused?(connection: ConnectionRef, refusal: Refusal): void;
  /**
   * A client's write was given the number that its transaction carries as `originSeq`. The request is lent for the call; parts of a multi
   * are left as they were found. For those who observe.
   */
  asked?(sequence: number, connection: Connection, request: Request): void;
  /** One op of a committed transaction was applied. For those who observe; never on the way of an answer. */
  applied?(header: Readonly<TxnHeader>, op: Readonly<TxnOp>): void;
}

/** The machines that turn bytes into values and back, and the platform's hash functions. */
export interface ReplicaTools {
  readonly requests: RequestDecoder;
  readonly batcher: TxnBatcher;
  readonly txns: TxnDecoder;
  readonly hashes: Hashes;
  /** Begins a connection's SASL exchange. Absent: the server knows no users, and answers with an empty token. */
  readonly sasl?: () => SaslExchange;
  /** At least 0, below 1. Nothing that has to be secret. */
  readonly random: () => number;
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
  /** Latencies in milliseconds, pings aside. */
  readonly reads: Tally;
  readonly writes: Tally;
}

/** A server without a role serves reads after a tick, and not sooner than this. */
const READ_ONLY_MS_MIN = 2000;
/** More writes than one life of a server sends off. */
const SEQUENCES_OF_A_START = 2 ** 32;
/** Counters of sessions' ids come again behind so many. */
const SESSIONS_OF_A_START = 2 ** 28;
const NO_PASSWORD = { bytes: new Uint8Array(16), start: 0, end: 16 };

/** Revalidations that a learner has asked its leader for and that are not answered. */
interface Revalidation {
  /** Not its number: that may name another by the time of the answer. */
  readonly connection: Connection;
  readonly session: SessionId;
  readonly timeoutMs: number;
}

/**
 * One member of the ensemble as a single deterministic machine: connections and their sessions, the order of their requests,
 * prepare, broadcast, apply, watches and answers. It never touches a socket, a disk or a clock: time comes with {@link setTime},
 * frames with {@link receive}, messages with {@link receivePeer}, durability with {@link synced}; what follows from them it tells
 * its sinks, in order.
 *
 * Writes and syncs go to the leader, which may be this server: a learner forwards the frame as it came and answers when the
 * transaction that became of it is applied here.
 */
export class Replica {
  readonly tree: DataTree;
  readonly watches: WatchTable;
  readonly auth: AuthSchemes;
  readonly membership: Membership;
  readonly zab: ZabPeer;
  readonly counters: ReplicaCounters = newCounters();
  readonly digests: DigestHistory = new DigestHistory();
  readonly #config: ReplicaConfig;
  readonly #sinks: ReplicaSinks;
  readonly #tools: ReplicaTools;
  readonly #gate = new CommitGate();
  readonly #reads: LocalReads;
  readonly #answers: WriteAnswers;
  readonly #maker: TxnMaker;
  readonly #reaper: Reaper;
  readonly #firings: WatchSink;
  /** At the leader every session, elsewhere those whose clients are connected here. */
  #sessions: SessionTable;
  readonly #connections: (Connection | undefined)[] = [];
  readonly #freeRefs: ConnectionRef[] = [];
  readonly #stalled: Connection[] = [];
  #connectionCount = 0;
  #nowMs = 0;
  #wallMs = 0;
  #isServing = false;
  #isReadOnly = false;
  /** The zxid that answers show at least. Set in the constructor: a field that begins as a number is kept unboxed. */
  #visible: Zxid;
  #bootCount = 0;
  #sessionCounter = 0;
  // A learner's half: what it has asked its leader.
  readonly #forwards = new ForwardRun();
  readonly #told = new ToldIdentities();
  readonly #syncs = new PendingSyncs();
  readonly #revalidations = new Map<number, Revalidation>();
  #revalidationSequence = 0;
  #touchesReportedMs = 0;
  // A leader's half: what learners have asked it.
  readonly #remote = new RemoteClients();
  readonly #forwarded = new ForwardReader();
  readonly #endings = new EndingSessions();
  readonly #refusals = new UnconfirmedRefusals();
  // Structures that every request and every transaction is read into.
  readonly #request: Request = newRequest();
  readonly #part: Request = newRequest();
  /** Who asks, of this server's own clients. */
  readonly #asker: { -readonly [K in keyof Asker]: Asker[K] };
  readonly #applyHeader: TxnHeader = newTxnHeader();
  readonly #applyOp: TxnOp = newTxnOp();

  constructor(config: ReplicaConfig, tools: ReplicaTools, sinks: ReplicaSinks) {
    this.#config = config;
    this.#asker = { sessionHigh: 0, sessionLow: 0, origin: config.sid, originSeq: 0, cxid: 0, op: 0 };
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
    this.#answers = new WriteAnswers(this.tree, sinks.replies);
    const quotaNotes = new QuotaNotes((text) => sinks.note(text));
    this.#maker = new TxnMaker(this.tree, this.auth, config, tools, (text) => quotaNotes.tell(text, this.#nowMs));
    this.#reaper = new Reaper(config.reaping, this.tree, config.tickMs, (text) => sinks.note(text));
    this.membership = new Membership(
      config,
      tools.random,
      {
        log: sinks.log,
        links: sinks.links,
        snapshots: sinks.snapshots,
        deliver: (zxid, bytes, start, end) => this.#deliver(zxid, bytes, start, end),
        release: (batch) => tools.batcher.recycle(batch),
        applied: () => this.tree.applied,
        install: () => sinks.install(),
        serve: (epoch) => this.#serve(epoch),
        left: (reason) => this.#left(reason),
        confirmed: (round) => this.#confirmed(round),
        message: (link, sid, message) => this.#receiveRequest(link, sid, message),
        learnerLost: (link) => {
          this.#remote.lost(link);
          this.#endings.lost(link);
          this.#refusals.lost(link);
        },
        touches: () => this.#touches(),
        touched: (touches) => this.#touched(touches),
        note: (text) => sinks.note(text),
      },
      { elect: (to, message) => sinks.elect(to, message), roleChanged: () => sinks.roleChanged() },
    );
    this.zab = this.membership.zab;
  }

  /** Whether clients are served: this server leads, follows or observes, and is level with what its epoch began with. */
  get isServing(): boolean {
    return this.#isServing;
  }

  /** Whether this server decides over writes and sessions. */
  get isLeading(): boolean {
    return this.#isServing && this.zab.state === "leading";
  }

  /** The zxid that reads are answered with: what was applied last, or the beginning of this epoch. */
  get visibleZxid(): Zxid {
    return this.#visible;
  }

  get connectionCount(): number {
    return this.#connectionCount;
  }

  /** At the leader every session, elsewhere those whose clients are connected here. */
  get sessions(): SessionTable {
    return this.#sessions;
  }

  /** Sessions that this server alone knows. */
  get localSessionCount(): number {
    let count = 0;
    for (const session of this.#sessions.values()) if (session.isLocal) count++;
    return count;
  }

  /** Whether reads are served to those who asked for it, since there is no quorum. */
  get isReadOnly(): boolean {
    return this.#isReadOnly;
  }

  /** Own requests that are read and not answered. */
  get outstandingCount(): number {
    return this.#gate.count;
  }

  /** Syncs of clients and learners that are not answered yet. */
  get pendingSyncCount(): number {
    return this.#syncs.count + this.#remote.syncCount;
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
    this.#wallMs = wallMs;
    this.#maker.setWallTime(wallMs);
    this.membership.setTime(nowMs);
  }

  // Roles

  /** Applies one entry of the log at start, before {@link lead} or {@link join}; nobody is answered. */
  replay(zxid: Zxid, bytes: Uint8Array, start: number, end: number): void {
    const { txns } = this.#tools;
    const header = this.#applyHeader;
    txns.open(bytes, start, end, header);
    header.zxid = zxid;
    while (txns.next(this.#applyOp)) this.tree.apply(header, this.#applyOp, undefined);
    this.tree.finish(header);
    this.#maker.setWallTime(header.timeMs);
  }

  /**
   * Begins to serve as an ensemble of one, in an epoch whose promise is durable. Every known session lives its full timeout again.
   *
   * @param bootCount makes session ids differ from those of every earlier start
   */
  lead(epoch: number, bootCount: number): void {
    this.#bootCount = bootCount;
    this.zab.leadAlone(epoch);
  }

  /** Begins to look for its place in the ensemble. */
  join(bootCount: number): void {
    this.#bootCount = bootCount;
    // A server that lost its disk counts its starts anew, so chance has a part in what must not come twice: numbers of requests, and
    // sessions' ids.
    const { random } = this.#tools;
    const offset = Math.floor(random() * (SEQUENCES_OF_A_START / 2));
    this.#gate.startAt(bootCount * SEQUENCES_OF_A_START + offset);
    this.#sessionCounter = Math.floor(random() * SESSIONS_OF_A_START);
    this.zab.flush();
  }

  #serve(epoch: number): void {
    if (this.#isReadOnly) {
      this.#isReadOnly = false;
      this.#letClientsGo();
    }
    const start = composeZxid(epoch, 0);
    this.#visible = Math.max(this.tree.applied, start) as Zxid;
    this.#sessions = new SessionTable(this.#config.tickMs, this.#nowMs);
    this.#touchesReportedMs = this.#nowMs;
    this.#isServing = true;
    this.#showConfiguration();
    if (this.zab.state === "leading") {
      this.#maker.beginEpoch(epoch);
      this.#reaper.begin(this.#nowMs, this.#wallMs);
      this.tree.forEachSession((high, low, timeoutMs) => {
        const session = this.#sessions.add(sessionIdFromHalves(high, low), high, low, timeoutMs, this.#nowMs);
        session.passwordHash = this.tree.sessionPasswordHash(high, low);
      });
    }
    this.membership.established(epoch);
  }

  /** Each server shows its own: the node is dated by when this server took its role. */
  #showConfiguration(): void {
    const { configuration } = this.#config.ensemble ?? {};
    if (configuration !== undefined) this.tree.showConfiguration(configuration, this.#wallMs);
  }

  /** The role has ended: what was asked in it has no answer any more, so its clients are let go. */
  #left(reason: string): void {
    this.#sinks.note(reason);
    this.#isServing = false;
    this.#letClientsGo();
    this.#gate.clear();
    this.#maker.discard();
    this.#syncs.clear();
    this.#revalidations.clear();
    this.#forwards.clear();
    this.#told.clear();
    this.#remote.clear();
    this.#endings.clear();
    this.#refusals.clear();
    this.#stalled.length = 0;
    this.#sessions = new SessionTable(this.#config.tickMs, this.#nowMs);
    this.#sinks.roleChanged();
  }

  #letClientsGo(): void {
    for (const connection of this.#connections) {
      if (connection === undefined || connection.phase === "new") continue;
      connection.answered = connection.issued;
      connection.waiting = undefined;
      connection.session = undefined;
      if (connection.gone) this.#forget(connection);
      else this.#close(connection);
    }
  }

  /** When a server without a role begins to serve reads to those who ask for it. */
  #readOnlyDueMs(): number | undefined {
    const { looksSinceMs } = this.membership;
    if (this.#config.ensemble?.readOnlyMode !== true || this.#isReadOnly || looksSinceMs === undefined)
      return undefined;
    return looksSinceMs + Math.max(this.#config.tickMs, READ_ONLY_MS_MIN);
  }

  // Other servers

  /** What came on a link between leader and learner. */
  receivePeer(link: LinkRef, message: PeerMessage): void {
    this.zab.receive(link, message);
  }

  receiveElection(from: ServerId, message: ElectionMessage): void {
    this.membership.receiveElection(from, message);
  }

  /** Does what is due by time. */
  tick(): void {
    this.membership.tick();
    const readOnlyDueMs = this.#readOnlyDueMs();
    if (readOnlyDueMs !== undefined && readOnlyDueMs <= this.#nowMs) {
      this.#isReadOnly = true;
      this.#showConfiguration();
      this.#visible = Math.max(this.#visible, this.tree.applied) as Zxid;
      this.#sinks.note("no quorum: reads are served to clients that ask for read-only service");
      this.#sinks.roleChanged();
    }
    if (this.zab.isExhausted && this.zab.outstandingCount === 0 && this.#maker.count === 0) {
      this.zab.resign("the epoch's counter nears its end, so a new epoch begins");
    }
    if (this.isLeading) this.#reap();
  }

  /** Proposes the end of containers and TTL nodes that nobody needs any more, unless clients' own writes have to wait already. */
  #reap(): void {
    if (this.#isFull()) {
      this.#reaper.postpone(this.#nowMs);
      return;
    }
    this.#reaper.step(this.#nowMs, this.#wallMs, (node) => {
      const op = OpCode.DELETE_CONTAINER;
      const originSeq = this.#gate.put(NO_CONNECTION, 0, op, this.#nowMs, 0);
      this.#maker.reap({ sessionHigh: 0, sessionLow: 0, origin: this.#config.sid, originSeq, cxid: 0, op }, node);
    });
  }

  /** When {@link tick} has something to do; undefined when never. */
  nextTickMs(): number | undefined {
    // Of others nothing is due where there are none.
    const othersDueMs = this.#config.ensemble === undefined ? undefined : this.membership.nextDueMs();
    const reaperDueMs = this.isLeading ? this.#reaper.nextDueMs() : undefined;
    return earliest(earliest(othersDueMs, this.#readOnlyDueMs()), reaperDueMs);
  }

  /** The end of a turn: what is on its way to others leaves in one piece each. */
  flush(): void {
    this.#flushForwards();
    this.zab.flush();
  }

  #flushForwards(): void {
    const run = this.#forwards;
    if (run.count === 0) return;
    this.zab.sendToLeader({ kind: "forward", count: run.count, bytes: run.bytes, start: 0, end: run.end });
    run.clear();
  }

  /** A message about requests: at the leader one that a learner's client asked, at a learner the leader's answer. */
  #receiveRequest(link: LinkRef, sid: ServerId, message: PeerMessage): void {
    switch (message.kind) {
      case "identities":
        this.#remote.identify(link, message.client, message.identities);
        return;
      case "forward":
        this.#receiveForwarded(link, sid, message);
        return;
      case "open-session":
        this.#openSessionFor(sid, message);
        return;
      case "revalidate":
        this.#revalidateFor(link, sid, message);
        return;
      case "sync":
        this.#remote.sync({
          link,
          sequence: message.sequence,
          round: this.zab.confirm(),
          readAt: this.#maker.prepared,
        });
        return;
      case "revalidated":
        this.#revalidated(message.sequence, message.isValid);
        return;
      case "sync-reply":
        this.#syncs.replied(message.sequence, message.readAt);
        this.#answerSyncs();
        return;
      default:
        assert(false, `${message.kind} is the broadcast's own business`);
    }
  }

  #receiveForwarded(
    link: LinkRef,
    sid: ServerId,
    run: { readonly bytes: Uint8Array; readonly start: number; readonly end: number },
  ): void {
    if (!this.isLeading) return;
    const forwarded = this.#forwarded;
    forwarded.open(run.bytes, run.start, run.end);
    while (forwarded.next()) this.#writeFor(link, sid, forwarded);
    assert(forwarded.isWhole, `server ${sid} forwarded a run of requests that breaks off`);
  }

  /** One write of a learner's client. Whatever is wrong with it, it becomes a transaction: the learner waits for it in its order. */
  #writeFor(link: LinkRef, sid: ServerId, forwarded: ForwardReader): void {
    const request = this.#request;
    const { requests } = this.#tools;
    let isReadable = true;
    try {
      requests.open(forwarded.bytes, forwarded.start, forwarded.end, request);
      if (request.op !== OpCode.CLOSE_SESSION) requests.body(request);
    } catch {
      isReadable = false;
    }
    const { sessionHigh, sessionLow, sequence } = forwarded;
    const asker: Asker = {
      sessionHigh,
      sessionLow,
      origin: sid,
      originSeq: sequence,
      cxid: request.xid,
      op: request.op,
    };
    if (forwarded.isLocal) {
      if (isReadable) this.#maker.write(asker, this.#remote.identities(link, forwarded.client), request);
      else this.#maker.refuse(asker, ErrorCode.MARSHALLING_ERROR);
      return;
    }
    const session = this.#sessions.get(sessionIdFromHalves(sessionHigh, sessionLow));
    if (session === undefined || session.closing) this.#maker.refuse(asker, ErrorCode.SESSION_EXPIRED);
    else if (session.owner !== sid) this.#maker.refuse(asker, ErrorCode.SESSION_MOVED);
    else if (!isReadable) this.#maker.refuse(asker, ErrorCode.MARSHALLING_ERROR);
    else {
      session.touchedMs = this.#nowMs;
      if (request.op === OpCode.CLOSE_SESSION) {
        session.closing = true;
        this.#maker.closeSession(asker);
      } else {
        this.#maker.write(asker, this.#remote.identities(link, forwarded.client), request);
      }
    }
  }

  #openSessionFor(sid: ServerId, message: Extract<PeerMessage, { kind: "open-session" }>): void {
    if (!this.isLeading) return;
    const { sessionHigh, sessionLow, timeoutMs, passwordHash, sequence } = message;
    const id = sessionIdFromHalves(sessionHigh, sessionLow);
    const asker = {
      sessionHigh,
      sessionLow,
      origin: sid,
      originSeq: sequence,
      cxid: 0,
      op: OpCode.CREATE_SESSION,
    };
    const session = this.#sessions.add(id, sessionHigh, sessionLow, timeoutMs, this.#nowMs);
    session.owner = sid;
    session.passwordHash = passwordHash.slice();
    this.#maker.createSession(asker, timeoutMs, session.passwordHash);
  }

  #revalidateFor(link: LinkRef, sid: ServerId, message: Extract<PeerMessage, { kind: "revalidate" }>): void {
    const { sequence } = message;
    const answer = (isValid: boolean): void => this.#sinks.links.send(link, { kind: "revalidated", sequence, isValid });
    const id = sessionIdFromHalves(message.sessionHigh, message.sessionLow);
    if (this.isLeading && isEnding(this.#sessions.get(id), message.passwordHash))
      this.#endings.add(id, link, () => answer(false));
    else if (this.#renewFor(sid, message)) answer(true);
    else if (this.isLeading) this.#refusals.add(this.zab.confirm(), link, () => answer(false));
    else answer(false);
  }

  /** Whether a client that came to a learner with this session may go on there. */
  #renewFor(sid: ServerId, message: Extract<PeerMessage, { kind: "revalidate" }>): boolean {
    if (!this.isLeading) return false;
    const session = this.#sessions.get(sessionIdFromHalves(message.sessionHigh, message.sessionLow));
    if (!mayRenew(session, message.passwordHash)) return false;
    const before = session.connection === undefined ? undefined : this.#connections[session.connection];
    if (before !== undefined) this.#close(before);
    session.owner = sid;
    session.touchedMs = this.#nowMs;
    this.#sessions.setTimeout(session, message.timeoutMs);
    return true;
  }

  /** A quorum has said that this server still led when a round began. */
  #confirmed(round: number): void {
    for (const { link, sequence, readAt } of this.#remote.confirmed(round)) {
      this.#sinks.links.send(link, { kind: "sync-reply", sequence, readAt });
    }
    this.#refusals.confirmed(round);
    this.#syncs.confirmed(round);
    this.#answerSyncs();
  }

  #touches(): readonly Touch[] {
    const touches: Touch[] = [];
    for (const session of this.#sessions.values()) {
      if (session.isLocal) continue;
      if (session.touchedMs >= this.#touchesReportedMs) {
        touches.push({ sessionHigh: session.idHigh, sessionLow: session.idLow, timeoutMs: session.timeoutMs });
      }
      if (session.connection === undefined) this.#sessions.remove(session);
    }
    this.#touchesReportedMs = this.#nowMs;
    return touches;
  }

  #touched(touches: readonly Touch[]): void {
    if (!this.isLeading) return;
    for (const { sessionHigh, sessionLow } of touches) {
      const session = this.#sessions.get(sessionIdFromHalves(sessionHigh, sessionLow));
      if (session !== undefined && !session.closing) session.touchedMs = this.#nowMs;
    }
  }

  // Clients

  /**
   * A client connected. The number it gets names it in every call until {@link disconnect}.
   *
   * @param certificateSubject whom a certificate names that was found good
   */
  accept(address: string, certificateSubject?: string): ConnectionRef {
    const ref = this.#freeRefs.pop() ?? (this.#connections.length as ConnectionRef);
    const certified = certificateSubject === undefined ? [] : this.auth.certificateIdentities(certificateSubject);
    this.#connections[ref] = new Connection(ref, address, certified);
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
    if (!this.#takes(request) || request.lastZxidSeen > this.#visible) {
      // It must look for another server, and its session must not be hurt: this one has no quorum, or has not seen what it has seen.
      this.#close(connection);
      return;
    }
    const { sessionTimeoutMsMin, sessionTimeoutMsMax } = this.#config;
    const timeoutMs = Math.min(Math.max(request.timeoutMs, sessionTimeoutMsMin), sessionTimeoutMsMax);
    if (request.sessionId === SESSION_NONE) this.#createSession(connection, timeoutMs, secret);
    else this.#renewSession(connection, request.sessionId, request.password, timeoutMs);
  }

  /** Whether a client may have a session here now. */
  #takes({ readOnly, sessionId }: ConnectRequest): boolean {
    if (this.#isServing) return !this.isLeading || this.#config.ensemble?.leaderServes !== false;
    // A session of the ensemble may be alive on the other side of a partition.
    return (
      this.#isReadOnly && readOnly === true && !this.tree.hasSession(sessionIdHigh(sessionId), sessionIdLow(sessionId))
    );
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
    if (op === OpCode.SASL) return this.#receiveSasl(connection, request, bytes, start, end);
    if (!this.auth.mayAsk(connection.identities)) {
      this.#sinks.replies.header(ref, request.xid, composeZxid(0, 0), ErrorCode.SESSION_CLOSED_REQUIRE_SASL_AUTH);
      this.#answered(connection, op, request.xid, 0, this.#nowMs);
      this.#refuseConnection(connection, "unauthenticated");
      return false;
    }
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
    if (this.#isReadOnly && (isWrite(op) || op === OpCode.SYNC)) this.#refuseReadOnly(connection, session, request);
    else if (isWrite(op)) this.#write(connection, session, request, bytes, start, end);
    else if (op === OpCode.SYNC) this.#sync(connection, request, bytes, start, end);
    else if (connection.unanswered > 0) this.#wait(connection, bytes, start, end);
    else this.#answer(connection, request, this.#nowMs);
    return this.#admits(connection);
  }

  /** Proposes what was prepared since the last call: one batch. */
  propose(): void {
    if (this.hasPrepared) this.zab.propose(this.#tools.batcher.take());
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
    if (this.#syncs.count > 0) this.#answerSyncs();
    if (this.#stalled.length > 0 && !this.#isFull()) this.#resumeStalled();
    return more;
  }

  /** Ends the sessions of at most one due bucket. */
  expireSessions(): void {
    this.#sessions.expire(this.#nowMs, (session) => {
      if (session.isLocal) {
        this.counters.expiredSessions++;
        this.#endLocalSession(session);
        return;
      }
      // Only the leader ends sessions of the ensemble; elsewhere the table is no more than a list.
      if (!this.isLeading) return;
      this.counters.expiredSessions++;
      this.#endSession(session);
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
    const passwordHash = this.#tools.hashes.sha256(password).slice(0, PASSWORD_HASH_BYTES);
    const session = this.#sessions.add(id, sessionIdHigh(id), sessionIdLow(id), timeoutMs, this.#nowMs);
    session.passwordHash = passwordHash;
    connection.password = password;
    if (this.#isReadOnly || this.#config.ensemble?.localSessions === true) {
      session.isLocal = true;
      this.#renewed(connection, session);
      return;
    }
    session.connection = connection.ref;
    connection.session = session;
    connection.phase = "creating";
    this.#propagateSession(session, this.#issue(connection, 0, OpCode.CREATE_SESSION, 0));
  }

  /** Makes a session one of the ensemble. */
  #propagateSession(session: Session, sequence: number): void {
    const { timeoutMs, passwordHash } = session;
    assert(passwordHash !== undefined, "whoever makes a session has its password");
    if (this.isLeading) {
      session.owner = this.#config.sid;
      this.#maker.createSession(this.#ownAsker(session, 0, OpCode.CREATE_SESSION, sequence), timeoutMs, passwordHash);
      return;
    }
    this.#flushForwards();
    this.zab.sendToLeader({
      kind: "open-session",
      sequence,
      sessionHigh: session.idHigh,
      sessionLow: session.idLow,
      timeoutMs,
      passwordHash,
    });
  }

  #renewSession(connection: Connection, id: SessionId, password: Readonly<ByteSlice>, timeoutMs: number): void {
    const { bytes, start, end } = password;
    // The hash is computed for an unknown id too: the time an answer takes tells nothing about which ids exist.
    const passwordHash = this.#tools.hashes.sha256(bytes.subarray(start, end)).slice(0, PASSWORD_HASH_BYTES);
    connection.password = copySlice(password);
    const known = this.#sessions.get(id);
    if (known?.isLocal === true || this.#isReadOnly) {
      if (known === undefined || !mayRenew(known, passwordHash)) {
        this.#refuseRenewal(connection);
        return;
      }
      this.#sessions.setTimeout(known, timeoutMs);
      this.#renewed(connection, known);
      return;
    }
    if (!this.isLeading) {
      // The leader alone knows whether the session lives, and who holds it from now on.
      connection.phase = "renewing";
      const sequence = ++this.#revalidationSequence;
      this.#revalidations.set(sequence, { connection, session: id, timeoutMs });
      this.#flushForwards();
      this.zab.sendToLeader({
        kind: "revalidate",
        sequence,
        sessionHigh: sessionIdHigh(id),
        sessionLow: sessionIdLow(id),
        timeoutMs,
        passwordHash,
      });
      return;
    }
    const session = this.#sessions.get(id);
    if (isEnding(session, passwordHash)) {
      connection.phase = "renewing";
      this.#endings.add(id, undefined, () => {
        if (!connection.gone && connection.phase === "renewing") this.#refuseRenewal(connection);
      });
      return;
    }
    if (!mayRenew(session, passwordHash)) {
      this.#refuseOnceConfirmed(connection);
      return;
    }
    session.owner = this.#config.sid;
    this.#sessions.setTimeout(session, timeoutMs);
    this.#renewed(connection, session);
  }

  /** The leader's word on a session whose client came here. */
  #revalidated(sequence: number, isValid: boolean): void {
    const asked = this.#revalidations.get(sequence);
    this.#revalidations.delete(sequence);
    if (asked === undefined) return;
    const { connection } = asked;
    if (connection.gone || connection.phase !== "renewing") return;
    if (!isValid) {
      this.#refuseRenewal(connection);
      return;
    }
    const { session: id, timeoutMs } = asked;
    const session =
      this.#sessions.get(id) ?? this.#sessions.add(id, sessionIdHigh(id), sessionIdLow(id), timeoutMs, this.#nowMs);
    session.timeoutMs = timeoutMs;
    this.#renewed(connection, session);
  }

  #renewed(connection: Connection, session: Session): void {
    const before = session.connection === undefined ? undefined : this.#connections[session.connection];
    if (before !== undefined) this.#close(before);
    const { password } = connection;
    assert(password !== undefined, "a renewal keeps the password until it is answered");
    session.connection = connection.ref;
    session.touchedMs = this.#nowMs;
    connection.session = session;
    connection.password = undefined;
    connection.phase = "open";
    const echo = { bytes: password, start: 0, end: password.length };
    this.#sinks.replies.connected(connection.ref, {
      timeoutMs: session.timeoutMs,
      session: session.id,
      password: echo,
      isReadOnly: this.#isReadOnly,
    });
    this.#answered(connection, OpCode.CREATE_SESSION, -1, this.#visible, this.#nowMs);
    this.#sinks.resume(connection.ref);
  }

  #refuseOnceConfirmed(connection: Connection): void {
    if (this.#config.ensemble === undefined) {
      this.#refuseRenewal(connection);
      return;
    }
    connection.phase = "renewing";
    this.#refusals.add(this.zab.confirm(), undefined, () => {
      if (!connection.gone && connection.phase === "renewing") this.#refuseRenewal(connection);
    });
  }

  #refuseRenewal(connection: Connection): void {
    this.#sinks.replies.connected(connection.ref, {
      timeoutMs: 0,
      session: SESSION_NONE,
      password: NO_PASSWORD,
      isReadOnly: this.#isReadOnly,
    });
    this.#answered(connection, OpCode.CREATE_SESSION, -1, this.#visible, this.#nowMs);
    this.#close(connection);
  }

  /** An auth packet takes effect at once, for requests that follow; its answer keeps its place in the order. */
  #receiveAuth(connection: Connection, request: Request, bytes: Uint8Array, start: number, end: number): boolean {
    if (connection.unanswered > 0) {
      this.#wait(connection, bytes, start, end);
      const granted = this.#authenticate(connection.identities, request);
      // Nothing behind a refused packet may be served; the refusal is said, and the connection closed, when its turn comes.
      if (granted === "refused" || granted === "elsewhere") return false;
      connection.identities = granted;
      return this.#admits(connection);
    }
    this.#answerAuth(connection, request, this.#nowMs);
    connection.identities = connection.answeredAs;
    return connection.phase === "open";
  }

  #answerAuth(connection: Connection, request: Request, receivedMs: number): void {
    const granted = this.#authenticate(connection.answeredAs, request);
    if (granted === "elsewhere") {
      this.counters.authFailures++;
      // An answer would make it give up; it is to look for the ensemble that it means.
      this.#refuseConnection(connection, "other-ensemble");
      return;
    }
    const code = granted === "refused" ? ErrorCode.AUTH_FAILED : ErrorCode.OK;
    this.#sinks.replies.header(connection.ref, request.xid, composeZxid(0, 0), code);
    this.#answered(connection, request.op, request.xid, 0, receivedMs);
    if (granted === "refused") {
      this.counters.authFailures++;
      this.#refuseConnection(connection, "authentication");
    } else {
      connection.answeredAs = granted;
    }
  }

  /** A connection's identities with those that an auth packet adds; one that cannot be read is refused. */
  #authenticate(known: readonly Identity[], request: Request): Granted {
    try {
      this.#tools.requests.body(request);
    } catch {
      return "refused";
    }
    const { data } = request;
    const credentials = request.hasData ? data.bytes.subarray(data.start, data.end) : undefined;
    const added = this.auth.authenticate(sliceText(request.path), credentials, known);
    if (added === "refused" || added === "elsewhere") return added;
    const all = withIdentities(known, added);
    return all.length > this.#config.identityCountMax ? "refused" : all;
  }

  /** A step of the connection's SASL exchange: as with {@link #receiveAuth}, what it brings counts at once, its answer waits its turn. */
  #receiveSasl(connection: Connection, request: Request, bytes: Uint8Array, start: number, end: number): boolean {
    const answer = this.#stepSasl(connection, request);
    if (answer === undefined) {
      this.#refuseConnection(connection, "unreadable-request");
      return false;
    }
    connection.identities = withIdentities(connection.identities, answer.added);
    if (connection.unanswered > 0) {
      connection.saslAnswers.push(answer);
      this.#wait(connection, bytes, start, end);
      return !answer.isLast && this.#admits(connection);
    }
    this.#answerSasl(connection, request.xid, answer, this.#nowMs);
    return connection.phase === "open";
  }

  /** Undefined for a token that cannot be read. */
  #stepSasl(connection: Connection, request: Request): SaslAnswer | undefined {
    try {
      this.#tools.requests.body(request);
    } catch {
      return undefined;
    }
    const { data } = request;
    if (!request.hasData) return undefined;
    connection.sasl ??= this.#tools.sasl?.();
    const step = connection.sasl?.step(data.bytes.subarray(data.start, data.end));
    if (step === undefined) return NO_SASL;
    if (step.kind === "challenge") return { ...NO_SASL, token: step.token };
    if (step.kind === "done") return { ...NO_SASL, token: step.token, added: this.auth.saslIdentities(step.user) };
    this.counters.authFailures++;
    if (this.auth.allowsFailedSasl) return NO_SASL;
    const code = this.auth.requiresSasl ? ErrorCode.SESSION_CLOSED_REQUIRE_SASL_AUTH : ErrorCode.AUTH_FAILED;
    return { ...NO_SASL, code, isLast: true };
  }

  #answerSasl(connection: Connection, xid: number, answer: SaslAnswer, receivedMs: number): void {
    const { code, token, added, isLast } = answer;
    connection.answeredAs = withIdentities(connection.answeredAs, added);
    this.#sinks.replies.token(connection.ref, xid, composeZxid(0, 0), code, token);
    this.#answered(connection, OpCode.SASL, xid, 0, receivedMs);
    if (isLast) this.#refuseConnection(connection, "authentication");
  }

  #wait(connection: Connection, bytes: Uint8Array, start: number, end: number): void {
    connection.waiting ??= new WaitingFrames();
    connection.waiting.push(connection.issued, this.#nowMs, bytes, start, end);
  }

  /** Answers a request that changes nothing here and now. */
  #answer(connection: Connection, request: Request, receivedMs: number): void {
    const { ref } = connection;
    const { op, xid } = request;
    if (op === OpCode.AUTH) {
      this.#answerAuth(connection, request, receivedMs);
      return;
    }
    if (op === OpCode.SASL) {
      const answer = connection.saslAnswers.shift();
      assert(answer !== undefined, "a step of SASL that waits was taken when it came");
      this.#answerSasl(connection, xid, answer, receivedMs);
      return;
    }
    if (op === OpCode.CLOSE_SESSION) {
      this.#closeLocalSession(connection, xid, receivedMs);
      return;
    }
    let isReadable = true;
    try {
      this.#tools.requests.body(request);
      if (isWrite(op)) {
        // Only what a session of this server's own may not do comes here and can be read.
        this.#sinks.replies.header(ref, xid, this.#visible, ErrorCode.EPHEMERAL_ON_LOCAL_SESSION);
      } else this.#reads.answer(connection, request, this.#tools.requests, this.#visible);
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
    if (op !== OpCode.CLOSE_SESSION) {
      try {
        this.#tools.requests.body(request);
      } catch {
        // The refusal has its place behind what came before; no transaction is made of it.
        if (connection.unanswered > 0) this.#wait(connection, bytes, start, end);
        else this.#answer(connection, request, this.#nowMs);
        return;
      }
    }
    if (session.isLocal && !this.#mayLocally(session, request)) {
      if (connection.unanswered > 0) this.#wait(connection, bytes, start, end);
      else this.#answer(connection, request, this.#nowMs);
      return;
    }
    const sequence = this.#issue(connection, xid, op, end - start);
    this.#sinks.asked?.(sequence, connection, request);
    if (op === OpCode.CLOSE_SESSION) session.closing = true;
    if (!this.isLeading) {
      const { ref, identities } = connection;
      if (this.#told.isNews(ref, identities)) {
        this.#flushForwards();
        this.zab.sendToLeader({ kind: "identities", client: ref, identities });
      }
      this.#forwards.add(sequence, session, ref, bytes, start, end);
      return;
    }
    const asker = this.#ownAsker(session, xid, op, sequence);
    if (session.owner !== this.#config.sid && !session.isLocal) this.#maker.refuse(asker, ErrorCode.SESSION_MOVED);
    else if (op === OpCode.CLOSE_SESSION) this.#maker.closeSession(asker);
    else this.#maker.write(asker, connection.identities, request);
  }

  /**
   * Whether a session of this server's own may ask this of the leader. One that needs an ephemeral becomes a session of the ensemble
   * first, where that is allowed: its creation goes ahead, and from this moment on its end is the ensemble's affair too.
   */
  #mayLocally(session: Session, request: Request): boolean {
    if (request.op === OpCode.CLOSE_SESSION) {
      session.closing = true;
      return false;
    }
    if (!this.#isEphemeral(request)) return true;
    if (this.#config.ensemble?.localSessionsUpgrading !== true) return false;
    session.isLocal = false;
    this.#propagateSession(session, this.#gate.put(NO_CONNECTION, 0, OpCode.CREATE_SESSION, this.#nowMs, 0));
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

  #closeLocalSession(connection: Connection, xid: number, receivedMs: number): void {
    const { session } = connection;
    this.#sinks.replies.header(connection.ref, xid, this.#visible, ErrorCode.OK);
    this.#answered(connection, OpCode.CLOSE_SESSION, xid, this.#visible, receivedMs);
    this.#close(connection);
    if (session !== undefined) this.#sessions.remove(session);
  }

  #endLocalSession(session: Session): void {
    const connection = session.connection === undefined ? undefined : this.#connections[session.connection];
    if (connection !== undefined) this.#close(connection);
    this.#sessions.remove(session);
  }

  /** A server without a quorum changes nothing; a session of its own may end, and ends. */
  #refuseReadOnly(connection: Connection, session: Session, { op, xid }: Request): void {
    if (op === OpCode.CLOSE_SESSION) {
      session.closing = true;
      this.#closeLocalSession(connection, xid, this.#nowMs);
      return;
    }
    this.#sinks.replies.header(connection.ref, xid, this.#visible, ErrorCode.NOT_READ_ONLY);
    this.#answered(connection, op, xid, this.#visible, this.#nowMs);
  }

  /**
   * Its answer waits until this server has applied all that was on its way when it came, whoever asked for that, by the word of a quorum.
   * An ensemble of one needs nobody's word.
   */
  #sync(connection: Connection, request: Request, bytes: Uint8Array, start: number, end: number): void {
    const { isLeading } = this;
    const isAlone = this.#config.ensemble === undefined;
    if (isAlone && connection.unanswered === 0 && this.#maker.prepared <= this.#visible) {
      this.#answer(connection, request, this.#nowMs);
      return;
    }
    const sequence = this.#syncs.nextSequence();
    connection.issued++;
    this.#syncs.push({
      sequence,
      connection: connection.ref,
      frame: copyRange(bytes, start, end),
      receivedMs: this.#nowMs,
      round: isLeading && !isAlone ? this.zab.confirm() : 0,
      readAt: isLeading ? this.#maker.prepared : undefined,
      isConfirmed: isAlone,
    });
    if (isLeading) return;
    this.#flushForwards();
    this.zab.sendToLeader({ kind: "sync", sequence });
  }

  #answerSyncs(): void {
    for (;;) {
      const due = this.#syncs.takeDue(this.#visible);
      if (due === undefined) return;
      const connection = this.#connections[due.connection];
      if (connection === undefined) continue;
      if (connection.phase === "open") {
        this.#tools.requests.open(due.frame, 0, due.frame.length, this.#request);
        this.#answer(connection, this.#request, due.receivedMs);
      }
      this.#answeredIssued(connection);
    }
  }

  /** The leader's own decision that a session is over. */
  #endSession(session: Session): void {
    session.closing = true;
    const sequence = this.#gate.put(NO_CONNECTION, 0, OpCode.CLOSE_SESSION, this.#nowMs, 0);
    this.#maker.closeSession(this.#ownAsker(session, 0, OpCode.CLOSE_SESSION, sequence));
  }

  /** Gives a write its place among this server's own. */
  #issue(connection: Connection, xid: number, op: number, sizeBytes: number): number {
    connection.issued++;
    return this.#gate.put(connection.ref, xid, op, this.#nowMs, sizeBytes);
  }

  #ownAsker(session: Session, xid: number, op: number, sequence: number): Asker {
    const asker = this.#asker;
    asker.sessionHigh = session.idHigh;
    asker.sessionLow = session.idLow;
    asker.cxid = xid;
    asker.op = op;
    asker.originSeq = sequence;
    return asker;
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
      // What an earlier role of this server was asked has nobody who waits for it.
      if (gate.take(header.originSeq) && gate.connection !== NO_CONNECTION) {
        connection = this.#connections[gate.connection];
      }
      if (this.#syncs.count > 0) this.#answerSyncs();
    }
    if (header.op === OpCode.MULTI) this.#applyMulti(header, op, connection);
    else this.#applySimple(header, op, connection);
    this.digests.note(zxid, this.tree);
    this.counters.commitCount++;
    if (connection !== undefined) this.#answeredIssued(connection);
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
    const { xid, receivedMs } = this.#gate;
    if (op.op === OpCode.CREATE_SESSION) {
      this.#sessionCreated(connection, op.timeoutMs);
      this.#answered(connection, this.#gate.op, -1, zxid, receivedMs);
      return;
    }
    if (op.op === OpCode.ERROR && op.code === ErrorCode.SESSION_MOVED) {
      // The client is elsewhere: it must not take this for an answer.
      this.#close(connection);
      return;
    }
    this.#answers.answer(connection.ref, xid, zxid, op, node);
    this.#answered(connection, this.#gate.op, xid, zxid, receivedMs);
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
      this.#answers.part(ref, op, node);
    }
    this.tree.finish(header);
    this.#visible = header.zxid;
    if (connection === undefined || ref === undefined) return;
    if (isRefused && op.code === ErrorCode.SESSION_MOVED) {
      this.#close(connection);
      return;
    }
    if (isRefused && op.opCount === 0) {
      replies.header(ref, xid, header.zxid, op.code);
    } else {
      if (!isOpen) replies.multiBegin(ref, xid, header.zxid);
      if (isRefused) this.#answers.refusedParts(ref, op);
      replies.multiEnd(ref);
    }
    this.#answered(connection, OpCode.MULTI, xid, header.zxid, receivedMs);
  }

  #sessionCreated(connection: Connection, timeoutMs: number): void {
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

  #sessionClosed(header: TxnHeader, connection: Connection | undefined): void {
    const session = this.#sessions.get(sessionIdFromHalves(header.sessionHigh, header.sessionLow));
    this.#endings.ended(sessionIdFromHalves(header.sessionHigh, header.sessionLow));
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

  /** A connection's oldest write or sync was answered: what stood behind it may go on. */
  #answeredIssued(connection: Connection): void {
    connection.answered++;
    if (connection.gone) {
      this.#forget(connection);
      return;
    }
    const { waiting } = connection;
    if (waiting !== undefined && waiting.count > 0) waiting.release(connection.answered, this.#releaseTo(connection));
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
      this.zab.isExhausted ||
      batcher.sizeBytes >= this.#config.outstandingBytesMax ||
      batcher.count >= this.#config.outstandingCountMax ||
      this.#gate.count >= this.#config.outstandingCountMax ||
      this.#gate.sizeBytes >= this.#config.outstandingBytesMax
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
    if (isWrite(op)) counters.writes.note(latencyMs);
    else counters.reads.note(latencyMs);
  }
}

const NO_SASL: SaslAnswer = { code: ErrorCode.OK, token: undefined, added: [], isLast: false };

function withIdentities(known: readonly Identity[], added: readonly Identity[]): readonly Identity[] {
  const isNew = (one: Identity): boolean => !known.some((other) => other.scheme === one.scheme && other.id === one.id);
  const more = added.filter(isNew);
  return more.length === 0 ? known : [...known, ...more];
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
    reads: new Tally(),
    writes: new Tally(),
  };
}

function earliest(one: number | undefined, other: number | undefined): number | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return Math.min(one, other);
}

/** createTTL and createContainer never make ephemerals, whatever flags they carry. */
function isEphemeralCreate({ op, flags }: Request): boolean {
  return (op === OpCode.CREATE || op === OpCode.CREATE2) && isEphemeralMode(flags);
}

/** Whether a session lives and this is its password. */
function mayRenew(session: Session | undefined, passwordHash: Uint8Array): session is Session {
  return hasPassword(session, passwordHash) && !session.closing;
}

/** Whether a session's end was decided and is not committed, and this is its password. */
function isEnding(session: Session | undefined, passwordHash: Uint8Array): boolean {
  return hasPassword(session, passwordHash) && session.closing;
}

function hasPassword(session: Session | undefined, passwordHash: Uint8Array): session is Session {
  const expected = session?.passwordHash;
  // Compared in any case, so that the time it takes tells nothing.
  return equalInConstantTime(passwordHash, expected ?? NO_PASSWORD.bytes) && expected !== undefined;
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
