import { DataTree, type WatchSink, type WatchTable } from "@zooid/data-tree";
import {
  assert,
  type ConnectionRef,
  type ConnectRequest,
  type ElectionMessage,
  type LinkRef,
  may,
  OpCode,
  type PeerMessage,
  Permission,
  type ServerId,
  type Zxid,
} from "@zooid/model";
import type { RoleEnd, ZabPeer } from "@zooid/zab";
import { AuthPackets } from "./auth/auth-packets.ts";
import { AuthSchemes } from "./auth/auth-schemes.ts";
import { areWithin } from "./auth/identities.ts";
import type { ReplicaConfig } from "./config.ts";
import { Admission } from "./connections/admission.ts";
import type { Connection } from "./connections/connection.ts";
import { Connections } from "./connections/connections.ts";
import { WatchBudget } from "./connections/watch-budget.ts";
import { Counters, type ReplicaCounters } from "./counters.ts";
import { Delivery } from "./delivery/delivery.ts";
import { DigestHistory } from "./delivery/digest-history.ts";
import { ForwardedRequests } from "./forwarding/forwarded-requests.ts";
import { RequestForwarder } from "./forwarding/request-forwarder.ts";
import { Membership } from "./membership.ts";
import { LocalReads } from "./reads/local-reads.ts";
import { ClientRequests } from "./requests/client-requests.ts";
import { ServingState } from "./serving-state.ts";
import { ClientSessions } from "./sessions/client-sessions.ts";
import type { SessionTable } from "./sessions/session-table.ts";
import type { ReplicaSinks } from "./sinks.ts";
import type { ReplicaTools } from "./tools.ts";
import { OwnWrites } from "./writes/own-writes.ts";
import { QuotaNotes } from "./writes/quota-notes.ts";
import { Reaper } from "./writes/reaper.ts";
import { TxnProposer } from "./writes/txn-proposer.ts";

/** A server without a role serves reads after a tick, and not sooner than this. */
const READ_ONLY_MS_MIN = 2000;
/** More writes than one life of a server sends off. */
const SEQUENCES_OF_A_START = 2 ** 32;

/**
 * One member of the ensemble as a single deterministic machine: connections and their sessions, the order of their requests,
 * prepare, broadcast, apply, watches and answers. It never touches a socket, a disk or a clock: time comes with {@link setTime},
 * frames with {@link receive}, messages with {@link receivePeer}, durability with {@link synced}; what follows from them it tells
 * its sinks, in order.
 *
 * Writes and syncs go to the leader, which may be this server: a learner forwards the frame as it came and answers it when the
 * transaction that became of it is applied here.
 *
 * ```
 *  frames ──▶ ClientRequests ──▶ LocalReads ─────────────────────────────────────────────▶ answers
 *                  │ writes, syncs                                                            ▲
 *                  ├── leading ────▶ TxnProposer ──▶ ZabPeer ──▶ committed ──▶ Delivery ──▶ tree, watches
 *                  └── learning ───▶ RequestForwarder ──▶ the leader's ForwardedRequests ──▶ its TxnProposer
 * ```
 */
export class Replica {
  readonly tree: DataTree;
  readonly watches: WatchTable;
  readonly auth: AuthSchemes;
  readonly membership: Membership;
  readonly zab: ZabPeer;
  readonly counters: ReplicaCounters;
  readonly digests: DigestHistory = new DigestHistory();
  readonly #config: ReplicaConfig;
  readonly #sinks: ReplicaSinks;
  readonly #tools: ReplicaTools;
  readonly #proposer: TxnProposer;
  readonly #reaper: Reaper;
  readonly #servingState: ServingState;
  readonly #counters: Counters;
  readonly #connections: Connections;
  readonly #writes: OwnWrites;
  readonly #admission: Admission;
  readonly #forwarder: RequestForwarder;
  readonly #sessions: ClientSessions;
  readonly #learners: ForwardedRequests;
  readonly #reads: LocalReads;
  readonly #requests: ClientRequests;
  readonly #delivery: Delivery;

