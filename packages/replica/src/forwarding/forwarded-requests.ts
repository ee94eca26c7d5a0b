import {
  assertNever,
  copyRange,
  ErrorCode,
  isWrite,
  type LinkRef,
  newRequest,
  OpCode,
  PASSWORD_HASH_BYTES,
  type PeerMessage,
  type Request,
  type ServerId,
  sessionIdFromHalves,
} from "@zooid/model";
import type { LearnerFault } from "@zooid/zab";
import { areWithin } from "../auth/identities.ts";
import type { WriteParts } from "../parts/writes.ts";
import type { SessionEnds } from "../sessions/session-ends.ts";
import { isEnding, mayRenew } from "../sessions/session-password.ts";
import type { Sessions } from "../sessions/sessions.ts";
import { addsData } from "../writes/additions.ts";
import type { Requester } from "../writes/txn-proposer.ts";
import { ForwardReader } from "./forward-run.ts";
import { RemoteClients } from "./remote-clients.ts";

interface Parts extends WriteParts {
  readonly sessions: Sessions;
  readonly sessionEnds: SessionEnds;
}

/** A longer request takes as long as several ops, above all one with a long path. */
const SHORT_BYTES = 4096;
const BYTES_PER_OP_LOG2 = 7;

type MessageOf<K extends PeerMessage["kind"]> = Extract<PeerMessage, { kind: K }>;

/** A learner's request for its clients. */
export type ForwardedRequest = MessageOf<"identities" | "forward" | "open-session" | "revalidate" | "sync">;

/** A request that waits for a later turn, with a copy of its bytes. */
interface QueuedRequest {
  readonly sid: ServerId;
  readonly message: ForwardedRequest;
}

function kept(sid: ServerId, message: ForwardedRequest): QueuedRequest {
  switch (message.kind) {
    case "forward": {
      const bytes = copyRange(message.bytes, message.start, message.end);
      return { sid, message: { ...message, bytes, start: 0, end: bytes.length } };
    }
    case "open-session":
    case "revalidate":
      return { sid, message: { ...message, passwordHash: message.passwordHash.slice() } };
    default:
      return { sid, message };
  }
}

/**
 * The leader's half of forwarding: takes the requests of learners for their clients. Every write
 * becomes a transaction, also one that is refused, for the learner answers its clients in the order
 * of the transactions.
 *
 * A write of a session that has moved is refused:
 *
 * 1. A client of S2 sends a write, which S2 forwards to the leader S1; the link is slow.
 * 2. The client gives up, renews its session at S3, and its next write is committed.
 * 3. The first write reaches S1.
 *
 * If it were carried out, it would take effect after a later write of its session. S1 knows that S3
 * has the session now, and refuses it with SESSION_MOVED.
 */
export class ForwardedRequests {
  readonly #parts: Parts;
  readonly #clients = new RemoteClients();
  readonly #forwarded = new ForwardReader();
  /**
   * Requests for later turns, in the order of each learner. The learner that is next comes first.
   */
  readonly #backlogs = new Map<LinkRef, QueuedRequest[]>();
  /**
   * The last link that was closed because of a faulty request. Link numbers are never used again.
   */
  #dropped: LinkRef | undefined;
  /** Ops of this turn; set by this class alone. */
  spent = 0;
  /** Every forwarded request is read into it. */
  readonly #request: Request = newRequest();

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Syncs that are not answered. */
  get syncCount(): number {
    return this.#clients.syncCount;
  }

  /** Takes a request, in the learner's order: in this turn, or later by {@link takeMore}. */
  receive(link: LinkRef, sid: ServerId, message: ForwardedRequest): void {
    const { proposer, zab } = this.#parts;
    // A learner that has not heard of it yet would tell its client that the session has expired.
    if (message.kind !== "sync" && zab.members.areClientsClosed) return;
    const backlog = this.#backlogs.get(link);
    if (backlog !== undefined) backlog.push(kept(sid, message));
    else if (proposer.isPreparing || proposer.isFull) this.#postpone(link, kept(sid, message));
    else if (!this.#take(link, sid, message)) this.#postpone(link, kept(sid, this.#rest()));
  }

  #postpone(link: LinkRef, request: QueuedRequest): void {
    this.#backlogs.set(link, [request]);
    this.#parts.postponed.mark();
  }

  /** Whether {@link takeMore} has something to do. */
  get hasBacklog(): boolean {
    return this.#backlogs.size > 0;
  }

