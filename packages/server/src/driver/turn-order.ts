import { BUDGETS } from "@zooid/model";

/**
 * The debt that an address pays each time that it is passed over: as much as a turn of its
 * connections lasts.
 */
const PASSED_OVER_MS = BUDGETS.reading.connectionMs;
/**
 * The debt that it pays as time passes, as a fraction of that: an address that is idle for a while
 * owes nothing.
 */
const PAID_BY_TIME = BUDGETS.reading.repaidByTime;
/**
 * An address owes no more, however dear a request was: its other clients are not shut out for long.
 */
const DEBT_MS_MAX = BUDGETS.reading.owedMsMax;
/** An address does not wait once no other has asked for a turn for this time. */
const ALONE_MS = 1000;
/** Debts from which paid ones are looked for. */
const DEBT_COUNT_SWEPT = 1024;

interface Debt {
  ms: number;
  seenMs: number;
}

export interface TurnOrderOptions {
  /** A monotonic clock in milliseconds. */
  now(): number;
  /**
   * The part of the turns that connections of trusted proxies have together while others wait, as a
   * fraction.
   */
  readonly proxiesShare: number;
}

/**
 * Whose turn it is. An address whose requests took longer than a turn owes the rest: it is passed
 * over until the others that wait have had as much. Connections of trusted proxies have a share of
 * the turns together, however many they are.
 */
export class TurnOrder {
  readonly #options: TurnOrderOptions;
  /** By the share of the address. */
  readonly #debts = new Map<string, Debt>();
  /** The address that asked last while there were debts, and when one asked after another one. */
  #askedLast: string | undefined;
  #changedMs = Number.NEGATIVE_INFINITY;
  /** How much of a turn the connections of proxies have coming. */
  #proxiesCredit = 0;

  constructor(options: TurnOrderOptions) {
    this.#options = options;
  }

  /** A turn of the address took `ms` longer than it should. */
  charge(share: string, ms: number): void {
    const debt = this.#settled(share);
    if (debt !== undefined) {
      debt.ms = Math.min(DEBT_MS_MAX, debt.ms + ms);
      return;
    }
    if (this.#debts.size >= DEBT_COUNT_SWEPT) for (const known of [...this.#debts.keys()]) this.#settled(known);
    this.#debts.set(share, { ms: Math.min(DEBT_MS_MAX, ms), seenMs: this.#options.now() });
  }

  /**
   * Whether the address has to let the others go first: one that is alone has none to wait for, and
   * a pause of all its connections would only cost time. Less than a turn is not worth it.
   */
  owes(share: string): boolean {
    if (this.#debts.size === 0) return false;
    const nowMs = this.#options.now();
    if (share !== this.#askedLast) {
      if (this.#askedLast !== undefined) this.#changedMs = nowMs;
      this.#askedLast = share;
    }
    return nowMs - this.#changedMs < ALONE_MS && this.#debtOf(share) !== undefined;
  }

  /**
   * The debt of the address, 0 if it has its turn: otherwise the turn goes to the next one, and a
   * part of the debt is paid.
   */
  passOver(share: string): number {
    const debt = this.#debtOf(share);
    if (debt === undefined) return 0;
    const owedMs = debt.ms;
    debt.ms -= PASSED_OVER_MS;
    return owedMs;
  }

  /** Addresses that owe something. */
  get debtCount(): number {
    return this.#debts.size;
  }

  /** Connections of proxies and others wait. @returns whether one of the former is next */
  isTurnOfProxies(): boolean {
    this.#proxiesCredit += this.#options.proxiesShare;
    if (this.#proxiesCredit < 1) return false;
    this.#proxiesCredit--;
    return true;
  }

  /** A debt of a turn or more. */
  #debtOf(share: string): Debt | undefined {
    const debt = this.#settled(share);
    return debt !== undefined && debt.ms >= PASSED_OVER_MS ? debt : undefined;
  }

  /** The rest of a debt by now. */
  #settled(share: string): Debt | undefined {
    const debt = this.#debts.get(share);
    if (debt === undefined) return undefined;
    const nowMs = this.#options.now();
    debt.ms -= (nowMs - debt.seenMs) * PAID_BY_TIME;
    debt.seenMs = nowMs;
    if (debt.ms > 0) return debt;
    this.#debts.delete(share);
    return undefined;
  }
}
