import type { DataTree, WatchTable } from "@zooid/data-tree";
import {
  assert,
  type ChangeRequest,
  type ClientShare,
  type ConnectionRef,
  type ConnectRequest,
  type DiskRoom,
  type ElectionMessage,
  ErrorCode,
  type HistoryAnswer,
  type LinkRef,
  type PeerMessage,
  type ServerId,
  type SessionId,
  type Zxid,
} from "@zooid/model";
import type { ZabPeer } from "@zooid/zab";
import type { AuthSchemes } from "./auth/auth-schemes.ts";
import { areWithin } from "./auth/identities.ts";
import type { ReplicaConfig, ReplicaLimits } from "./config.ts";
import type { Connection } from "./connections/connection.ts";
import type { ReplicaCounters } from "./counters.ts";
import type { DigestHistory } from "./delivery/digest-history.ts";
import type { FollowedTransactions } from "./delivery/followed-transactions.ts";
import type { Membership } from "./membership.ts";
import { ReplicaParts } from "./parts/replica-parts.ts";
import type { SessionEnding } from "./sessions/session-ends.ts";
import type { SessionTracker } from "./sessions/session-tracker.ts";
import type { ReplicaSinks } from "./sinks.ts";
import type { ReplicaTools } from "./tools.ts";
import type { LevelStatus, RaiseAnswer } from "./writes/feature-level.ts";
import type { ClosingAnswer, OpeningAnswer } from "./writes/member-changes.ts";

/**
 * One member of the ensemble as a single deterministic machine: connections and their sessions, the
 * order of their requests, prepare, broadcast, apply, watches and answers. It never touches a
 * socket, a disk or a clock: time comes with {@link setTime}, frames with {@link request}, messages
 * with {@link receivePeer}, durability with {@link synced}; it calls its sinks, in order.
 *
 * Writes and syncs go to the leader, which may be this server: a learner forwards the frame as it
 * came, and answers it when its transaction is applied here.
 *
 * ```
 *  frames ──▶ ClientRequests ──▶ LocalReads ───────────────────────────────────────────────▶ answers
 *                  │ writes                                                                    ▲
 *             ClientWrites ── leading ──▶ TxnProposer ──▶ ZabPeer ────────▶ CommitProcessor ──▶ tree, watches
 *                  └──── learning ──▶ RequestForwarder ──▶ the leader's ForwardedRequests ──▶ its TxnProposer
 * ```
 *
 * The parts are made in `replica-parts.ts`; this class is what a driver calls.
 */
export class Replica {
  readonly tree: DataTree;
  readonly watches: WatchTable;
  readonly auth: AuthSchemes;
  readonly membership: Membership;
  readonly zab: ZabPeer;
  readonly digests: DigestHistory;
  readonly #parts: ReplicaParts;

  constructor(config: ReplicaConfig, tools: ReplicaTools, sinks: ReplicaSinks) {
    const parts = new ReplicaParts(config, tools, sinks);
    this.#parts = parts;
    this.tree = parts.tree;
    this.watches = parts.tree.watches;
    this.auth = parts.auth;
    this.membership = parts.membership;
    this.zab = parts.zab;
    this.digests = parts.digests;
  }

  // State

  /** Whether clients are served: this server leads, follows or observes, and is synchronized. */
  get isServing(): boolean {
    return this.#parts.servingState.isServing;
  }

  /** Whether this server decides over writes and sessions. */
  get isLeading(): boolean {
    return this.#parts.servingState.isLeading;
  }

  /** Whether reads are served without a quorum, to clients that accept read-only service. */
  get isReadOnly(): boolean {
    return this.#parts.servingState.isReadOnly;
  }

  /**
   * The zxid in the answers to reads: of the last applied transaction, or the start of this epoch.
   */
  get visibleZxid(): Zxid {
    return this.#parts.servingState.visible;
  }

  /**
   * Whether a transaction is applied in part: the tree, its digest and `applied` do not match now.
   */
  get isApplying(): boolean {
    return this.#parts.servingState.isApplying;
  }

