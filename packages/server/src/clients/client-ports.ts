import type { Socket } from "node:net";
import { hostPort } from "@zooid/model";
import { fileDescriptors } from "../admin/file-descriptors.ts";
import type { ServerConfig } from "../config.ts";
import type { MovablePort } from "../listening/port-moves.ts";
import type { LogFields, WriteLine } from "../operators/log-fields.ts";
import type { RefusalLog } from "../operators/refusal-log.ts";
import { type ClientTaker, ClientTls } from "../tls/client-tls.ts";
import { FileWatch } from "../tls/file-watch.ts";
import { notAfterSeconds, ownCertificate } from "../tls/own-certificate.ts";
import type { TlsConfig } from "../tls/tls-config.ts";
import { ClientListener, type ConnectionLimits, type ListenerConfig } from "./client-listener.ts";

interface Log {
  info(text: string, fields: LogFields): void;
  warn(text: string, fields: LogFields): void;
}

/** Certificates that were read, and are not in force yet. */
export interface ReadCertificates {
  apply(): void;
}

/** The ports for clients: plain, TLS, or both; each with its own limits. */
export class ClientPorts {
  readonly #plain: ClientListener | undefined;
  /** Where the ensemble's configuration puts the plain port; undefined where it does not say. */
  #wanted: { readonly host: string | undefined; readonly port: number } | undefined;
  readonly #secure: ClientListener | undefined;
  readonly #tls: ClientTls[] = [];
  readonly #config: ServerConfig;
  readonly #log: Log;
  readonly #refusals: RefusalLog;
  readonly #connectionCountMax = clientDescriptorsMax(fileDescriptors());
  /** The end of validity of the certificate that clients see; undefined without TLS. */
  #certificateNotAfter: number | undefined;
  readonly reloads: { done: number; failed: number } = { done: 0, failed: 0 };
  #watch: FileWatch | undefined;

