import type {
  FrameBatch,
  LinkRef,
  LoggedRun,
  PeerMessage,
  RefuseReason,
  ServerId,
  Touch,
  TxnLog,
  Zxid,
} from "@zooid/model";
import type { LinkEnd, PeerRefusal, RoleEnd, ZabEvent } from "./operator-events.ts";
import { NO_SNAPSHOTS, type SnapshotPort } from "./snapshot-port.ts";

/**
 * The outputs of the peer. The order of calls matters and the driver keeps it: an entry that is
 * given to the log may be reported (acked, committed, delivered) only after its completion.
 *
 * A log, links and an application replicate. The other groups are for drivers with more: each is
 * left out or implemented whole.
 */
export interface ZabSinks {
  readonly log: TxnLog;
  readonly links: ZabLinks;
  readonly application: ZabApplication;
  /** Without it a learner that needs purged entries is refused. */
  readonly snapshots?: SnapshotPort;
  /** Without it {@link ZabPeer.lead} and {@link ZabPeer.follow} are called by other means. */
  readonly election?: ZabElection;
  readonly roles?: ZabRoles;
  readonly requests?: ZabRequests;
}

/** The state machine that is replicated: it takes entries by {@link ZabPeer.takeCommitted}. */
export interface ZabApplication {
  /**
   * The last entry that was applied: taken by {@link ZabPeer.takeCommitted}, replayed at the start,
   * or contained in an installed snapshot.
   */
  applied(): Zxid;
  /**
   * Whether each entry of a run that a leader sent can be read as a transaction: asked before the
   * log gets it.
   */
  isReadable?(run: LoggedRun): boolean;
  /** Every entry of the batch was applied or never will be: its bytes may be used again. */
  release?(batch: FrameBatch): void;
  /** A snapshot was received and the log continues it: load it, at once. */
  install?(): void;
  /**
   * The facts besides entries that these entries change in the log and the broadcast; undefined if
   * there are none. A leader that can have no such entry does not ask.
   */
  changesIn?(run: LoggedRun): LoggedChanges | undefined;
}

/** Changes that entries of a run carry, oldest first. */
export interface LoggedChanges {
  /** Configurations of the ensemble, as text with their zxids as versions. */
  readonly configs: readonly Uint8Array[];
  /** Raises of the feature level. */
  readonly raises: readonly { readonly level: number; readonly zxid: Zxid }[];
}

/** Links between a learner and its leader. */
export interface ZabLinks {
  /**
   * Opens a link to a server; {@link ZabPeer.linkOpened} or {@link ZabPeer.dialFailed} answers,
   * never from within the call.
   */
  dial(to: ServerId): void;
  /**
   * Gives up a dial that was not answered, so that it never is. Not needed where every dial is
   * answered before the next input.
   */
  cancelDial?(): void;
  /** Bytes in the message may be used again after the call. */
  send(link: LinkRef, message: PeerMessage): void;
  /**
   * Sends a `refuse` message with the refusal in words; without it the peer sends the refusal's
   * kind. {@link close} follows.
   */
  refuse?(link: LinkRef, reason: RefuseReason, refusal: PeerRefusal): void;
  /** {@link ZabPeer.linkClosed} does not follow. */
  close(link: LinkRef, reason: LinkEnd): void;
}

/** How a server without a role finds one: phase 0 of the paper. */
export interface ZabElection {
  /** This server has no role and its log is quiet: elect. */
  look(): void;
  /**
   * A quorum waits to follow this server, which has no role: lead, if this server is a candidate.
   */
  wanted(): void;
  /**
   * The leader resigned and named its successor: take that role without an election. {@link look}
   * is not called.
   */
  successor(sid: ServerId, namedBy: ServerId | undefined): void;
}

/** The course of this server's roles. */
export interface ZabRoles {
  /**
   * The role is complete: a leader or learner of `epoch` has all that the epoch began with. Serve.
   */
  serve(epoch: number): void;
  /**
   * The role ended, for this reason. Nothing of it may be answered or applied any more: clients are
   * disconnected. {@link ZabElection.look} follows when the log has settled.
   */
  left(reason: RoleEnd): void;
  /** For operators. */
  note(event: ZabEvent): void;
  /**
   * The ensemble's configuration changed, or one that may come into force became known: see
   * {@link ZabPeer.members}.
   */
  membersChanged?(): void;
}

/** Requests and sessions of the learners' clients, which share the links with the broadcast. */
export interface ZabRequests {
  /** A message that the broadcast does not handle: a request to the leader or its answer. */
  message(link: LinkRef, sid: ServerId, message: PeerMessage): void;
  /** At the leader: a synced learner's link ended. */
  learnerLost(link: LinkRef, sid: ServerId): void;
  /**
   * A quorum has confirmed that this server still led after {@link ZabPeer.checkLeadership}
   * returned this number or a lower one.
   */
  leadershipConfirmed(check: number): void;
  /**
   * Sessions heard from since the last call, which a learner reports to its leader with each pong.
   */
  touches(): readonly Touch[];
  /** At the leader: sessions that a learner reports. */
  touched(touches: readonly Touch[]): void;
}

/** Every group, those that the driver left out replaced by ones without effect. */
export type AllSinks = Required<ZabSinks>;

export function allSinks({ log, links, application, snapshots, election, roles, requests }: ZabSinks): AllSinks {
  return {
    log,
    links,
    application,
    snapshots: snapshots ?? NO_SNAPSHOTS,
    election: election ?? NO_ELECTION,
    roles: roles ?? NO_ROLES,
    requests: requests ?? NO_REQUESTS,
  };
}

/** Says on a link why its other end is refused. The link is closed next. */
export function sendRefusal(links: ZabLinks, link: LinkRef, reason: RefuseReason, refusal: PeerRefusal): void {
  if (links.refuse === undefined) links.send(link, { kind: "refuse", reason, text: refusal.kind });
  else links.refuse(link, reason, refusal);
}

const NO_ELECTION: ZabElection = { look: () => {}, wanted: () => {}, successor: () => {} };
const NO_ROLES: ZabRoles = { serve: () => {}, left: () => {}, note: () => {} };
const NO_REQUESTS: ZabRequests = {
  message: () => {},
  learnerLost: () => {},
  leadershipConfirmed: () => {},
  touches: () => [],
  touched: () => {},
};