  get nowMs(): number {
    return this.#parts.servingState.nowMs;
  }

  /** At the leader every session, elsewhere those whose clients are connected here. */
  get sessions(): SessionTracker {
    return this.#parts.sessions.tracker;
  }

  /** Sessions that only this server knows. */
  get localSessionCount(): number {
    return this.#parts.sessions.localCount;
  }

  /** This server's own writes that are not answered. */
  get outstandingCount(): number {
    return this.#parts.inFlightWrites.count;
  }

  /** Whether there is no room for further writes of any connection. */
  get isFull(): boolean {
    return this.#parts.admission.isFull;
  }

  /** Syncs of clients and learners that are not answered. */
  get pendingSyncCount(): number {
    return this.#parts.syncs.count + this.#parts.forwarded.syncCount;
  }

  /**
   * Renewals of sessions, of this server's clients and at the leader of learners' too, that are not
   * answered.
   */
  get waitingRenewalCount(): number {
    const { sessionRenewal, endingSessions, unconfirmedRefusals } = this.#parts;
    return sessionRenewal.waitingCount + endingSessions.count + unconfirmedRefusals.count;
  }

  /**
   * The cost of requests so far beside their number, in units of about a microsecond: for a driver
   * that shares its time fairly.
   */
  get workCount(): number {
    return this.#parts.requestWork.count + this.#parts.proposer.opCount;
  }

  /** The counts since start, or since {@link resetCounters}. */
  get counters(): ReplicaCounters {
    return this.#parts.counters.values;
  }

  resetCounters(): void {
    this.#parts.counters.reset();
  }

  /** Writes and syncs of a connection that are not answered yet. */
  unansweredOf(ref: ConnectionRef): number {
    return this.#parts.connections.get(ref)?.unanswered ?? 0;
  }

  get connectionCount(): number {
    return this.#parts.connections.count;
  }

  connection(ref: ConnectionRef): Connection | undefined {
    return this.#parts.connections.get(ref);
  }

  connections(): IterableIterator<Connection> {
    return this.#parts.connections[Symbol.iterator]();
  }

  /** The history has been read for a question, see `ReplicaTools.history`. */
  historyRead(serial: number, answer: HistoryAnswer): void {
    this.#parts.historyRequests.read(serial, answer);
  }

  // Time

  /**
   * Sets the time, once a turn.
   *
   * @param nowMs a monotonic clock: sessions live by it
   * @param wallMs the wall clock: only ever stored (ctime, mtime); within an epoch it never goes
   *   back
   */
  setTime(nowMs: number, wallMs: number): void {
    const { servingState, proposer, membership, forwarded } = this.#parts;
    servingState.setTime(nowMs, wallMs);
    proposer.setWallTime(wallMs);
    membership.setTime(nowMs);
    if (forwarded.spent > 0) forwarded.beginTurn();
  }

  /** The room on this server's disk has changed; at the start there is enough. */
  setRoom(room: DiskRoom): void {
    this.zab.setRoom(room);
  }

  /**
   * Other limits from the next request on. What clients have beyond a lower limit stays: sessions
   * keep their timeouts, and watches give way with the next one that is set.
   */
  changeLimits(limits: Readonly<Partial<ReplicaLimits>>): void {
    const { config, counters, proposer } = this.#parts;
    Object.assign(config, limits);
    counters.thresholdChanged();
    proposer.limitsChanged();
  }

  /** Does what is due by time. */
  tick(): void {
    this.#parts.dueWork.run();
  }

  /**
   * Whether a turn may have left work for {@link tick}: never false where one has, true until
   * {@link nextTickMs} finds that none is left.
   */
  get hasPostponed(): boolean {
    return this.#parts.postponed.isMarked;
  }

  /** When {@link tick} has something to do; undefined when never. */
  nextTickMs(): number | undefined {
    return this.#parts.dueWork.nextDueMs();
  }

  /** Ends the sessions of at most one due bucket. */
  expireSessions(): void {
    this.#parts.sessionEnds.expire();
  }

