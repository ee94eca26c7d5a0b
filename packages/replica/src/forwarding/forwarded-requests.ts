import {
  assertNever,
  copyRange,
  ErrorCode,
  type LinkRef,
  newRequest,
  OpCode,
  PASSWORD_HASH_BYTES,
  type PeerMessage,
  type Request,
  type RequestDecoder,
  type ServerId,
  sessionIdFromHalves,
} from "@zooid/model";
import type { LearnerFault, ZabLinks, ZabPeer } from "@zooid/zab";
import { areWithin, type IdentityLimits } from "../auth/identities.ts";
import type { ServingState } from "../serving-state.ts";
import type { ClientSessions } from "../sessions/client-sessions.ts";
import { isEnding, mayRenew } from "../sessions/session-password.ts";
import type { Requester, TxnProposer } from "../writes/txn-proposer.ts";
import { ForwardReader } from "./forward-run.ts";
import { RemoteClients } from "./remote-clients.ts";

/** A longer request takes as long as several ops, most of all where its path is long. */
const SHORT_BYTES = 4096;
const BYTES_PER_OP_LOG2 = 7;

interface ForwardedRequestsParts {
  /** See `ReplicaConfig`. */
  readonly forwardOpCountPerTurn: number;
  readonly identityLimits: IdentityLimits;
  readonly requests: RequestDecoder;
  readonly links: ZabLinks;
  readonly zab: ZabPeer;
  readonly servingState: ServingState;
  readonly sessions: ClientSessions;
  readonly proposer: TxnProposer;
}

type MessageOf<K extends PeerMessage["kind"]> = Extract<PeerMessage, { kind: K }>;

/** What a learner asks for its clients. */
export type ForwardedRequest = MessageOf<"identities" | "forward" | "open-session" | "revalidate" | "sync">;

/** A request that waits for a later turn, with bytes of its own. */
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

/** A leader's half: what learners ask it for their clients. */
export class ForwardedRequests {
  readonly #requests: RequestDecoder;
  readonly #links: ZabLinks;
  readonly #zab: ZabPeer;
  readonly #servingState: ServingState;
  readonly #sessions: ClientSessions;
  readonly #proposer: TxnProposer;
  readonly #clients = new RemoteClients();
  readonly #forwarded = new ForwardReader();
  readonly #opCountPerTurn: number;
  readonly #identityLimits: IdentityLimits;
  /** What learners asked and what has to wait for a later turn, in the order of each. The one that is served next comes first. */
  readonly #backlogs = new Map<LinkRef, QueuedRequest[]>();
  /** The last link that was ended for what came on it; links have numbers that never come again. */
  #dropped: LinkRef | undefined;
  /** Ops of this turn. */
  #spent = 0;
  /** Every forwarded request is read into it. */
  readonly #request: Request = newRequest();

  constructor(parts: ForwardedRequestsParts) {
    this.#opCountPerTurn = parts.forwardOpCountPerTurn;
    this.#identityLimits = parts.identityLimits;
    this.#requests = parts.requests;
    this.#links = parts.links;
    this.#zab = parts.zab;
    this.#servingState = parts.servingState;
    this.#sessions = parts.sessions;
    this.#proposer = parts.proposer;
  }

  /** Syncs that are not answered yet. */
  get syncCount(): number {
    return this.#clients.syncCount;
  }

