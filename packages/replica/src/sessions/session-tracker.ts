import type { ConnectionRef, ServerId, SessionId } from "@zooid/model";

/** A session, with what the server that ends it needs. */
export interface Session {
  readonly id: SessionId;
  readonly idHigh: number;
  readonly idLow: number;
  /** The timeout that its present connection negotiated. */
  timeoutMs: number;
  /** When its client was last heard from, by the monotonic clock. */
  touchedMs: number;
  /**
   * At the leader: the server that its client is connected to; undefined until known in this epoch.
   */
  owner: ServerId | undefined;
  /** Known to this server only, which ends it. */
  isLocal: boolean;
  /**
   * The first bytes of its password's SHA-256: at the leader, and where its client is connected.
   */
  passwordHash: Uint8Array | undefined;
  /** Its connection at this server. */
  connection: ConnectionRef | undefined;
  /** Its end is decided: its requests are not accepted any more. */
  closing: boolean;
  /** When its bucket is due, in ticks. */
  border: number;
}

/**
 * Sessions in buckets of one tick by when they expire. A session expires at the border after its
 * last touch + timeout: it lives at least its timeout and at most a tick more.
 *
 * A touch writes one number. When a bucket is due, sessions touched meanwhile move to a later one.
 */
export class SessionTracker {
  readonly #tickMs: number;
  readonly #sessions = new Map<SessionId, Session>();
  readonly #buckets = new Map<number, Session[]>();
  /** Every bucket up to this border was emptied. */
  #swept: number;
  #revision = 0;

  constructor(tickMs: number, nowMs: number) {
    this.#tickMs = tickMs;
    this.#swept = Math.floor(nowMs / tickMs);
  }

  /** Changes whenever {@link nextBorderMs} may have changed. */
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

  /** The border, in milliseconds, at which a session expires unless it is touched. */
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
    // Its bucket drops it when the bucket is due.
    session.closing = true;
    this.#sessions.delete(session.id);
  }

  /** A session with a shorter timeout also goes into an earlier bucket. */
  setTimeout(session: Session, timeoutMs: number): void {
    const sooner = timeoutMs < session.timeoutMs;
    session.timeoutMs = timeoutMs;
    if (sooner) this.#enqueue(session);
  }

  /** The next border at which a session may expire; undefined when there are no sessions. */
  nextBorderMs(): number | undefined {
    let next: number | undefined;
    for (const border of this.#buckets.keys()) if (next === undefined || border < next) next = border;
    return next === undefined ? undefined : next * this.#tickMs;
  }

  /**
   * Expires the sessions of one due bucket that were not touched in time. One bucket a call: after
   * a stall, input that waited is read before the next bucket is due.
   */
  expire(nowMs: number, end: (session: Session) => void): void {
    const due = Math.floor(nowMs / this.#tickMs);
    for (; this.#swept < due; ) {
      this.#swept++;
      const bucket = this.#buckets.get(this.#swept);
      if (bucket === undefined) continue;
      this.#buckets.delete(this.#swept);
      for (const session of bucket) {
        // setTimeout may have put it into an earlier bucket, which handled it.
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