  /** Ends one session before its timeout, for an operator. */
  endSession(id: SessionId): SessionEnding {
    return this.#parts.sessionEnds.endNow(id);
  }

  /** When {@link expireSessions} has anything to do next; undefined when there are no sessions. */
  nextExpiryMs(): number | undefined {
    return this.#parts.sessions.tracker.nextBorderMs();
  }

  // Start

  /** Applies one entry of the log at start, before {@link lead} or {@link join}. */
  replay(zxid: Zxid, bytes: Uint8Array, start: number, end: number): void {
    this.#parts.proposer.setWallTime(this.#parts.commitProcessor.replay(zxid, bytes, start, end));
  }

  /**
   * Serves as an ensemble of one, in an epoch whose promise is durable. Every known session lives
   * its full timeout again.
   *
   * @param bootCount makes session ids differ from those of every earlier start
   */
  lead(epoch: number, bootCount: number): void {
    this.#parts.roles.leadAlone(epoch, bootCount);
  }

  /** Begins to look for a role in the ensemble. */
  join(bootCount: number): void {
    this.#parts.roles.join(bootCount);
  }

  /** The transactions of another system's ensemble, in place of {@link lead} or {@link join}. */
  get followed(): FollowedTransactions {
    return this.#parts.followed;
  }

  /**
   * A change of the ensemble's configuration that this server's operator asks for. Only at the
   * leader.
   *
   * @returns OK if it is proposed; else why not
   */
  reconfigure(change: ChangeRequest): ErrorCode {
    const { servingState, proposer } = this.#parts;
    return servingState.isLeading ? proposer.reconfigure(change) : ErrorCode.OPERATION_TIMEOUT;
  }

  /**
   * This server's operator opens the ensemble to clients. They are served once the entry is
   * committed: see `zab.members.areClientsClosed`.
   */
  openClients(): OpeningAnswer {
    const { servingState, proposer } = this.#parts;
    return servingState.isLeading ? proposer.openClients() : "not-leading";
  }

  /**
   * This server's operator closes the ensemble to clients. Once the entry is committed, the epoch
   * ends, and no server serves clients in the next one; sessions stay, and none expires.
   */
  closeClients(): ClosingAnswer {
    const { servingState, proposer } = this.#parts;
    return servingState.isLeading ? proposer.closeClients() : "not-leading";
  }

  /** The feature level, and what keeps it from being raised; undefined unless this server leads. */
  levelStatus(): LevelStatus | undefined {
    return this.#parts.featureLevel.status();
  }

  /** The answer that {@link raiseLevel} would give now; `proposed`: it would be proposed. */
  mayRaiseLevel(): RaiseAnswer {
    return this.#parts.featureLevel.mayRaise();
  }

  /**
   * This server's operator raises the feature level to the highest one that each member knows. It
   * is in force once the entry is committed: see `zab.level`.
   */
  raiseLevel(): RaiseAnswer {
    return this.#parts.proposer.raiseLevel();
  }

  // Other servers

  /** A message arrived on a link between leader and learner. */
  receivePeer(link: LinkRef, message: PeerMessage): void {
    this.zab.onMessage(link, message);
  }

  receiveElection(from: ServerId, message: ElectionMessage): void {
    this.membership.receiveElection(from, message);
  }

  // Clients

  /**
   * A client connected. Its number names it in every call until {@link disconnect}.
   *
   * @param certificateSubject of the client's certificate, if it has a valid one
   */
  accept(address: string, certificateSubject?: string): ConnectionRef {
    const { auth, config, connections, sinks } = this.#parts;
    let certified = certificateSubject === undefined ? [] : auth.certificateIdentities(certificateSubject);
    if (!areWithin(config, certified)) {
      certified = [];
      sinks.note({ kind: "long-certificate-subject", address, bytesMax: config.identityBytesMax });
    }
    return connections.add(address, certified);
  }

