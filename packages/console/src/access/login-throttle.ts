import { createHash } from "node:crypto";
import { addressShare } from "@zooid/model";

/** The user that logs in, and the address. */
export interface LoginPlace {
  readonly address: string;
  readonly user: string;
}

/** Failed logins of one key; each key has its own delay. */
interface Failures {
  count: number;
  lastMs: number;
}

const FREE_COUNT = 5;
const DELAY_MS = 1_000;
const DELAY_MS_MAX = 60_000;
const FORGOTTEN_MS = 600_000;
const KNOWN_MS = 7 * 24 * 3_600_000;
const KEYS_MAX = 10_000;

/**
 * Passwords are guessed slowly: after five failures of one address, or of one user from one
 * address, the next login waits, twice as long after each further failure. An address of IPv6
 * counts with its /64. A user is never locked out by failures elsewhere, and not by those of others
 * at an address from which the user has logged in before. Names are kept as hashes, for some time,
 * and a limited number of them.
 */
export class LoginThrottle {
  readonly #addresses: Expiring<Failures>;
  readonly #users: Expiring<Failures>;
  /** Where users have logged in. */
  readonly #known: Expiring<true>;
  readonly #nowMs: () => number;

  constructor(nowMs: () => number = () => performance.now()) {
    this.#nowMs = nowMs;
    this.#addresses = new Expiring(FORGOTTEN_MS);
    this.#users = new Expiring(FORGOTTEN_MS);
    this.#known = new Expiring(KNOWN_MS);
  }

  /** Keys that are kept. */
  get size(): number {
    return this.#addresses.size + this.#users.size + this.#known.size;
  }

  /** Milliseconds until a login is accepted again; 0: now. */
  waitMs(place: LoginPlace): number {
    const nowMs = this.#nowMs();
    const { share, user } = keysOf(place);
    const ofUser = waitOf(this.#users.get(user, nowMs), nowMs);
    if (this.#known.get(user, nowMs) !== undefined) return ofUser;
    return Math.max(ofUser, this.addressWaitMs(share));
  }

  /** The same before the user is known. */
  addressWaitMs(address: string): number {
    const nowMs = this.#nowMs();
    return waitOf(this.#addresses.get(addressShare(address), nowMs), nowMs);
  }

  failed(place: LoginPlace): void {
    const nowMs = this.#nowMs();
    const { share, user } = keysOf(place);
    count(this.#addresses, share, nowMs);
    count(this.#users, user, nowMs);
  }

  succeeded(place: LoginPlace): void {
    const nowMs = this.#nowMs();
    const { user } = keysOf(place);
    this.#users.delete(user);
    this.#known.set(user, true, nowMs);
  }
}

function keysOf({ address, user }: LoginPlace): { readonly share: string; readonly user: string } {
  const share = addressShare(address);
  return { share, user: createHash("sha256").update(`${share} ${user}`).digest("base64") };
}

function count(failures: Expiring<Failures>, key: string, nowMs: number): void {
  failures.set(key, { count: (failures.get(key, nowMs)?.count ?? 0) + 1, lastMs: nowMs }, nowMs);
}

function waitOf(failures: Failures | undefined, nowMs: number): number {
  if (failures === undefined || failures.count < FREE_COUNT) return 0;
  const delayMs = Math.min(DELAY_MS_MAX, DELAY_MS * 2 ** (failures.count - FREE_COUNT));
  return Math.max(0, failures.lastMs + delayMs - nowMs);
}

/** A table whose entries end after some time, and the oldest ones beyond a number. */
class Expiring<T> {
  readonly #keptMs: number;
  /** In the order of their times. */
  readonly #entries = new Map<string, { readonly value: T; readonly atMs: number }>();

  constructor(keptMs: number) {
    this.#keptMs = keptMs;
  }

  get size(): number {
    return this.#entries.size;
  }

  get(key: string, nowMs: number): T | undefined {
    const entry = this.#entries.get(key);
    return entry === undefined || nowMs - entry.atMs > this.#keptMs ? undefined : entry.value;
  }

  set(key: string, value: T, nowMs: number): void {
    this.#entries.delete(key);
    this.#entries.set(key, { value, atMs: nowMs });
    for (const [oldest, { atMs }] of this.#entries) {
      if (this.#entries.size <= KEYS_MAX && nowMs - atMs <= this.#keptMs) break;
      this.#entries.delete(oldest);
    }
  }

  delete(key: string): void {
    this.#entries.delete(key);
  }
}
