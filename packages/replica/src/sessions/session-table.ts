import type { ConnectionRef, ServerId, SessionId } from "@zooid/model";

/** A session as the server that decides over its end sees it. */
export interface Session {
  readonly id: SessionId;
  readonly idHigh: number;
  readonly idLow: number;
  /** The timeout negotiated by its present connection. */
  timeoutMs: number;
  /** When it was last heard of, by the monotonic clock. */
  touchedMs: number;
  /** The server that its client is connected to, as the leader knows it; undefined until it was heard of in this epoch. */
  owner: ServerId | undefined;
  /** It is known to this server alone, which decides over its end. */
  isLocal: boolean;
  /** At whoever decides over its end: the first bytes of its password's SHA-256. */
  passwordHash: Uint8Array | undefined;
  /** Its connection at this server. */
  connection: ConnectionRef | undefined;
  /** Its end was proposed: nothing of it is accepted any more. */
  closing: boolean;
  /** The border, in ticks, of the bucket that it stands in. */
  border: number;
}

/**
 * Sessions and when they end. Time is cut into buckets of one tick; a session ends at the border behind touch + timeout, so it
 * lives at least its timeout and at most a tick more, and all of a bucket end together.
 *
 * A touch writes one number. Only when a bucket is due are its sessions looked at: those touched since move on to their new one.
 */
export class SessionTable {
  readonly #tickMs: number;
  readonly #sessions = new Map<SessionId, Session>();
  readonly #buckets = new Map<number, Session[]>();
  /** Every bucket before this border was emptied. */
  #swept: number;
  #revision = 0;

  constructor(tickMs: number, nowMs: number) {
    this.#tickMs = tickMs;
    this.#swept = Math.floor(nowMs / tickMs);
  }

  /** Moves whenever {@link nextBorderMs} may have. */
  get revision(): number {
    return this.#revision;
  }

  get size(): number {
    return this.#sessions.size;
  }

  get(id: SessionId): Session | undefined {
    return this.#sessions.get(id);
  }

  values(): IterableIterator<Session> {
    return this.#sessions.values();
  }

  /** The border, in milliseconds, at which a session ends unless it is touched. */
  expiryMs(session: Readonly<Session>): number {
    return (Math.floor((session.touchedMs + session.timeoutMs) / this.#tickMs) + 1) * this.#tickMs;
  }

  add(id: SessionId, idHigh: number, idLow: number, timeoutMs: number, nowMs: number): Session {
    const session: Session = {
      id,
      idHigh,
      idLow,
      timeoutMs,
      touchedMs: nowMs,
      owner: undefined,
      isLocal: false,
      passwordHash: undefined,
      connection: undefined,
      closing: false,
      border: 0,
    };
    this.#sessions.set(id, session);
    this.#enqueue(session);
    return session;
  }

  remove(session: Session): void {
    // Its bucket drops it when it is due.
    session.closing = true;
    this.#sessions.delete(session.id);
  }

  /** A renewal with a shorter timeout must be looked at sooner than the bucket it waits in. */
  setTimeout(session: Session, timeoutMs: number): void {
    const sooner = timeoutMs < session.timeoutMs;
    session.timeoutMs = timeoutMs;
    if (sooner) this.#enqueue(session);
  }

  /** Borders in milliseconds, soonest first, each with the sessions that end there unless they are touched. */
  buckets(): readonly { readonly borderMs: number; readonly sessions: readonly Session[] }[] {
    const byBorder = new Map<number, Session[]>();
    for (const session of this.#sessions.values()) {
      const border = this.expiryMs(session);
      const bucket = byBorder.get(border);
      if (bucket === undefined) byBorder.set(border, [session]);
      else bucket.push(session);
    }
    return [...byBorder].sort(([a], [b]) => a - b).map(([borderMs, sessions]) => ({ borderMs, sessions }));
  }

  /** The next border at which anything may end; undefined when there are no sessions. */
  nextBorderMs(): number | undefined {
    let next: number | undefined;
    for (const border of this.#buckets.keys()) if (next === undefined || border < next) next = border;
    return next === undefined ? undefined : next * this.#tickMs;
  }

  /**
   * Looks at one due bucket and hands on the sessions in it that were not touched in time. One bucket a call, so that after a
   * stall the input that waited is read before the next ones end.
   */
  expire(nowMs: number, end: (session: Session) => void): void {
    const due = Math.floor(nowMs / this.#tickMs);
    for (; this.#swept < due; ) {
      this.#swept++;
      const bucket = this.#buckets.get(this.#swept);
      if (bucket === undefined) continue;
      this.#buckets.delete(this.#swept);
      for (const session of bucket) {
        // A renewal may have put it into an earlier bucket meanwhile; there it was seen to.
        if (session.closing || session.border !== this.#swept) continue;
        if (this.expiryMs(session) <= this.#swept * this.#tickMs) end(session);
        else this.#enqueue(session);
      }
      return;
    }
  }

  #enqueue(session: Session): void {
    this.#revision++;
    const border = Math.max(this.expiryMs(session) / this.#tickMs, this.#swept + 1);
    session.border = border;
    const bucket = this.#buckets.get(border);
    if (bucket === undefined) this.#buckets.set(border, [session]);
    else bucket.push(session);
  }
}