  /** Takes requests that earlier turns left, of one learner after the other. */
  takeMore(): void {
    for (const [link, backlog] of this.#backlogs) {
      // This learner is the last one in the next turn.
      this.#backlogs.delete(link);
      let taken = 0;
      let rest: QueuedRequest | undefined;
      for (const { sid, message } of backlog) {
        if (this.#isTurnSpent) break;
        taken++;
        if (this.#take(link, sid, message)) continue;
        // Its bytes were copied before.
        rest = { sid, message: this.#rest() };
        break;
      }
      const left = backlog.slice(taken);
      if (rest !== undefined) left.unshift(rest);
      if (left.length > 0 && this.#dropped !== link) this.#backlogs.set(link, left);
      if (this.#isTurnSpent) return;
    }
  }

  /** A new turn begins. */
  beginTurn(): void {
    this.spent = 0;
  }

  get #isTurnSpent(): boolean {
    const { config, proposer } = this.#parts;
    return this.spent >= config.forwardOpCountPerTurn || proposer.isPreparing || proposer.isFull;
  }

  /** False when a run of writes was taken in part: {@link #rest} has what is left of it. */
  #take(link: LinkRef, sid: ServerId, message: ForwardedRequest): boolean {
    switch (message.kind) {
      case "identities":
        this.#identify(link, message);
        return true;
      case "forward":
        return this.#forward(link, sid, message);
      case "open-session":
        this.#openSession(link, sid, message);
        return true;
      case "revalidate":
        this.#revalidate(link, sid, message);
        return true;
      case "sync":
        this.#sync(link, message);
        return true;
      default:
        return assertNever(message);
    }
  }

  /** A learner refuses too many identities itself: a client for which it did not has none. */
  #identify(link: LinkRef, { client, identities }: MessageOf<"identities">): void {
    this.#clients.identify(link, client, areWithin(this.#parts.config, identities) ? identities : []);
  }

  #forward(link: LinkRef, sid: ServerId, run: MessageOf<"forward">): boolean {
    const { config, servingState, proposer } = this.#parts;
    if (!servingState.isLeading) return true;
    const forwarded = this.#forwarded;
    forwarded.open(run.bytes, run.start, run.end);
    while (this.spent < config.forwardOpCountPerTurn && !proposer.isPreparing && forwarded.next()) {
      const before = proposer.opCount;
      this.#write(link, sid, forwarded);
      const bytesBeyond = Math.max(0, forwarded.end - forwarded.start - SHORT_BYTES);
      this.spent += proposer.opCount - before + (bytesBeyond >> BYTES_PER_OP_LOG2);
    }
    if (forwarded.hasNext) return false;
    if (forwarded.end !== forwarded.limit) this.#drop(link, { kind: "requests-break-off" });
    return true;
  }

  /** Closes the link of a learner that sent an impossible request. */
  #drop(link: LinkRef, fault: LearnerFault["fault"]): void {
    this.#dropped = link;
    this.#parts.zab.dropLearner(link, fault);
  }

