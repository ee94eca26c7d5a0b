import type { LinkRef, SessionId } from "@zooid/model";

/**
 * Clients that want to go on with a session whose end was decided and is not committed. Until it is, nobody can tell them: if this leader
 * is gone before, the session lives on.
 */
export class EndingSessions {
  readonly #waiting = new Map<SessionId, { readonly link: LinkRef | undefined; readonly refuse: () => void }[]>();

  /** @param link the learner that asks for its client; undefined for a client of this server */
  add(session: SessionId, link: LinkRef | undefined, refuse: () => void): void {
    const waiting = this.#waiting.get(session);
    if (waiting === undefined) this.#waiting.set(session, [{ link, refuse }]);
    else waiting.push({ link, refuse });
  }

  /** The end is committed: now they are told. */
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
