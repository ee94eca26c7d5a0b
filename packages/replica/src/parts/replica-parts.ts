import { DataTree } from "@zooid/data-tree";
import { type ByteSlice, ClientShares, emptySlice, newRequest, type Request } from "@zooid/model";
import type { ZabPeer } from "@zooid/zab";
import { AuthPackets } from "../auth/auth-packets.ts";
import { AuthSchemes } from "../auth/auth-schemes.ts";
import { AutomaticTransfer } from "../automatic-transfer.ts";
import type { ReplicaConfig } from "../config.ts";
import { Admission } from "../connections/admission.ts";
import { Connections } from "../connections/connections.ts";
import { WatchBudget } from "../connections/watch-budget.ts";
import { Counters } from "../counters.ts";
import { CommitProcessor } from "../delivery/commit-processor.ts";
import { DigestHistory } from "../delivery/digest-history.ts";
import { FollowedTransactions } from "../delivery/followed-transactions.ts";
import { WatchNotifications } from "../delivery/watch-notifications.ts";
import { DueWork } from "../due-work.ts";
import { ForwardedRequests } from "../forwarding/forwarded-requests.ts";
import { RequestForwarder } from "../forwarding/request-forwarder.ts";
import { Membership } from "../membership.ts";
import { LocalReads } from "../reads/local-reads.ts";
import { RequestWork } from "../reads/request-work.ts";
import { WatchRequests } from "../reads/watch-requests.ts";
import { ClientRequests } from "../requests/client-requests.ts";
import { ClientSyncs } from "../requests/client-syncs.ts";
import { ClientWrites } from "../requests/client-writes.ts";
import { HistoryRequests } from "../requests/history-requests.ts";
import { SetWatches } from "../requests/set-watches.ts";
import { WaitingRequests } from "../requests/waiting-requests.ts";
import { RoleChanges } from "../role-changes.ts";
import { ServingState } from "../serving-state.ts";
import { ConnectRequests } from "../sessions/connect-requests.ts";
import { EndingSessions } from "../sessions/ending-sessions.ts";
import { SessionCreation } from "../sessions/session-creation.ts";
import { SessionEnds } from "../sessions/session-ends.ts";
import { SessionRenewal } from "../sessions/session-renewal.ts";
import { Sessions } from "../sessions/sessions.ts";
import { UnconfirmedRefusals } from "../sessions/unconfirmed-refusals.ts";
import type { ReplicaSinks } from "../sinks.ts";
import { SlowRequests } from "../slow-requests.ts";
import type { ReplicaTools } from "../tools.ts";
import { FeatureLevel } from "../writes/feature-level.ts";
import { InFlightWrites } from "../writes/in-flight-writes.ts";
import { LoggedChanges } from "../writes/logged-changes.ts";
import { MemberChanges } from "../writes/member-changes.ts";
import { QuotaNotes } from "../writes/quota-notes.ts";
import { Reaper } from "../writes/reaper.ts";
import { TxnProposer } from "../writes/txn-proposer.ts";
import { WriteShares } from "../writes/write-shares.ts";
import { zabSinksOf } from "../zab-sinks.ts";
import { PostponedWork } from "./postponed-work.ts";
import type { RoleParts } from "./roles.ts";

/**
 * The parts of one replica, made here and nowhere else. A part keeps this object and finds the
 * others in it when it is called; its constructor may use only those that are made before it.
 */
export class ReplicaParts implements RoleParts {
  /** A copy of what the replica was made with; {@link changeLimits} alone writes it. */
  readonly config: ReplicaConfig;
  readonly tools: ReplicaTools;
  readonly sinks: ReplicaSinks;
  readonly auth: AuthSchemes;
  readonly tree: DataTree;
  readonly membership: Membership;
  readonly zab: ZabPeer;
  readonly servingState: ServingState;
  readonly roles: RoleChanges;
  readonly dueWork: DueWork;
  readonly postponed: PostponedWork = new PostponedWork();
  readonly slowRequests: SlowRequests;
  readonly counters: Counters;

  readonly automaticTransfer: AutomaticTransfer;
  readonly clientShares: ClientShares;
  readonly connections: Connections;
  readonly admission: Admission;
  readonly watchBudget: WatchBudget;

