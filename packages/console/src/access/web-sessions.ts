import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import type { User } from "./user.ts";

/** A browser that has logged in. */
export interface WebSession {
  readonly user: User;
  /** Every changing request repeats it in a header. */
  readonly csrfToken: string;
  readonly startedMs: number;
  usedMs: number;
}

export interface WebSessionLimits {
  /** Maximum number of sessions; the oldest one is ended for a new one. */
  readonly countMax: number;
  readonly idleMs: number;
  readonly lifetimeMs: number;
}

const LIMITS: WebSessionLimits = { countMax: 1000, idleMs: 3_600_000, lifetimeMs: 43_200_000 };
const TOKEN_BYTES = 32;

/**
 * Sessions of browsers, by the hash of their cookie's token: the table does not have the tokens.
 */
export class WebSessions {
  readonly #limits: WebSessionLimits;
  readonly #nowMs: () => number;
  /** In the order of their last use. */
  readonly #sessions = new Map<string, WebSession>();

  constructor(limits: Partial<WebSessionLimits> = {}, nowMs: () => number = () => performance.now()) {
    this.#limits = { ...LIMITS, ...limits };
    this.#nowMs = nowMs;
  }

  get count(): number {
    return this.#sessions.size;
  }

  /** @returns the token for the cookie */
  start(user: User): { readonly token: string; readonly session: WebSession } {
    const nowMs = this.#nowMs();
    for (const [key, session] of this.#sessions) {
      if (this.#sessions.size < this.#limits.countMax && !this.#isOver(session, nowMs)) break;
      this.#sessions.delete(key);
    }
    const token = newToken();
    const session = { user, csrfToken: newToken(), startedMs: nowMs, usedMs: nowMs };
    this.#sessions.set(hashOf(token), session);
    return { token, session };
  }

  find(token: string): WebSession | undefined {
    const key = hashOf(token);
    const session = this.#sessions.get(key);
    if (session === undefined) return undefined;
    this.#sessions.delete(key);
    const nowMs = this.#nowMs();
    if (this.#isOver(session, nowMs)) return undefined;
    session.usedMs = nowMs;
    this.#sessions.set(key, session);
    return session;
  }

  end(token: string): void {
    this.#sessions.delete(hashOf(token));
  }

  #isOver({ startedMs, usedMs }: WebSession, nowMs: number): boolean {
    const { idleMs, lifetimeMs } = this.#limits;
    return nowMs - usedMs > idleMs || nowMs - startedMs > lifetimeMs;
  }
}

export function newToken(): string {
  return randomBytes(TOKEN_BYTES).toString("base64url");
}

/** Takes the same time for every token of one length. */
export function isSameToken(given: string, expected: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(expected)];
  return a.length === b.length && timingSafeEqual(a, b);
}

function hashOf(token: string): string {
  return createHash("sha256").update(token).digest("base64");
}
