import { lookup } from "node:dns/promises";
import { isIP } from "node:net";
import type { LogFields } from "../operators/log-fields.ts";

/** The line about a name that does not resolve is repeated after this time. */
const REPEAT_MS = 30_000;
/**
 * How long a name may belong to another machine: that of this server's predecessor, in a cache of
 * names.
 */
const ELSEWHERE_MS = 120_000;
const RETRY_MS = 1000;

/** An address for a host's name; rejects as the system's resolver. */
export type Lookup = (host: string) => Promise<string>;

export interface ListenHostOptions {
  /** Undefined for every address. */
  readonly host: string | undefined;
  /** The setting that names the host. */
  readonly setting: string;
  warn(text: string, fields: LogFields): void;
  /** Default: the system's. */
  readonly lookup?: Lookup | undefined;
  /** Default: a second. */
  readonly retryMs?: number | undefined;
  /** Waits for `retryMs`; default: by a timer. */
  readonly wait?: () => Promise<void>;
}

/**
 * The host that a port is bound on. An orchestrator starts a server before its own name resolves,
 * or while the name still has the address of the server before it: then the start waits, with a log
 * line, instead of ending.
 */
export class ListenHost {
  readonly #options: ListenHostOptions;
  readonly #retryMs: number;
  #isStopped = false;
  #stopWaiting: () => void = () => {};
  #warnedMs = Number.NEGATIVE_INFINITY;
  #elsewhereMs = 0;
  #waitsFor: string | undefined;

  constructor(options: ListenHostOptions) {
    this.#options = options;
    this.#retryMs = options.retryMs ?? RETRY_MS;
  }

  /**
   * The address to bind, once the name has one; undefined for every address, and after
   * {@link stop}.
   */
  async address(): Promise<string | undefined> {
    try {
      return await this.#found();
    } finally {
      this.#waitsFor = undefined;
    }
  }

  async #found(): Promise<string | undefined> {
    const { host, setting, lookup: find = systemLookup } = this.#options;
    if (host === undefined || isIP(host) !== 0) return host;
    while (!this.#isStopped) {
      try {
        return await find(host);
      } catch (error) {
        if (!isUnresolved(error)) throw error;
        this.#warn(
          `${host} in ${setting} does not resolve yet (${error.code}); it is looked up again each second`,
          "name-unresolved",
        );
      }
      await this.#wait();
    }
    return undefined;
  }

  /**
   * Waits before another attempt, if binding failed because the name has the address of another
   * machine.
   *
   * @returns whether to look the name up again
   */
  async isStale(code: string): Promise<boolean> {
    const { host, setting } = this.#options;
    if (host === undefined || isIP(host) !== 0 || code !== "EADDRNOTAVAIL") return false;
    if (this.#isStopped || this.#elsewhereMs >= ELSEWHERE_MS) return false;
    this.#elsewhereMs += this.#retryMs;
    this.#warn(
      `${host} in ${setting} has the address of another machine; it is looked up again for ${ELSEWHERE_MS / 1000} s`,
      "address-elsewhere",
    );
    await this.#wait();
    return true;
  }

  /** The reason why the name is waited for; undefined unless this server waits for it. */
  get waitsFor(): string | undefined {
    return this.#waitsFor;
  }

  stop(): void {
    this.#isStopped = true;
    this.#stopWaiting();
  }

  #warn(text: string, event: "name-unresolved" | "address-elsewhere"): void {
    this.#waitsFor = text;
    const nowMs = performance.now();
    if (nowMs - this.#warnedMs < REPEAT_MS) return;
    this.#warnedMs = nowMs;
    this.#options.warn(text, { event });
  }

  #wait(): Promise<void> {
    if (this.#options.wait !== undefined) return this.#options.wait();
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, this.#retryMs);
    this.#stopWaiting = () => {
      clearTimeout(timer);
      resolve();
    };
    return promise;
  }
}

async function systemLookup(host: string): Promise<string> {
  return (await lookup(host)).address;
}

/** Codes of getaddrinfo: no such name, the name server does not answer, and it fails. */
const UNRESOLVED: ReadonlySet<string> = new Set(["ENOTFOUND", "EAI_AGAIN", "EAI_FAIL"]);

function isUnresolved(error: unknown): error is Error & { readonly code: string } {
  return error instanceof Error && "code" in error && typeof error.code === "string" && UNRESOLVED.has(error.code);
}