  constructor(config: ReplicaConfig, tools: ReplicaTools, sinks: ReplicaSinks) {
    this.#config = config;
    this.#tools = tools;
    this.#sinks = sinks;
    const auth = new AuthSchemes(config.auth, tools.hashes, config);
    const tree = new DataTree({ hashKey: config.hashKey });
    const { watches } = tree;
    const quotaNotes = new QuotaNotes((event) => sinks.note(event));
    const proposer = new TxnProposer(tree, auth, config, tools, (excess, refused) => {
      quotaNotes.tell(excess, this.nowMs);
      if (refused !== undefined) counters.quotaExceeded(refused);
    });
    this.auth = auth;
    this.tree = tree;
    this.watches = watches;
    this.#proposer = proposer;
    this.#reaper = new Reaper(config.reaping, tree, config.tickMs, (event) => sinks.note(event));
    this.membership = this.#newMembership();
    this.zab = this.membership.zab;
    const { zab } = this;
    const servingState = new ServingState(zab);
    const counters = new Counters(servingState);
    const connections = new Connections(watches, sinks);
    const writes = new OwnWrites(config.sid, servingState);
    const { gate } = writes;
    const forwarder = new RequestForwarder(zab);
    const packets = new AuthPackets({ config, tools, sinks, auth, connections, counters });
    const notifications: WatchSink = {
      mayRead: (ref, acl) => {
        const connection = connections.get(ref);
        return connection !== undefined && may(auth.rules, connection.identities, acl, Permission.READ);
      },
      event: (ref, zxid, type, path) => sinks.replies.event(ref, zxid, type, path),
    };
    const reads = new LocalReads(tree, auth, sinks.replies, notifications, config);
    const watchBudget = new WatchBudget(watches, connections, config);
    const admission = new Admission(config, { zab, batcher: tools.batcher, gate, proposer }, (ref) =>
      sinks.resume(ref),
    );
    const shared = { config, tools, sinks, zab, servingState, connections, counters, writes, proposer, forwarder };
    const sessions = new ClientSessions({ ...shared, tree });
    const requests = new ClientRequests({ ...shared, watchBudget, auth, admission, packets, reads, sessions });
    this.counters = counters.values;
    this.#servingState = servingState;
    this.#counters = counters;
    this.#connections = connections;
    this.#writes = writes;
    this.#admission = admission;
    this.#forwarder = forwarder;
    this.#sessions = sessions;
    this.#reads = reads;
    this.#requests = requests;
    this.#learners = new ForwardedRequests({
      ...{ requests: tools.requests, links: sinks.links, forwardOpCountPerTurn: config.forwardOpCountPerTurn },
      ...{ zab, servingState, sessions, proposer, identityLimits: config },
    });
    this.#delivery = new Delivery({
      ...{ sid: config.sid, applyWorkPerTurn: config.applyWorkPerTurn, txns: tools.txns, notifications },
      ...{ sinks, tree, digests: this.digests },
      ...{ servingState, connections, counters, gate, sessions, requests },
    });
  }

  /** The broadcast calls back when the rest of this machine is there: nothing is on its way before the first input. */
  #newMembership(): Membership {
    const sinks = this.#sinks;
    return new Membership(
      this.#config,
      this.#tools.random,
      {
        log: sinks.log,
        links: sinks.links,
        snapshots: sinks.snapshots,
        application: {
          deliver: (zxid, bytes, start, end) => this.#delivery.deliver(zxid, bytes, start, end),
          release: (batch) => this.#tools.batcher.recycle(batch),
          applied: () => this.tree.applied,
          install: () => sinks.install(),
        },
        roles: {
          serve: (epoch) => this.#serve(epoch),
          left: (reason) => this.#left(reason),
          note: (event) => sinks.note(event),
        },
        requests: {
          message: (link, sid, message) => this.#receiveRequest(link, sid, message),
          learnerLost: (link) => this.#learners.lost(link),
          leadershipConfirmed: (check) => this.#confirmed(check),
          touches: () => this.#sessions.takeTouches(),
          touched: (touches) => this.#sessions.touched(touches),
        },
      },
      { elect: (to, message) => sinks.elect(to, message), roleChanged: () => sinks.roleChanged() },
    );
  }

  /** Whether clients are served: this server leads, follows or observes, and is level with what its epoch began with. */
  get isServing(): boolean {
    return this.#servingState.isServing;
  }

  /** Whether this server decides over writes and sessions. */
  get isLeading(): boolean {
    return this.#servingState.isLeading;
  }

  /** The zxid that reads are answered with: what was applied last, or the beginning of this epoch. */
  get visibleZxid(): Zxid {
    return this.#servingState.visible;
  }

  get connectionCount(): number {
    return this.#connections.count;
  }

  /** At the leader every session, elsewhere those whose clients are connected here. */
  get sessions(): SessionTable {
    return this.#sessions.table;
  }

  /** Sessions that this server alone knows. */
  get localSessionCount(): number {
    return this.#sessions.localCount;
  }

  /** Whether reads are served to those who asked for it, since there is no quorum. */
  get isReadOnly(): boolean {
    return this.#servingState.isReadOnly;
  }

  /** Own requests that are read and not answered. */
  get outstandingCount(): number {
    return this.#writes.gate.count;
  }

  /** Syncs of clients and learners that are not answered yet. */
  get pendingSyncCount(): number {
    return this.#requests.syncCount + this.#learners.syncCount;
  }

  get nowMs(): number {
    return this.#servingState.nowMs;
  }

  /** What requests have cost so far beside their number, in units of about a microsecond: for a driver that shares its time fairly. */
  get workCount(): number {
    return this.#reads.workCount + this.#proposer.opCount;
  }

  resetCounters(): void {
    this.#counters.reset();
  }

  connection(ref: ConnectionRef): Connection | undefined {
    return this.#connections.get(ref);
  }

  connections(): IterableIterator<Connection> {
    return this.#connections[Symbol.iterator]();
  }

  /**
   * Notes the time, once a turn.
   *
   * @param nowMs a monotonic clock: sessions live by it
   * @param wallMs the wall clock: only ever stored (ctime, mtime), and never going back within an epoch
   */
  setTime(nowMs: number, wallMs: number): void {
    this.#servingState.setTime(nowMs, wallMs);
    this.#proposer.setWallTime(wallMs);
    this.membership.setTime(nowMs);
    this.#learners.beginTurn();
  }

  // Roles

  /** Applies one entry of the log at start, before {@link lead} or {@link join}; nobody is answered. */
  replay(zxid: Zxid, bytes: Uint8Array, start: number, end: number): void {
    this.#proposer.setWallTime(this.#delivery.replay(zxid, bytes, start, end));
  }

  /**
   * Begins to serve as an ensemble of one, in an epoch whose promise is durable. Every known session lives its full timeout again.
   *
   * @param bootCount makes session ids differ from those of every earlier start
   */
  lead(epoch: number, bootCount: number): void {
    this.#sessions.startAlone(bootCount);
    this.zab.leadAlone(epoch);
  }

  /** Begins to look for its place in the ensemble. */
  join(bootCount: number): void {
    // A server that lost its disk counts its starts anew, so chance has a part in what must not come twice: numbers of requests, and
    // sessions' ids.
    const offset = Math.floor(this.#tools.random() * (SEQUENCES_OF_A_START / 2));
    this.#writes.gate.startAt(bootCount * SEQUENCES_OF_A_START + offset);
    this.#sessions.startAmongOthers(bootCount);
    this.zab.flush();
  }

  #serve(epoch: number): void {
    // rule: read-only-clients-are-disconnected
    if (this.#servingState.isReadOnly) this.#connections.disconnectAll();
    this.#servingState.serve(epoch, this.tree.applied);
    this.#sessions.serve();
    this.#showConfiguration();
    if (this.zab.state === "leading") {
      this.#proposer.beginEpoch(epoch);
      this.#reaper.begin(this.#servingState.nowMs, this.#servingState.wallMs);
      this.#sessions.takeOver();
    }
    this.membership.established(epoch);
  }

  /** Each server shows its own: the node is dated by when this server took its role. */
  #showConfiguration(): void {
    const { configuration } = this.#config.ensemble ?? {};
    if (configuration !== undefined) this.tree.showConfiguration(configuration, this.#servingState.wallMs);
  }

  /** The role has ended: what was asked in it has no answer any more, so its clients are let go. */
  #left(reason: RoleEnd): void {
    this.#delivery.complete();
    this.#sinks.note(reason);
    this.#servingState.left();
    // rule: clients-are-disconnected-with-the-role
    this.#connections.disconnectAll();
    this.#writes.gate.clear();
    this.#proposer.discard();
    this.#requests.clear();
    this.#forwarder.clear();
    this.#learners.clear();
    this.#admission.clear();
    this.#sessions.left();
    this.#sinks.roleChanged();
  }

  /** When a server without a role begins to serve reads to those who ask for it. */
  #readOnlyDueMs(): number | undefined {
    const { looksSinceMs } = this.membership;
    if (this.#config.ensemble?.readOnlyMode !== true || this.isReadOnly || looksSinceMs === undefined) return undefined;
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
    if (readOnlyDueMs !== undefined && readOnlyDueMs <= this.nowMs) {
      this.#servingState.serveReadOnly(this.tree.applied);
      this.#showConfiguration();
      this.#sinks.note({ kind: "read-only-service" });
      this.#sinks.roleChanged();
    }
    if (this.zab.isExhausted && this.zab.outstandingCount === 0 && !this.hasPrepared) {
      this.zab.resign({ kind: "counter-used-up" });
    }
    this.#connections.clear();
    this.#requests.goOn();
    if (!this.isLeading) return;
    this.#prepare();
    if (this.isPreparing) return;
    this.#learners.goOn();
    this.#sessions.proposeEnds();
    if (!this.isPreparing) this.#reap();
  }

  /** Prepares more of a multi that is prepared in part, and of what waits behind it. */
  #prepare(): void {
    if (!this.isPreparing) return;
    this.#proposer.goOn();
    if (!this.isPreparing) this.#admission.committed();
  }

  /** Whether an earlier turn left something for this one. */
  get #hasLeftOvers(): boolean {
    return (
      this.#connections.isClearing ||
      this.isPreparing ||
      (this.#requests.hasUnfinished && !this.#servingState.isApplying) ||
      this.#learners.hasBacklog ||
      this.#sessions.hasEnds
    );
  }

  /** Proposes the end of containers and TTL nodes that nobody needs any more, unless clients' own writes have to wait already. */
  #reap(): void {
    const { nowMs, wallMs } = this.#servingState;
    if (this.#admission.isFull) {
      this.#reaper.postpone(nowMs);
      return;
    }
    this.#reaper.step(nowMs, wallMs, (node) => {
      const op = OpCode.DELETE_CONTAINER;
      this.#proposer.reap(this.#writes.requester(undefined, 0, op, this.#writes.issueForNobody(op)), node);
    });
  }

  /** When {@link tick} has something to do; undefined when never. */
  nextTickMs(): number | undefined {
    if (this.#hasLeftOvers) return this.nowMs;
    // Of others nothing is due where there are none.
    const othersDueMs = this.#config.ensemble === undefined ? undefined : this.membership.nextDueMs();
    const reaperDueMs = this.isLeading ? this.#reaper.nextDueMs() : undefined;
    return earliest(earliest(othersDueMs, this.#readOnlyDueMs()), reaperDueMs);
  }

  /** The end of a turn: what is on its way to others leaves in one piece each. */
  flush(): void {
    this.#forwarder.flush();
    this.zab.flush();
  }

  /** A message about requests: at the leader one that a learner's client asked, at a learner the leader's answer. */
  #receiveRequest(link: LinkRef, sid: ServerId, message: PeerMessage): void {
    switch (message.kind) {
      case "identities":
      case "forward":
      case "open-session":
      case "revalidate":
      case "sync":
        this.#learners.receive(link, sid, message);
        return;
      case "revalidated":
        this.#sessions.revalidated(message.sequence, message.isValid);
        return;
      case "sync-reply":
        this.#requests.syncReplied(message.sequence, message.readAt);
        return;
      default:
        assert(false, `${message.kind} is the broadcast's own business`);
    }
  }

  /** A quorum has said that this server still led when a round began. */
  #confirmed(round: number): void {
    this.#learners.confirmed(round);
    this.#sessions.refusals.confirmed(round);
    this.#requests.confirmed(round);
  }

  // Clients

  /**
   * A client connected. The number it gets names it in every call until {@link disconnect}.
   *
   * @param certificateSubject whom a certificate names that was found good
   */
  accept(address: string, certificateSubject?: string): ConnectionRef {
    let certified = certificateSubject === undefined ? [] : this.auth.certificateIdentities(certificateSubject);
    if (!areWithin(this.#config, certified)) {
      certified = [];
      this.#sinks.note({ kind: "long-certificate-subject", address, bytesMax: this.#config.identityBytesMax });
    }
    return this.#connections.add(address, certified);
  }

  /** The socket is gone. The session is not: it lives until it times out or is renewed. */
  disconnect(ref: ConnectionRef): void {
    this.#connections.disconnect(ref);
  }

  /**
   * Takes a client's first frame.
   *
   * @param secret 16 random bytes, the password if a session is created, and two more that make its id hard to guess
   */
  connect(ref: ConnectionRef, request: ConnectRequest, secret: Uint8Array): void {
    const connection = this.#connections.get(ref);
    assert(connection !== undefined && connection.phase === "new", "a connection sends one connect request, first");
    this.#counters.received(connection);
    this.#sessions.connect(connection, request, secret);
  }

  /**
   * Takes one frame of an open connection. The bytes are read during the call only.
   *
   * @returns false when no more may be read for now; `resume` tells when it may
   */
  receive(ref: ConnectionRef, bytes: Uint8Array, start: number, end: number): boolean {
    return this.#requests.receive(ref, bytes, start, end);
  }

  /** Proposes what was prepared since the last call: one batch. While a multi {@link isPreparing} nothing is proposed. */
  propose(): void {
    if (this.#tools.batcher.count > 0 && !this.isPreparing) this.zab.propose(this.#tools.batcher.take());
  }

  /** Whether anything was prepared, or is being prepared, that {@link propose} proposes. */
  get hasPrepared(): boolean {
    return this.#tools.batcher.count > 0 || this.isPreparing;
  }

  /** Whether a multi is prepared in part: {@link tick} goes on with it. */
  get isPreparing(): boolean {
    return this.#proposer.isPreparing;
  }

  /** Everything up to a zxid, appended in a role generation, is durable here. */
  synced(generation: number, zxid: Zxid): void {
    this.zab.synced(generation, zxid);
  }

  /**
   * Applies what is committed, answers it, and lets what waited behind it go on; not while a multi {@link isPreparing}.
   *
   * @returns whether more is due: reads get their turn first
   */
  deliver(most: number): boolean {
    // When a later part is refused, what the multi found is put back as it was, so nothing is applied meanwhile.
    if (this.isPreparing) return false;
    // What one transaction needs may take several calls.
    const more = !this.#delivery.resume() || this.zab.deliver(most) || this.#delivery.isSpent;
    const hasSyncs = this.#requests.answerSyncs();
    this.#admission.committed();
    return more || hasSyncs;
  }

  /** Whether a transaction is applied in part: the tree, its digest and `applied` do not belong together now. */
  get isApplying(): boolean {
    return this.#servingState.isApplying;
  }

  /** Ends the sessions of at most one due bucket. */
  expireSessions(): void {
    this.#sessions.expire();
  }

  /** When {@link expireSessions} has anything to do next; undefined when there are no sessions. */
  nextExpiryMs(): number | undefined {
    return this.#sessions.table.nextBorderMs();
  }
}

function earliest(one: number | undefined, other: number | undefined): number | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return Math.min(one, other);
}
