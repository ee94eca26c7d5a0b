import { lookup } from "node:dns/promises";
import { isIP } from "node:net";
import { javaAddress } from "@zooid/model";

/** Limit of remembered addresses for each configured server. */
const PROVED_PER_SERVER = 4;

/**
 * The addresses that a configured server may connect from: those that its name resolves to, and
 * those from which it has authenticated before.
 */
export class MemberAddresses {
  readonly #hosts: () => readonly string[];
  readonly #resolve: (host: string) => Promise<readonly string[]>;
  #named: ReadonlySet<string>;
  /** The address with the oldest authentication comes first. */
  readonly #proved = new Set<string>();
  #refreshing: Promise<void> | undefined;
  #isDueAgain = false;

  /** @param hosts of the servers as of now, each once */
  constructor(hosts: () => readonly string[], resolve: (host: string) => Promise<readonly string[]> = resolveHost) {
    this.#hosts = hosts;
    this.#resolve = resolve;
    this.#named = new Set(
      hosts()
        .filter((host) => isIP(host) !== 0)
        .map(javaAddress),
    );
  }

  has(address: string): boolean {
    return this.#named.has(address) || this.#proved.has(address);
  }

  /** A server has authenticated from this address. */
  prove(address: string): void {
    this.#proved.delete(address);
    this.#proved.add(address);
    if (this.#proved.size <= this.#hosts().length * PROVED_PER_SERVER) return;
    const [oldest = ""] = this.#proved;
    this.#proved.delete(oldest);
  }

  /**
   * Resolves the names again; a name that cannot be resolved now has no addresses. Calls that come
   * during a round share the next one, since the servers may have changed behind its beginning.
   */
  refresh(): Promise<void> {
    if (this.#refreshing === undefined) {
      this.#refreshing = this.#refreshAll().finally(() => {
        this.#refreshing = undefined;
      });
    } else {
      this.#isDueAgain = true;
    }
    return this.#refreshing;
  }

  async #refreshAll(): Promise<void> {
    do {
      this.#isDueAgain = false;
      await this.#resolveAll();
    } while (this.#isDueAgain);
  }

  /** One name after the other: each takes a thread of the pool that also reads files. */
  async #resolveAll(): Promise<void> {
    const named = new Set<string>();
    for (const host of this.#hosts()) {
      const addresses = isIP(host) === 0 ? await this.#resolve(host) : [host];
      for (const address of addresses) named.add(javaAddress(address));
    }
    this.#named = named;
  }
}

async function resolveHost(host: string): Promise<readonly string[]> {
  try {
    return (await lookup(host, { all: true })).map(({ address }) => address);
  } catch {
    return [];
  }
}
