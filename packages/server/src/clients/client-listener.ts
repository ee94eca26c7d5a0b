import { createServer, type Socket } from "node:net";
import { addressShare, ClientShares, javaAddress, NO_PROXIES, type TrustedProxies } from "@zooid/model";
import { ListenHost, type Lookup } from "../listening/listen-host.ts";
import { ListenSocket, type Place } from "../listening/listen-socket.ts";
import type { WriteLine } from "../operators/log-fields.ts";
import { createSharedReadServer } from "./shared-reads.ts";

/** How many connections a listener has at a time. */
export interface ConnectionLimits {
  /** Connections of one address, or of one /64; 0 is no limit. */
  readonly perAddressMax: number;
  /** Connections of all trusted proxies together. Default: no limit. */
  readonly proxiedMax?: number;
  /** Connections of all addresses; 0 is no limit. */
  readonly totalMax: number;
}

export interface ListenerConfig extends ConnectionLimits {
  readonly port: number;
  /** Undefined listens on every address. */
  readonly address: string | undefined;
  /** The setting of the address, and a line about it while its name does not resolve. */
  readonly addressSetting?: string;
  readonly warn?: WriteLine;
  readonly lookup?: Lookup;
  /** Between look-ups of the name. Default: a second. */
  readonly addressRetryMs?: number;
  readonly backlog: number | undefined;
  /** Proxies to which the limit of an address does not apply. */
  readonly trustedProxies?: TrustedProxies;
  /** Whether TCP keep-alive detects that a client's machine is gone. */
  readonly tcpKeepAlive: boolean;
  /**
   * Whether accepted sockets are read only by `receive`: not with TLS, or where the first byte
   * decides.
   */
  readonly sharedReads: boolean;
  /** Whether the process has room for one more connection, of any port. */
  hasRoom(socket: Socket): boolean;
  /** A connection has come, whatever becomes of it. */
  arrived?(): void;
}

/** The key under which all connections of trusted proxies are counted. */
const PROXIES = "proxies";

/** Accepts clients. Connections beyond the limits are reset before they use resources. */
export class ClientListener {
  /** It may be moved to another place; the limits hold for all of its places together. */
  readonly socket: ListenSocket;
  readonly #config: ListenerConfig;
  #limits: ConnectionLimits;
  /** By the share of an address; {@link PROXIES} for all connections of proxies. */
  readonly #perAddress = new Map<string, number>();
  #total = 0;
  #isStopped = false;
  #rejected = 0;
  readonly #host: ListenHost;
  /** Where it was bound before it was closed. */
  #closedPlace: Place | undefined;

  constructor(config: ListenerConfig, accept: (socket: Socket, address: string) => void) {
    this.#config = config;
    this.#limits = config;
    const { address: host, addressSetting: setting = "clientPortAddress", addressRetryMs: retryMs } = config;
    const { warn = () => {}, lookup } = config;
    this.#host = new ListenHost({ host, setting, warn, lookup, retryMs });
    const create = config.sharedReads ? createSharedReadServer : createServer;
    const clients = new ClientShares(config.trustedProxies ?? NO_PROXIES);
    const accepted = (socket: Socket): void => {
      config.arrived?.();
      const address = javaAddress(socket.remoteAddress ?? "");
      const counted = clients.isProxy(address) ? PROXIES : addressShare(address);
      if (socket.remoteAddress === undefined || !this.#hasRoom(counted) || !config.hasRoom(socket)) {
        this.#rejected++;
        socket.on("error", () => {
          // A reset of a connection that is gone already.
        });
        socket.resetAndDestroy();
        return;
      }
      this.#perAddress.set(counted, (this.#perAddress.get(counted) ?? 0) + 1);
      this.#total++;
      socket.once("close", () => this.#left(counted));
      accept(socket, address);
    };
    const options = { allowHalfOpen: true, noDelay: true, keepAlive: config.tcpKeepAlive };
    this.socket = new ListenSocket(() => create(options, accepted), config.backlog);
  }

  /**
   * Resolves once the port is bound, for which a host name waits until it resolves; rejects with
   * the system's error when it cannot be.
   */
  async listen(): Promise<void> {
    const { port } = this.#config;
    for (;;) {
      const address = await this.#host.address();
      if (this.#isStopped) return;
      try {
        await this.socket.open({ address, port });
        return;
      } catch (error) {
        const code = error instanceof Error && "code" in error ? String(error.code) : "";
        if (!(await this.#host.isStale(code))) throw error;
      }
    }
  }

  /** Accepts no client until {@link open}; open connections stay. */
  close(): void {
    this.#closedPlace ??= this.socket.place;
    this.socket.release();
  }

  /** Accepts again where it did before {@link close}. Rejects with the system's error. */
  async open(): Promise<void> {
    if (this.#closedPlace === undefined) return;
    await this.socket.open(this.#closedPlace);
    this.#closedPlace = undefined;
  }

  /** The bound port, also where the configuration left the choice to the system. */
  get port(): number {
    return (this.socket.place ?? this.#closedPlace)?.port ?? this.#config.port;
  }

  /** The bound address. */
  get address(): string {
    return this.socket.address ?? "";
  }

  get connectionCount(): number {
    return this.#total;
  }

  get rejectedCount(): number {
    return this.#rejected;
  }

  /** Other limits from the next connection on; open connections stay. */
  change(limits: ConnectionLimits): void {
    this.#limits = limits;
  }

  /** Stops accepting; open connections stay. */
  stop(): void {
    this.#isStopped = true;
    this.#host.stop();
    this.socket.stop();
  }

  #hasRoom(counted: string): boolean {
    const { perAddressMax, proxiedMax = Number.POSITIVE_INFINITY, totalMax } = this.#limits;
    if (totalMax > 0 && this.#total >= totalMax) return false;
    const count = this.#perAddress.get(counted) ?? 0;
    return counted === PROXIES ? count < proxiedMax : perAddressMax === 0 || count < perAddressMax;
  }

  #left(counted: string): void {
    this.#total--;
    const rest = (this.#perAddress.get(counted) ?? 1) - 1;
    if (rest === 0) this.#perAddress.delete(counted);
    else this.#perAddress.set(counted, rest);
  }
}
