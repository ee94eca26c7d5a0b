import type { LinkRef } from "@zooid/model";

interface UnconfirmedRefusal {
  readonly check: number;
  readonly link: LinkRef | undefined;
  readonly refuse: () => void;
}

/**
 * Renewals of sessions that this leader does not know. They are refused once a quorum has confirmed
 * this leader after the renewal came:
 *
 * 1. The leader S1 is cut off from S2 and S3, which elect S2. S1 has not noticed yet.
 * 2. A client creates a session at S2 and loses its connection.
 * 3. The client reaches S1, which does not know the session.
 *
 * If S1 answered without the leader, the client would give up a session that lives.
 */
export class UnconfirmedRefusals {
  #waiting: UnconfirmedRefusal[] = [];

  /** Renewals that wait. */
  get count(): number {
    return this.#waiting.length;
  }

  /**
   * @param check the leadership check that began when the renewal came, or later
   * @param link of the learner whose client renews; undefined for a client of this server
   */
  add(check: number, link: LinkRef | undefined, refuse: () => void): void {
    this.#waiting.push({ check, link, refuse });
  }

  /** A leadership check is confirmed: refuses the renewals that came before it began. */
  confirmed(check: number): void {
    const due = this.#waiting.filter((each) => each.check <= check);
    if (due.length === 0) return;
    this.#waiting = this.#waiting.filter((each) => each.check > check);
    for (const { refuse } of due) refuse();
  }

  lost(link: LinkRef): void {
    this.#waiting = this.#waiting.filter((each) => each.link !== link);
  }

  clear(): void {
    this.#waiting = [];
  }
}