  /** The share of budgets that an accepted connection counts towards. */
  shareOf(ref: ConnectionRef): ClientShare {
    const { share, isProxied } = this.#parts.connections.get(ref) ?? { share: "", isProxied: false };
    return { share, isProxied };
  }

  /** The socket is gone. The session lives until it expires or is renewed. */
  disconnect(ref: ConnectionRef): void {
    const { connections, sessions } = this.#parts;
    const session = connections.get(ref)?.session;
    connections.disconnect(ref);
    // The close of a local session waits for the client's writes before it. It ends here, where the
    // client does not wait for that: no transaction and no expiry would end it.
    if (session?.isLocal === true && session.closing) sessions.tracker.remove(session);
  }

  /**
   * Takes a client's first frame.
   *
   * @param secret 16 random bytes, the password of a created session, and two more that make its id
   *   hard to guess
   */
  connect(ref: ConnectionRef, request: ConnectRequest, secret: Uint8Array): void {
    const { connections, counters, connectRequests } = this.#parts;
    const connection = connections.get(ref);
    assert(connection !== undefined && connection.phase === "new", "a connection sends one connect request, first");
    counters.received(connection);
    connectRequests.receive(connection, request, secret);
  }

  /**
   * Takes one frame of an open connection. The bytes are read during the call only.
   *
   * @returns false when no more may be read for now; `resume` is called when it may
   */
  request(ref: ConnectionRef, bytes: Uint8Array, start: number, end: number): boolean {
    return this.#parts.requests.receive(ref, bytes, start, end);
  }

  // Writes

  /**
   * Proposes what was prepared since the last call as one batch; nothing while {@link isPreparing},
   * and nothing while the leadership is handed over.
   */
  propose(): void {
    const { batcher } = this.#parts.tools;
    if (batcher.count === 0 || this.isPreparing || this.#parts.automaticTransfer.isUnderWay) return;
    this.zab.propose(batcher.take());
  }

  /** Bytes of the entries that {@link propose} has to propose. */
  get preparedBytes(): number {
    return this.#parts.tools.batcher.sizeBytes;
  }

  /** Whether {@link propose} has something to propose, or will have. */
  get hasPrepared(): boolean {
    const { tools, automaticTransfer } = this.#parts;
    return (tools.batcher.count > 0 && !automaticTransfer.isUnderWay) || this.isPreparing;
  }

  /** Whether a multi is prepared in part: {@link tick} prepares more of it. */
  get isPreparing(): boolean {
    return this.#parts.proposer.isPreparing;
  }

  /** Everything up to a zxid, appended in a role generation, is durable here. */
  synced(generation: number, zxid: Zxid): void {
    this.zab.synced(generation, zxid);
    this.#parts.slowRequests.durable(zxid);
  }

  /**
   * Applies committed transactions, answers them and what waits behind them; nothing while
   * {@link isPreparing}.
   *
   * @returns whether more is due: reads get their turn first
   */
  deliver(most: number): boolean {
    const { syncs, admission } = this.#parts;
    // If a later part of the multi is refused, the pending changes are put back as they were:
    // nothing is applied meanwhile.
    // rule: nothing-is-applied-beside-an-open-multi
    if (this.isPreparing) return false;
    const more = this.#takeCommitted(most);
    const hasSyncs = syncs.answerDue();
    admission.committed();
    return more || hasSyncs;
  }

  /** A transaction may take several calls. @returns whether more is due */
  #takeCommitted(most: number): boolean {
    const { commitProcessor } = this.#parts;
    if (!commitProcessor.resume()) return true;
    const entries = this.zab.takeCommitted();
    let left = most;
    while (left > 0 && entries.next()) {
      left--;
      if (!commitProcessor.deliver(entries)) break;
    }
    this.zab.applied();
    return entries.hasMore || commitProcessor.isSpent;
  }

  /** The end of a turn: sends what was gathered for other servers, in one message each. */
  flush(): void {
    const { forwarder, slowRequests } = this.#parts;
    if (forwarder.hasWaiting) forwarder.flush();
    this.zab.flush();
    slowRequests.look();
  }
}