  /** @param arrived called with each connection, whatever becomes of it */
  constructor(config: ServerConfig, refusals: RefusalLog, log: Log, take: ClientTaker, arrived: () => void) {
    this.#config = config;
    this.#log = log;
    this.#refusals = refusals;
    const room = {
      hasRoom: (socket: Socket): boolean => this.#hasRoom(socket),
      descriptorsMax: this.#connectionCountMax,
      arrived,
    };
    const warn: WriteLine = (text, fields) => log.warn(text, fields);
    const { tls } = config;
    if (tls !== undefined) this.#certificateNotAfter = notAfterSeconds(ownCertificate(tls.context));
    if (config.plainPort) {
      const either = tls !== undefined && config.portUnification ? this.#addTls(tls, refusals, take) : undefined;
      const { port, address } = config;
      const place = { port, address, sharedReads: either === undefined, warn };
      this.#plain = listenerOf(config, place, room, (socket, address) => {
        if (either === undefined) take(socket, address);
        else either.acceptEither(socket, address);
      });
    }
    if (tls !== undefined && config.securePort !== undefined) {
      const secure = this.#addTls(tls, refusals, take);
      const addressSetting = "secureClientPortAddress";
      const place = {
        port: config.securePort,
        address: config.secureAddress,
        sharedReads: false,
        addressSetting,
        warn,
      };
      this.#secure = listenerOf(config, place, room, (socket, address) => secure.accept(socket, address));
    }
  }

  /** Resolves once the ports are bound; rejects with the system's error when one cannot be. */
  async listen(): Promise<void> {
    await this.#plain?.listen();
    await this.#secure?.listen();
    const { watched = [] } = this.#config.tls ?? {};
    this.#watch = new FileWatch(watched, () => this.#reloadCertificates());
  }

  /** No client is accepted until {@link open}. */
  close(): void {
    this.#plain?.close();
    this.#secure?.close();
  }

  /** Accepts clients again. Rejects with the system's error when a port cannot be bound. */
  async open(): Promise<void> {
    await this.#plain?.open();
    await this.#secure?.open();
  }

  /** The configuration's limits have changed; open connections stay. */
  limitsChanged(): void {
    const limits = connectionLimitsOf(this.#config, this.#connectionCountMax);
    for (const listener of [this.#plain, this.#secure]) listener?.change(limits);
  }

  /** The plain port, where the configuration of an ensemble can move it. */
  get movable(): MovablePort | undefined {
    const { socket } = this.#plain ?? {};
    return socket === undefined ? undefined : { name: "the port for clients", socket, wanted: () => this.#wanted };
  }

  /** @param host undefined for every address */
  want(place: { readonly host: string | undefined; readonly port: number }): void {
    this.#wanted = place;
  }

  /** The bound port that is shown to clients. */
  get port(): number | undefined {
    return (this.#plain ?? this.#secure)?.port;
  }

  get securePort(): number | undefined {
    return this.#secure?.port;
  }

  get address(): string | undefined {
    return (this.#plain ?? this.#secure)?.address;
  }

  /** Connections beyond the limits. */
  get rejectedCount(): number {
    return (this.#plain?.rejectedCount ?? 0) + (this.#secure?.rejectedCount ?? 0);
  }

  /** In seconds since 1970; undefined without TLS. */
  get certificateNotAfter(): number | undefined {
    return this.#certificateNotAfter;
  }

  /** TLS handshakes in progress. */
  get handshakeCount(): number {
    return this.#tls.reduce((count, tls) => count + tls.handshakeCount, 0);
  }

  /** Stops accepting; served connections stay. */
  stop(): void {
    this.#watch?.[Symbol.dispose]();
    this.#plain?.stop();
    this.#secure?.stop();
    for (const tls of this.#tls) tls.stop();
  }

  /** Some descriptors are reserved for the log, the state and the other servers. */
  #hasRoom(socket: Socket): boolean {
    const listeners = [this.#plain, this.#secure];
    const taken = listeners.reduce((count, listener) => count + (listener?.connectionCount ?? 0), 0);
    if (taken < this.#connectionCountMax) return true;
    const peer = `/${hostPort(socket.remoteAddress ?? "", socket.remotePort ?? 0)}`;
    this.#refusals.note("descriptors", peer, `${taken} clients are all that the limit of open files leaves room for`);
    return false;
  }

  #addTls(tls: TlsConfig, refusals: RefusalLog, take: ClientTaker): ClientTls {
    const added = new ClientTls(tls, refusals, take, this.#config.trustedProxies);
    this.#tls.push(added);
    return added;
  }

  /**
   * Reads the certificates again without putting them into force: a list of problems where they are
   * invalid.
   */
  readCertificates(): ReadCertificates | readonly string[] {
    const { tls } = this.#config;
    if (tls === undefined) return { apply: () => {} };
    const context = tls.reload();
    if ("length" in context) {
      this.reloads.failed++;
      return context;
    }
    return {
      apply: () => {
        for (const one of this.#tls) one.setContext(context);
        this.#certificateNotAfter = notAfterSeconds(ownCertificate(context));
        this.reloads.done++;
      },
    };
  }

  /** Invalid certificates change nothing: they may be half written. */
  #reloadCertificates(): void {
    const { tls } = this.#config;
    if (tls === undefined) return;
    const read = this.readCertificates();
    if ("length" in read) {
      this.#log.warn(`the certificates that were read before stay in force: ${read.join("; ")}`, {
        event: "certificates-refused",
      });
      return;
    }
    read.apply();
    this.#log.info(`new client connections use the certificates that were read again from ${tls.files.join(", ")}`, {
      event: "certificates-reloaded",
    });
  }
}

/** Files and sockets reserved for the server itself, with a tenth of the system's limit. */
const OWN_DESCRIPTORS = 64;

/** Clients at a time under the system's limit of open files. */
export function clientDescriptorsMax({ open, max }: { readonly open: number; readonly max: number }): number {
  if (max < 0) return Number.POSITIVE_INFINITY;
  return Math.max(1, Math.min(Math.floor(max * 0.9), max - open - OWN_DESCRIPTORS));
}

function connectionLimitsOf(
  { connectionsPerAddressMax, connectionsMax, trustedProxies }: ServerConfig,
  descriptorsMax: number,
): ConnectionLimits {
  return {
    perAddressMax: connectionsPerAddressMax,
    proxiedMax: Math.max(1, Math.floor(trustedProxies.share * (connectionsMax || descriptorsMax))),
    totalMax: connectionsMax,
  };
}

function listenerOf(
  config: ServerConfig,
  {
    port,
    address,
    ...place
  }: Pick<ListenerConfig, "port" | "sharedReads" | "addressSetting" | "warn"> & { readonly address: string },
  {
    hasRoom,
    descriptorsMax,
    arrived,
  }: { readonly hasRoom: (socket: Socket) => boolean; readonly descriptorsMax: number; readonly arrived: () => void },
  accept: (socket: Socket, address: string) => void,
): ClientListener {
  return new ClientListener(
    {
      port,
      address: address === "*" ? undefined : address,
      backlog: config.listenBacklog,
      ...connectionLimitsOf(config, descriptorsMax),
      trustedProxies: config.trustedProxies,
      tcpKeepAlive: config.tcpKeepAlive,
      ...place,
      hasRoom,
      arrived,
    },
    accept,
  );
}
