import type { Socket } from "node:net";
import { addressShare, errorJson, javaAddress, keepCode } from "@zooid/model";
import type { LinkPurpose } from "@zooid/peer-protocol";
import { createSharedReadServer } from "../clients/shared-reads.ts";
import { ListenHost, type Lookup } from "../listening/listen-host.ts";
import { ListenSocket } from "../listening/listen-socket.ts";
import type { WriteLine } from "../operators/log-fields.ts";
import type { MemberAddresses } from "./member-addresses.ts";
import { Strangers } from "./strangers.ts";

/** A peer port that cannot be bound. */
export class PeerPortError extends Error {
  override readonly name = "PeerPortError";
  /** The system's code of the reason. */
  readonly code: string;
  readonly purpose: LinkPurpose;
  readonly host: string;
  readonly port: number;
  constructor(place: { purpose: LinkPurpose; host: string; port: number }, code: string, cause: unknown) {
    super(describe(place, code, cause), { cause });
    this.code = code;
    this.purpose = place.purpose;
    this.host = place.host;
    this.port = place.port;
    keepCode(this, code);
  }

  /** As JSON, in a bounded size; see `errorJson`. */
  toJSON(): object {
    return errorJson(this);
  }
}

export interface PeerListenerConfig {
  readonly purpose: LinkPurpose;
  readonly port: number;
  /** Undefined listens on every address. */
  readonly host: string | undefined;
  /** A line about the host's name while it does not resolve. */
  readonly warn: WriteLine;
  /** Default: the system's. */
  readonly lookup?: Lookup | undefined;
  /** Whether accepted sockets are read by `receive` only; asked at each connection. */
  readonly sharedReads: () => boolean;
  /** The addresses of the configured servers. */
  readonly members: MemberAddresses;
  /** Number of retries to bind a taken port; 0 retries indefinitely. */
  readonly retryCount: number;
  readonly retryMs: number;
  /** Reports once that a port is taken and retried. */
  readonly taken: (error: PeerPortError) => void;
  /** How long failures of an address count against it. */
  readonly windowMs: number;
}

/** Failures of one address within a window before its connections are refused. */
const FAILURE_COUNT_MAX = 30;
const ADDRESS_COUNT_MAX = 4096;

/**
 * Accepts connections of peers, and of strangers. Connections that are not authenticated yet,
 * including TLS handshakes in progress, are limited in number; an address that fails again and
 * again is refused for a while before it uses resources.
 */
export class PeerListener {
  /** It may be moved to another place. */
  readonly socket: ListenSocket;
  readonly #config: PeerListenerConfig;
  readonly #strangers: Strangers<Socket>;
  readonly #failures = new Map<string, number>();
  #windowStartMs = 0;
  #isStopped = false;
  #stopWaiting: (() => void) | undefined;
  #problem: PeerPortError | undefined;
  readonly #host: ListenHost;