  /** Every request of a client is decoded into it: one is handled at a time. */
  readonly request: Request = newRequest();
  /** The frame of the request. It is valid during the call; a request that waits copies it. */
  readonly frame: ByteSlice = emptySlice();
  readonly requests: ClientRequests;
  readonly clientWrites: ClientWrites;
  readonly syncs: ClientSyncs;
  readonly waiting: WaitingRequests;
  readonly setWatches: SetWatches;
  readonly historyRequests: HistoryRequests;
  readonly authPackets: AuthPackets;
  readonly requestWork: RequestWork = new RequestWork();
  readonly reads: LocalReads;
  readonly watchRequests: WatchRequests;

  readonly sessions: Sessions;
  readonly connectRequests: ConnectRequests;
  readonly sessionCreation: SessionCreation;
  readonly sessionRenewal: SessionRenewal;
  readonly sessionEnds: SessionEnds;
  readonly endingSessions: EndingSessions = new EndingSessions();
  readonly unconfirmedRefusals: UnconfirmedRefusals = new UnconfirmedRefusals();

  readonly writeShares: WriteShares;
  readonly inFlightWrites: InFlightWrites;
  readonly proposer: TxnProposer;
  readonly memberChanges: MemberChanges;
  readonly featureLevel: FeatureLevel;
  readonly loggedChanges: LoggedChanges;
  readonly quotaNotes: QuotaNotes;
  readonly reaper: Reaper;
  readonly forwarder: RequestForwarder;
  readonly forwarded: ForwardedRequests;

  readonly commitProcessor: CommitProcessor;
  readonly followed: FollowedTransactions;
  readonly notifications: WatchNotifications;
  readonly digests: DigestHistory = new DigestHistory();

  constructor(config: ReplicaConfig, tools: ReplicaTools, sinks: ReplicaSinks) {
    this.config = { ...config };
    this.tools = tools;
    this.sinks = sinks;
    this.auth = new AuthSchemes(config.auth, tools.hashes, config);
    this.tree = new DataTree({ hashKey: config.hashKey });
    this.membership = new Membership(config, tools.random, zabSinksOf(this), sinks);
    this.zab = this.membership.zab;
    this.servingState = new ServingState();
    this.roles = new RoleChanges(this);
    this.dueWork = new DueWork(this);
    this.automaticTransfer = new AutomaticTransfer(this);
    this.slowRequests = new SlowRequests(this);
    this.counters = new Counters(this.servingState, this.slowRequests);

    this.clientShares = new ClientShares(config.trustedProxies);
    this.connections = new Connections(this.tree.watches, sinks, this.clientShares, this.postponed);
    this.admission = new Admission(this, (connection, frame) => this.requests.carryOut(connection, frame));
    this.watchBudget = new WatchBudget(this);

    this.requests = new ClientRequests(this);
    this.clientWrites = new ClientWrites(this);
    this.syncs = new ClientSyncs(this);
    this.waiting = new WaitingRequests(this);
    this.setWatches = new SetWatches(this);
    this.historyRequests = new HistoryRequests(this);
    this.authPackets = new AuthPackets(this);
    this.reads = new LocalReads(this);
    this.watchRequests = new WatchRequests(this);

    this.sessions = new Sessions(this);
    this.connectRequests = new ConnectRequests(this);
    this.sessionCreation = new SessionCreation(this);
    this.sessionRenewal = new SessionRenewal(this);
    this.sessionEnds = new SessionEnds(this);

    this.writeShares = new WriteShares(config);
    this.inFlightWrites = new InFlightWrites(this);
    this.proposer = new TxnProposer(this);
    this.memberChanges = new MemberChanges(this);
    this.featureLevel = new FeatureLevel(this);
    this.loggedChanges = new LoggedChanges(this);
    this.quotaNotes = new QuotaNotes(this);
    this.reaper = new Reaper(this);
    this.forwarder = new RequestForwarder(this.zab);
    this.forwarded = new ForwardedRequests(this);

    this.notifications = new WatchNotifications(this);
    this.commitProcessor = new CommitProcessor(this);
    this.followed = new FollowedTransactions(this);
  }
}
