import {
  assert,
  ErrorCode,
  type LinkRef,
  newRequest,
  OpCode,
  type PeerMessage,
  type Request,
  type RequestDecoder,
  type ServerId,
  sessionIdFromHalves,
} from "@zooid/model";
import type { ZabLinks, ZabPeer } from "@zooid/zab";
import type { ClientSessions } from "./client-sessions.ts";
import { ForwardReader } from "./forward-run.ts";
import { RemoteClients } from "./remote-clients.ts";
import { isEnding, mayRenew } from "./session-password.ts";
import type { Standing } from "./standing.ts";
import type { Asker, TxnMaker } from "./txn-maker.ts";

interface LearnerRequestsParts {
  readonly requests: RequestDecoder;
  readonly links: ZabLinks;
  readonly zab: ZabPeer;
  readonly standing: Standing;
  readonly sessions: ClientSessions;
  readonly maker: TxnMaker;
}

type MessageOf<K extends PeerMessage["kind"]> = Extract<PeerMessage, { kind: K }>;

/** A leader's half: what learners ask it for their clients. */
export class LearnerRequests {
  readonly #requests: RequestDecoder;
  readonly #links: ZabLinks;
  readonly #zab: ZabPeer;
  readonly #standing: Standing;
  readonly #sessions: ClientSessions;
  readonly #maker: TxnMaker;
  readonly #clients = new RemoteClients();
  readonly #forwarded = new ForwardReader();
  /** Every forwarded request is read into it. */
  readonly #request: Request = newRequest();

  constructor(parts: LearnerRequestsParts) {
    this.#requests = parts.requests;
    this.#links = parts.links;
    this.#zab = parts.zab;
    this.#standing = parts.standing;
    this.#sessions = parts.sessions;
    this.#maker = parts.maker;
  }

  /** Syncs that are not answered yet. */
  get syncCount(): number {
    return this.#clients.syncCount;
  }

  identify(link: LinkRef, { client, identities }: MessageOf<"identities">): void {
    this.#clients.identify(link, client, identities);
  }

  forward(link: LinkRef, sid: ServerId, run: MessageOf<"forward">): void {
    if (!this.#standing.isLeading) return;
    const forwarded = this.#forwarded;
    forwarded.open(run.bytes, run.start, run.end);
    while (forwarded.next()) this.#write(link, sid, forwarded);
    assert(forwarded.isWhole, `server ${sid} forwarded a run of requests that breaks off`);
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
    const asker: Asker = {
      sessionHigh,
      sessionLow,
      origin: sid,
      originSeq: sequence,
      cxid: request.xid,
      op: request.op,
    };
    if (forwarded.isLocal) {
      if (isReadable) this.#maker.write(asker, this.#clients.identities(link, forwarded.client), request);
      else this.#maker.refuse(asker, ErrorCode.MARSHALLING_ERROR);
      return;
    }
    const session = this.#sessions.table.get(sessionIdFromHalves(sessionHigh, sessionLow));
    if (session === undefined || session.closing) this.#maker.refuse(asker, ErrorCode.SESSION_EXPIRED);
    else if (session.owner !== sid) this.#maker.refuse(asker, ErrorCode.SESSION_MOVED);
    else if (!isReadable) this.#maker.refuse(asker, ErrorCode.MARSHALLING_ERROR);
    else {
      session.touchedMs = this.#standing.nowMs;
      if (request.op === OpCode.CLOSE_SESSION) {
        session.closing = true;
        this.#maker.closeSession(asker);
      } else {
        this.#maker.write(asker, this.#clients.identities(link, forwarded.client), request);
      }
    }
  }

  openSession(sid: ServerId, message: MessageOf<"open-session">): void {
    if (!this.#standing.isLeading) return;
    const { sessionHigh, sessionLow, timeoutMs, sequence } = message;
    const passwordHash = message.passwordHash.slice();
    const asker = {
      sessionHigh,
      sessionLow,
      origin: sid,
      originSeq: sequence,
      cxid: 0,
      op: OpCode.CREATE_SESSION,
    };
    this.#sessions.open({
      id: sessionIdFromHalves(sessionHigh, sessionLow),
      idHigh: sessionHigh,
      idLow: sessionLow,
      timeoutMs,
      owner: sid,
      passwordHash,
    });
    this.#maker.createSession(asker, timeoutMs, passwordHash);
  }

  /** A client came to a learner with a session that it has from elsewhere. */
  revalidate(link: LinkRef, sid: ServerId, message: MessageOf<"revalidate">): void {
    const { sequence } = message;
    const answer = (isValid: boolean): void => this.#links.send(link, { kind: "revalidated", sequence, isValid });
    const { isLeading } = this.#standing;
    const id = sessionIdFromHalves(message.sessionHigh, message.sessionLow);
    if (isLeading && isEnding(this.#sessions.table.get(id), message.passwordHash))
      this.#sessions.endings.add(id, link, () => answer(false));
    else if (isLeading && this.#renew(sid, message)) answer(true);
    else if (isLeading) this.#sessions.refusals.add(this.#zab.confirm(), link, () => answer(false));
    else answer(false);
  }

  /** Whether a client that came to a learner with this session may go on there. */
  #renew(sid: ServerId, message: MessageOf<"revalidate">): boolean {
    const session = this.#sessions.table.get(sessionIdFromHalves(message.sessionHigh, message.sessionLow));
    if (!mayRenew(session, message.passwordHash)) return false;
    this.#sessions.moveTo(sid, session, message.timeoutMs);
    return true;
  }

  sync(link: LinkRef, { sequence }: MessageOf<"sync">): void {
    this.#clients.sync({ link, sequence, round: this.#zab.confirm(), readAt: this.#maker.prepared });
  }

  /** A quorum has said that this server still led when a round began. */
  confirmed(round: number): void {
    for (const { link, sequence, readAt } of this.#clients.confirmed(round)) {
      this.#links.send(link, { kind: "sync-reply", sequence, readAt });
    }
  }

  /** A learner is gone, and so are those who asked it. */
  lost(link: LinkRef): void {
    this.#clients.lost(link);
    this.#sessions.endings.lost(link);
    this.#sessions.refusals.lost(link);
  }

  clear(): void {
    this.#clients.clear();
  }
}
