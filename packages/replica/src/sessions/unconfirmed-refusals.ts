import type { LinkRef } from "@zooid/model";

interface Refusal {
  readonly round: number;
  readonly link: LinkRef | undefined;
  readonly refuse: () => void;
}

/**
 * Clients that want to go on with a session that this leader does not know. A leader that was deposed and has not noticed knows none of
 * those that came after it, so nobody is told that a session is over before a quorum has confirmed who leads.
 */
export class UnconfirmedRefusals {
  #waiting: Refusal[] = [];

  /**
   * @param round of confirmation that began with the question, or later
   * @param link the learner that asks for its client; undefined for a client of this server
   */
  add(round: number, link: LinkRef | undefined, refuse: () => void): void {
    this.#waiting.push({ round, link, refuse });
  }

  /** A round is confirmed: those who asked before it are told. */
  confirmed(round: number): void {
    const due = this.#waiting.filter((each) => each.round <= round);
    if (due.length === 0) return;
    this.#waiting = this.#waiting.filter((each) => each.round > round);
    for (const { refuse } of due) refuse();
  }

  lost(link: LinkRef): void {
    this.#waiting = this.#waiting.filter((each) => each.link !== link);
  }

  clear(): void {
    this.#waiting = [];
  }
}