  /** Takes what a learner asks, in its order: as much as one turn may hold, and the rest when {@link goOn} comes to it. */
  receive(link: LinkRef, sid: ServerId, message: ForwardedRequest): void {
    const backlog = this.#backlogs.get(link);
    if (backlog !== undefined) backlog.push(kept(sid, message));
    else if (this.#proposer.isPreparing || this.#proposer.isFull) this.#backlogs.set(link, [kept(sid, message)]);
    else if (!this.#take(link, sid, message)) this.#backlogs.set(link, [kept(sid, this.#rest())]);
  }

  /** Whether {@link goOn} has something to do. */
  get hasBacklog(): boolean {
    return this.#backlogs.size > 0;
  }

  /** Goes on with what earlier turns left, every learner in its turn. */
  goOn(): void {
    for (const [link, backlog] of this.#backlogs) {
      // The one that is served now is the last in the next turn.
      this.#backlogs.delete(link);
      let taken = 0;
      let rest: QueuedRequest | undefined;
      for (const { sid, message } of backlog) {
        if (this.#isTurnSpent) break;
        taken++;
        if (this.#take(link, sid, message)) continue;
        // The bytes are this object's own already.
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
    this.#spent = 0;
  }

  get #isTurnSpent(): boolean {
    return this.#spent >= this.#opCountPerTurn || this.#proposer.isPreparing || this.#proposer.isFull;
  }

  /** False when a run of writes was taken in part: {@link #rest} has what is left of it. */
  #take(link: LinkRef, sid: ServerId, message: ForwardedRequest): boolean {
    switch (message.kind) {
      case "identities":
        // A learner refuses what is too much itself; of a client that it did not refuse, nothing is believed.
        this.#clients.identify(
          link,
          message.client,
          areWithin(this.#identityLimits, message.identities) ? message.identities : [],
        );
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

  #forward(link: LinkRef, sid: ServerId, run: MessageOf<"forward">): boolean {
    if (!this.#servingState.isLeading) return true;
    const forwarded = this.#forwarded;
    forwarded.open(run.bytes, run.start, run.end);
    while (this.#spent < this.#opCountPerTurn && !this.#proposer.isPreparing && forwarded.next()) {
      const before = this.#proposer.opCount;
      this.#write(link, sid, forwarded);
      const bytesBeyond = Math.max(0, forwarded.end - forwarded.start - SHORT_BYTES);
      this.#spent += this.#proposer.opCount - before + (bytesBeyond >> BYTES_PER_OP_LOG2);
    }
    if (forwarded.hasNext) return false;
    if (forwarded.end !== forwarded.limit) this.#drop(link, { kind: "requests-break-off" });
    return true;
  }

  /** Ends the link of a learner that says what no learner says. */
  #drop(link: LinkRef, fault: LearnerFault["fault"]): void {
    this.#dropped = link;
    this.#zab.dropLearner(link, fault);
  }

  /** What is left of the run that was taken in part. */
  #rest(): MessageOf<"forward"> {
    const { bytes, end, limit } = this.#forwarded;
    return { kind: "forward", count: 0, bytes, start: end, end: limit };
  }

  /** One write of a learner's client. Whatever is wrong with it, it becomes a transaction: the learner waits for it in its order. */
  #write(link: LinkRef, sid: ServerId, forwarded: ForwardReader): void {
    const request = this.#request;
    const requests = this.#requests;
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
    if (forwarded.isLocal) {
      if (isReadable) this.#proposer.write(requester, this.#clients.identities(link, forwarded.client), request, true);
      else this.#proposer.refuse(requester, ErrorCode.MARSHALLING_ERROR);
      return;
    }
    const session = this.#sessions.table.get(sessionIdFromHalves(sessionHigh, sessionLow));
    // rule: a-closing-session-is-refused
    if (session === undefined || session.closing) this.#proposer.refuse(requester, ErrorCode.SESSION_EXPIRED);
    else if (session.owner !== sid) this.#proposer.refuse(requester, ErrorCode.SESSION_MOVED);
    else if (!isReadable) this.#proposer.refuse(requester, ErrorCode.MARSHALLING_ERROR);
    else {
      session.touchedMs = this.#servingState.nowMs;
      if (request.op === OpCode.CLOSE_SESSION) {
        session.closing = true;
        this.#proposer.closeSession(requester);
      } else {
        this.#proposer.write(requester, this.#clients.identities(link, forwarded.client), request, false);
      }
    }
  }

  #openSession(link: LinkRef, sid: ServerId, message: MessageOf<"open-session">): void {
    if (!this.#servingState.isLeading) return;
    const { sessionHigh, sessionLow, timeoutMs, sequence } = message;
    const id = sessionIdFromHalves(sessionHigh, sessionLow);
    if (this.#sessions.table.get(id) !== undefined) {
      this.#drop(link, { kind: "session-exists", session: id });
      return;
    }
    if (!isTimeout(timeoutMs) || message.passwordHash.length !== PASSWORD_HASH_BYTES) {
      this.#drop(link, { kind: "session-impossible", session: id });
      return;
    }
    const passwordHash = message.passwordHash.slice();
    const requester = {
      sessionHigh,
      sessionLow,
      origin: sid,
      originSeq: sequence,
      cxid: 0,
      op: OpCode.CREATE_SESSION,
    };
    this.#sessions.open({
      id,
      idHigh: sessionHigh,
      idLow: sessionLow,
      timeoutMs,
      owner: sid,
      passwordHash,
    });
    this.#proposer.createSession(requester, timeoutMs, passwordHash);
  }

  /** A client came to a learner with a session that it has from elsewhere. */
  #revalidate(link: LinkRef, sid: ServerId, message: MessageOf<"revalidate">): void {
    const { sequence } = message;
    const answer = (isValid: boolean): void => this.#links.send(link, { kind: "revalidated", sequence, isValid });
    const { isLeading } = this.#servingState;
    const id = sessionIdFromHalves(message.sessionHigh, message.sessionLow);
    if (isLeading && isEnding(this.#sessions.table.get(id), message.passwordHash))
      this.#sessions.endings.add(id, link, () => answer(false));
    else if (isLeading && this.#renew(sid, message)) answer(true);
    else if (isLeading) this.#sessions.refusals.add(this.#zab.checkLeadership(), link, () => answer(false));
    else answer(false);
  }

  /** Whether a client that came to a learner with this session may go on there. */
  #renew(sid: ServerId, message: MessageOf<"revalidate">): boolean {
    const session = this.#sessions.table.get(sessionIdFromHalves(message.sessionHigh, message.sessionLow));
    // A session that only this leader knows ends with its connections here: no transaction made it, so none would remove what it leaves.
    // rule: local-sessions-do-not-move
    if (!mayRenew(session, message.passwordHash) || session.isLocal || !isTimeout(message.timeoutMs)) return false;
    this.#sessions.moveTo(sid, session, message.timeoutMs);
    return true;
  }

  #sync(link: LinkRef, { sequence }: MessageOf<"sync">): void {
    this.#clients.sync({ link, sequence, round: this.#zab.checkLeadership(), readAt: this.#proposer.prepared });
  }

  /** A quorum has said that this server still led when a round began. */
  confirmed(round: number): void {
    for (const { link, sequence, readAt } of this.#clients.confirmed(round)) {
      this.#links.send(link, { kind: "sync-reply", sequence, readAt });
    }
  }

  /** A learner is gone, and so are those who asked it. */
  lost(link: LinkRef): void {
    this.#backlogs.delete(link);
    this.#clients.lost(link);
    this.#sessions.endings.lost(link);
    this.#sessions.refusals.lost(link);
  }

  clear(): void {
    this.#backlogs.clear();
    this.#clients.clear();
  }
}

/** Whether a session may have it: between servers a number may be larger than any that a client sends. */
function isTimeout(timeoutMs: number): boolean {
  return timeoutMs > 0 && timeoutMs < 2 ** 31;
}
