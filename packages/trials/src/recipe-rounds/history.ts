/** The grants, as seen by their holders and by the server. */
import type { Held } from "@zooid/recipes/testing/contenders";

export interface GrantRecord {
  readonly id: string;
  readonly contender: string;
  readonly held: Held;
}

/**
 * The writes of a holder under the guard of its grant, in the order in which they happened at the
 * server.
 */
export interface Entry {
  readonly grant: string;
}

export class History {
  readonly violations: string[] = [];
  readonly grants: Map<string, GrantRecord> = new Map();
  readonly #holderCountMax: number;
  readonly #keepsTime: boolean;
  readonly #holding = new Set<GrantRecord>();
  /**
   * Sessions and nodes that were ended by force: their holders cannot know before they are
   * notified.
   */
  readonly #forced = new Set<string>();

  /**
   * @param keepsTime whether the holders' own clocks are to be believed; what servers let them
   *   write is in any case
   */
  constructor(holderCountMax: number, keepsTime: boolean) {
    this.#holderCountMax = holderCountMax;
    this.#keepsTime = keepsTime;
  }

  granted(record: GrantRecord): void {
    this.grants.set(record.id, record);
    this.#holding.add(record);
    this.look(`${record.id} is granted`);
  }

  ended(record: GrantRecord): void {
    this.#holding.delete(record);
  }

  /** The session or node is about to be ended behind its holder's back. */
  force(what: bigint | string): void {
    this.#forced.add(String(what));
  }

  get holders(): readonly GrantRecord[] {
    return [...this.#holding];
  }

  /**
   * Grants that exclude each other must not be valid at once: by the holders' own clocks, at this
   * instant.
   */
  look(when: string): void {
    if (!this.#keepsTime) return;
    const valid = this.holders.filter(({ held }) => held.grant.isValid() && !this.#isForced(held));
    const rivals = valid.filter(
      (one) => !one.held.isShared || valid.some(({ held, contender }) => !held.isShared && contender !== one.contender),
    );
    const contenders = new Set(rivals.map(({ contender }) => contender));
    if (contenders.size > this.#holderCountMax) {
      const who = rivals.map(({ id, held }) => `${id} (token ${held.token})`).join(" and ");
      this.violations.push(`when ${when}, ${who} are valid at once`);
    }
  }

  /**
   * Holders that exclude each other must not have written in turns, and later grants have greater
   * tokens.
   */
  check(entries: readonly Entry[]): void {
    const spans = new Map<string, { first: number; last: number }>();
    for (const [at, { grant }] of entries.entries()) {
      const span = spans.get(grant);
      if (span === undefined) spans.set(grant, { first: at, last: at });
      else span.last = at;
    }
    let token = 0;
    for (const [at, { grant }] of entries.entries()) {
      const open = [...spans].filter(([, { first, last }]) => first <= at && at <= last).map(([id]) => this.#grant(id));
      const exclusive = open.filter(({ held }) => !held.isShared);
      const isAlone =
        exclusive.length === 0 || (open.length <= this.#holderCountMax && exclusive.length === open.length);
      if (!isAlone) this.violations.push(`the server let ${open.map(({ id }) => id).join(" and ")} write in turns`);
      const { held } = this.#grant(grant);
      if (held.isShared || this.#holderCountMax > 1) continue;
      if (held.token < token) this.violations.push(`${grant} wrote with token ${held.token} behind ${token}`);
      token = held.token;
    }
  }

  #grant(id: string): GrantRecord {
    const grant = this.grants.get(id);
    if (grant === undefined) throw new Error(`${id} wrote and was never granted`);
    return grant;
  }

  #isForced({ grant, sessionId }: Held): boolean {
    return this.#forced.has(String(sessionId)) || grant.paths.some((path) => this.#forced.has(path));
  }
}
