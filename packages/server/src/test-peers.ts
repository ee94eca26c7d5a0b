import { type ServerId, serverId } from "@zooid/model";
import { parseServerConfig } from "./config.ts";
import type { EnsembleConfig, EnsembleOptions, PeerAddress } from "./peers/ensemble-config.ts";
import type { PeerLinkOptions } from "./peers/peer-port.ts";
import { RefusalLog } from "./refusal-log.ts";

/** A port on which nobody listens: dialing it is refused at once. */
const CLOSED_PORT = 1;

export interface TestPeerOptions extends Partial<PeerLinkOptions> {
  readonly bootCount?: number;
  readonly ensembleId?: string;
  readonly config?: Partial<EnsembleConfig>;
}

/** An ensemble on loopback whose ports the system chooses: where a server is becomes known when it listens. */
export class TestPeers {
  /** What operators were told, in order. */
  readonly lines: string[] = [];
  readonly refusals: RefusalLog = new RefusalLog(
    (line) => this.lines.push(line),
    () => performance.now(),
  );
  readonly #servers: EnsembleOptions["servers"];
  readonly #places = new Map<number, Partial<PeerAddress>>();

  constructor(count: number, observers: readonly number[] = []) {
    this.#servers = Array.from({ length: count }, (_, i) => ({
      ...{ sid: i + 1, host: "127.0.0.1", quorumPort: 0, electionPort: 0, isObserver: observers.includes(i + 1) },
    }));
  }

  /** From now on this server is reached there; without ports, nowhere. */
  place(sid: number, ports: Partial<PeerAddress>): void {
    this.#places.set(sid, ports);
  }

  options(sid: number, options: TestPeerOptions = {}): PeerLinkOptions {
    const { bootCount = 1, ensembleId = "", config = {}, ...more } = options;
    const addressOf = (other: ServerId): PeerAddress => {
      const unknown = other === sid ? 0 : CLOSED_PORT;
      return { host: "127.0.0.1", quorumPort: unknown, electionPort: unknown, ...this.#places.get(other) };
    };
    const { ensemble } = parseServerConfig({ ensemble: { sid, servers: this.#servers, addressOf } });
    if (ensemble === undefined) throw new Error("there is an ensemble");
    return {
      ensemble: { ...ensemble, sid: serverId(sid), ...config },
      identity: () => ({ ensembleId, bootCount }),
      tickMs: 2000,
      frameBytesMax: 4 * 1024 * 1024,
      refusals: this.refusals,
      random: () => 0.5,
      ...more,
    };
  }
}

/** What happened, in order, for tests that wait for it. */
export class Happenings {
  readonly list: string[] = [];
  #changed: PromiseWithResolvers<void> = Promise.withResolvers();

  add(text: string): void {
    this.list.push(text);
    this.#changed.resolve();
    this.#changed = Promise.withResolvers();
  }

  count(pattern: RegExp): number {
    return this.list.filter((text) => pattern.test(text)).length;
  }

  /** Resolves when this many things that match have happened. */
  async until(pattern: RegExp | string, count = 1): Promise<void> {
    const matches = (text: string): boolean => (typeof pattern === "string" ? text === pattern : pattern.test(text));
    while (this.list.filter(matches).length < count) await this.#changed.promise;
  }
}