  /** The rest of a run that was taken in part. */
  #rest(): MessageOf<"forward"> {
    const { bytes, end, limit } = this.#forwarded;
    return { kind: "forward", count: 0, bytes, start: end, end: limit };
  }

  /** Makes a transaction of one write of a learner's client. */
  #write(link: LinkRef, sid: ServerId, forwarded: ForwardReader): void {
    const { tools, servingState, sessions, proposer } = this.#parts;
    const { requests } = tools;
    const request = this.#request;
    let isReadable = true;
    try {
      requests.open(forwarded.bytes, forwarded.start, forwarded.end, request);
      if (request.op !== OpCode.CLOSE_SESSION) requests.body(request);
    } catch {
      isReadable = false;
    }
    const { sessionHigh, sessionLow, sequence } = forwarded;
    const requester: Requester = {
      sessionHigh,
      sessionLow,
      origin: sid,
      originSeq: sequence,
      cxid: request.xid,
      op: request.op,
    };
    // Its server forwarded it before it knew, or is of an earlier version and never knows.
    const isRefused = isReadable && this.#parts.zab.lacksRoom && addsData(request, requests);
    if (forwarded.isLocal) {
      if (!isWrite(request.op)) proposer.refuse(requester, ErrorCode.UNIMPLEMENTED);
      else if (isRefused) proposer.refuse(requester, ErrorCode.OPERATION_TIMEOUT);
      else if (isReadable) proposer.write(requester, this.#clients.identities(link, forwarded.client), request, true);
      else proposer.refuse(requester, ErrorCode.MARSHALLING_ERROR);
      return;
    }
    const session = sessions.get(sessionIdFromHalves(sessionHigh, sessionLow));
    if (session?.closing === true) this.#parts.sessionEnds.proposeAtOnce(session);
    // rule: a-closing-session-is-refused
    if (session === undefined || session.closing) proposer.refuse(requester, ErrorCode.SESSION_EXPIRED);
    // rule: requests-of-a-moved-session-are-refused
    else if (session.owner !== sid) proposer.refuse(requester, ErrorCode.SESSION_MOVED);
    // A learner of a later version may forward one: the feature level is below it.
    else if (!isWrite(request.op)) proposer.refuse(requester, ErrorCode.UNIMPLEMENTED);
    else if (!isReadable) proposer.refuse(requester, ErrorCode.MARSHALLING_ERROR);
    else if (isRefused) proposer.refuse(requester, ErrorCode.OPERATION_TIMEOUT);
    else {
      session.touchedMs = servingState.nowMs;
      if (request.op === OpCode.CLOSE_SESSION) {
        session.closing = true;
        proposer.closeSession(requester);
      } else {
        proposer.write(requester, this.#clients.identities(link, forwarded.client), request, false);
      }
    }
  }

  #openSession(link: LinkRef, sid: ServerId, message: MessageOf<"open-session">): void {
    const { servingState, sessions, proposer } = this.#parts;
    if (!servingState.isLeading) return;
    const { sessionHigh, sessionLow, timeoutMs, sequence } = message;
    const id = sessionIdFromHalves(sessionHigh, sessionLow);
    if (sessions.get(id) !== undefined) {
      this.#drop(link, { kind: "session-exists", session: id });
      return;
    }
    if (!isTimeout(timeoutMs) || message.passwordHash.length !== PASSWORD_HASH_BYTES) {
      this.#drop(link, { kind: "session-impossible", session: id });
      return;
    }
    const passwordHash = message.passwordHash.slice();
    const op = OpCode.CREATE_SESSION;
    const requester = { sessionHigh, sessionLow, origin: sid, originSeq: sequence, cxid: 0, op };
    sessions.open({ id, idHigh: sessionHigh, idLow: sessionLow, timeoutMs, owner: sid, passwordHash });
    proposer.createSession(requester, timeoutMs, passwordHash);
  }

  /** A client renews its session at a learner. Why refusals wait: see `SessionRenewal`. */
  #revalidate(link: LinkRef, sid: ServerId, message: MessageOf<"revalidate">): void {
    const { sinks, servingState, sessions, endingSessions, unconfirmedRefusals, zab } = this.#parts;
    const { sequence, passwordHash } = message;
    const answer = (isValid: boolean): void => sinks.links.send(link, { kind: "revalidated", sequence, isValid });
    const id = sessionIdFromHalves(message.sessionHigh, message.sessionLow);
    if (!servingState.isLeading) answer(false);
    else if (isEnding(sessions.get(id), passwordHash)) endingSessions.add(id, link, () => answer(false));
    else if (this.#renew(sid, message)) answer(true);
    // rule: unknown-sessions-are-refused-by-a-confirmed-leader
    else unconfirmedRefusals.add(zab.checkLeadership(), link, () => answer(false));
  }

  /** Moves a session to a learner. @returns false where the client may not have it there */
  #renew(sid: ServerId, message: MessageOf<"revalidate">): boolean {
    const { sessions } = this.#parts;
    const session = sessions.get(sessionIdFromHalves(message.sessionHigh, message.sessionLow));
    // A local session of this leader stays here: no transaction created it, so none would end it.
    // rule: local-sessions-do-not-move
    if (!mayRenew(session, message.passwordHash) || session.isLocal || !isTimeout(message.timeoutMs)) return false;
    sessions.moveTo(sid, session, message.timeoutMs);
    return true;
  }

  #sync(link: LinkRef, { sequence }: MessageOf<"sync">): void {
    const { zab, proposer } = this.#parts;
    this.#clients.sync({ link, sequence, check: zab.checkLeadership(), readAt: proposer.prepared });
  }

  /** A quorum has confirmed that this server still led when a leadership check began. */
  confirmed(check: number): void {
    for (const { link, sequence, readAt } of this.#clients.confirmed(check)) {
      this.#parts.sinks.links.send(link, { kind: "sync-reply", sequence, readAt });
    }
  }

  /** A learner's link is closed: nothing is sent to it any more. */
  lost(link: LinkRef): void {
    this.#backlogs.delete(link);
    this.#clients.lost(link);
    this.#parts.endingSessions.lost(link);
    this.#parts.unconfirmedRefusals.lost(link);
  }

  clear(): void {
    this.#backlogs.clear();
    this.#clients.clear();
  }
}

/** Whether a session may have this timeout: learners send larger numbers than clients can. */
function isTimeout(timeoutMs: number): boolean {
  return timeoutMs > 0 && timeoutMs < 2 ** 31;
}