  constructor(config: PeerListenerConfig, accept: (socket: Socket, address: string) => void) {
    this.#config = config;
    const { host, lookup, warn, retryMs, purpose } = config;
    this.#host = new ListenHost({ host, setting: settingOf(purpose), lookup, warn, retryMs });
    this.#strangers = new Strangers((address) => config.members.has(address));
    const accepted = (socket: Socket): void => {
      const address = javaAddress(socket.remoteAddress ?? "");
      if (socket.remoteAddress === undefined || this.#isUnwanted(address)) {
        socket.on("error", () => {
          // A reset of a connection that is gone already.
        });
        socket.resetAndDestroy();
        return;
      }
      this.#strangers.add(socket, address)?.destroy();
      socket.once("close", () => this.#strangers.delete(socket));
      accept(socket, address);
    };
    this.socket = new ListenSocket(() => createSharedReadServer({ noDelay: true }, accepted, config.sharedReads));
  }

  /**
   * Resolves once the port is bound; a taken port is retried for a while, and so is a name of this
   * server that does not resolve yet.
   *
   * @throws PeerPortError
   */
  async listen(): Promise<void> {
    const { purpose, port, host, retryCount, retryMs, members } = this.#config;
    void members.refresh();
    for (let attempt = 1; !this.#isStopped; attempt++) {
      const address = await this.#host.address();
      if (this.#isStopped) return;
      try {
        await this.socket.open({ address, port });
        this.#problem = undefined;
        return;
      } catch (error) {
        const code = error instanceof Error && "code" in error ? String(error.code) : "";
        if (await this.#host.isStale(code)) continue;
        const problem = new PeerPortError({ purpose, host: host ?? "*", port }, code, error);
        if (code !== "EADDRINUSE" || (retryCount > 0 && attempt > retryCount)) throw problem;
        if (this.#isStopped) return;
        if (attempt === 1) this.#config.taken(problem);
        this.#problem = problem;
        const { promise, resolve } = Promise.withResolvers<void>();
        const timer = setTimeout(resolve, retryMs);
        this.#stopWaiting = () => {
          clearTimeout(timer);
          resolve();
        };
        await promise;
      }
    }
  }

  /** Why the port is not bound yet; undefined if there is no reason. */
  get waitsFor(): string | undefined {
    return this.#host.waitsFor ?? this.#problem?.message;
  }

  /** The bound port, also where the configuration left the choice to the system. */
  get port(): number {
    return this.socket.place?.port ?? this.#config.port;
  }

  /** The connection has authenticated as a peer. */
  admitted(socket: Socket): void {
    this.#strangers.delete(socket);
    if (socket.remoteAddress !== undefined) this.#config.members.prove(javaAddress(socket.remoteAddress));
  }

  /** Other servers are listed: their addresses are looked up. */
  membersChanged(): void {
    void this.#config.members.refresh();
  }

  /** Whether a server of the ensemble has the address. */
  isMember(address: string): boolean {
    return this.#config.members.has(address);
  }

  /** The connection has failed to authenticate as a peer. */
  failed(address: string): void {
    const counted = this.#countedAs(address);
    if (this.#failures.size < ADDRESS_COUNT_MAX || this.#failures.has(counted)) {
      this.#failures.set(counted, (this.#failures.get(counted) ?? 0) + 1);
    }
  }

  /** Stops accepting; connections of peers stay, strangers' are closed. */
  stop(): void {
    this.#isStopped = true;
    this.#stopWaiting?.();
    this.#host.stop();
    for (const socket of this.#strangers) socket.destroy();
    this.socket.stop();
  }

  /** A server does not count with the strangers of its /64. */
  #countedAs(address: string): string {
    return this.isMember(address) ? address : addressShare(address);
  }

  #isUnwanted(address: string): boolean {
    const nowMs = performance.now();
    if (nowMs - this.#windowStartMs > this.#config.windowMs) {
      this.#windowStartMs = nowMs;
      this.#failures.clear();
      void this.#config.members.refresh();
    }
    if (this.#isStopped || (this.#failures.get(this.#countedAs(address)) ?? 0) >= FAILURE_COUNT_MAX) return true;
    return this.#strangers.isRefused(address);
  }
}

function describe(place: { purpose: LinkPurpose; host: string; port: number }, code: string, cause: unknown): string {
  const { purpose, host, port } = place;
  const what = `the ${purpose} port ${port} on ${host}`;
  const setting = settingOf(purpose);
  switch (code) {
    case "EADDRINUSE":
      return `${what} is taken by another process; see ${setting}`;
    case "EACCES":
      return `${what} needs more rights than this process has; choose one above 1023 in ${setting}`;
    case "EADDRNOTAVAIL":
      return `${host} in this server's line server.N is not an address of this machine; quorumListenOnAllIPs=true listens on all`;
    default:
      return `cannot listen on ${what}: ${cause instanceof Error ? cause.message : String(cause)}`;
  }
}

function settingOf(purpose: LinkPurpose): string {
  return purpose === "observer" ? "observerMasterPort" : "this server's line server.N";
}
