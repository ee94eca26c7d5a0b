import type { LinkRef, SessionId } from "@zooid/model";

/**
 * Renewals of sessions whose end is decided and not committed. They are refused once it is:
 * 1. The leader S1 decides that a session has expired, and proposes its end.
 * 2. The client reaches S2, which sends a revalidation to S1. S1 does not answer yet.
 * 3. S1 crashes before a quorum has the proposal. The next leader does not know of the end, and the
 *    session lives its full timeout again. If S1 had answered that the session is over, its client
 *    would have given up a session that lives, with its ephemerals.
 */
export class EndingSessions {
  readonly #waiting = new Map<SessionId, { readonly link: LinkRef | undefined; readonly refuse: () => void }[]>();

  /** Renewals that wait. */
  get count(): number {
    let count = 0;
    for (const waiting of this.#waiting.values()) count += waiting.length;
    return count;
  }

  /** @param link of the learner whose client renews; undefined for a client of this server */
  add(session: SessionId, link: LinkRef | undefined, refuse: () => void): void {
    const waiting = this.#waiting.get(session);
    if (waiting === undefined) this.#waiting.set(session, [{ link, refuse }]);
    else waiting.push({ link, refuse });
  }

  /** The end is committed: refuses its renewals. */
  ended(session: SessionId): void {
    const waiting = this.#waiting.get(session);
    if (waiting === undefined) return;
    this.#waiting.delete(session);
    for (const { refuse } of waiting) refuse();
  }

  lost(link: LinkRef): void {
    for (const [session, waiting] of this.#waiting) {
      const left = waiting.filter((each) => each.link !== link);
      if (left.length === 0) this.#waiting.delete(session);
      else if (left.length < waiting.length) this.#waiting.set(session, left);
    }
  }

  clear(): void {
    this.#waiting.clear();
  }
}
