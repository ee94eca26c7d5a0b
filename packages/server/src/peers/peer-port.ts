import type { Socket } from "node:net";
import type { ServerId } from "@zooid/model";
import { hostPort } from "@zooid/model";
import type { LinkPurpose } from "@zooid/peer-protocol";
import { BufferPool } from "@zooid/wire";
import type { Lookup } from "../listening/listen-host.ts";
import type { MovablePort } from "../listening/port-moves.ts";
import type { WriteLine } from "../operators/log-fields.ts";
import type { RefusalLog } from "../operators/refusal-log.ts";
import type { QuorumPeerConfig } from "./ensemble-config.ts";
import type { HandshakeFault, LinkIdentity, PeerIdentity } from "./handshake.ts";
import { MemberAddresses } from "./member-addresses.ts";
import type { PeerAddress } from "./member-directory.ts";
import {
  type ConnectionEnd,
  type ConnectionHandler,
  type ConnectionSettings,
  PeerConnection,
} from "./peer-connection.ts";
import { PeerListener } from "./peer-listener.ts";
import { saidTls } from "./peer-security.ts";
import { PLAIN_TRANSPORT } from "./peer-transport.ts";
import type { RelaySocket } from "./relay-socket.ts";

/** Options of both kinds of links. */
export interface PeerLinkOptions {
  readonly ensemble: QuorumPeerConfig;
  /** Called at every handshake. */
  readonly identity: () => LinkIdentity;
  readonly tickMs: number;
  /** The longest frame; see `peerFrameBytesMax`. */
  readonly frameBytesMax: number;
  readonly refusals: RefusalLog;
  /** Where frames are written. Default: a pool of its own. */
  readonly pool?: BufferPool;
  /** From 0 to below 1. Default: the system's. */
  readonly random?: () => number;
  /** Default: 5000, a second, ten seconds. */
  readonly handshakeTimeoutMs?: number;
  readonly bindRetryMs?: number;
  /** Default: the ensemble's. */
  readonly bindRetryCount?: number;
  /** A line for operators: this server's name does not resolve. Default: none. */
  readonly warn?: WriteLine;
  /** Looks up this server's name. Default: the system's. */
  readonly lookup?: Lookup;
  /** Reports once that a port is taken and retried. Default: no report. */
  readonly taken?: (error: Error) => void;
  /**
   * This side has refused a connection from the address of a listed server. Default: no report.
   */
  readonly memberRefused?: (address: string, reason: string) => void;
  readonly failureWindowMs?: number;
}

/** The part that knows which servers may be linked. */
export interface PortHost {
  /** Makes the handler of an incoming connection. */
  readonly accepted: () => AcceptedHandler;
  readonly admit: (peer: PeerIdentity, side: AdmittedSide) => HandshakeFault | undefined;
}

/** How a server that wants a link is known. */
export interface AdmittedSide {
  /** This side dialed it. */
  readonly isDialed: boolean;
  /** It is authenticated, where that is required. */
  readonly isCertain: boolean;
}

/** Unless {@link PeerLinkOptions} override it. */
export const HANDSHAKE_TIMEOUT_MS = 5000;
/** Timeout of the last bytes of a closing connection. */
const CLOSING_TIMEOUT_MS = 2000;

/**
 * Streams that another server relays end for the reasons that it gives, and not for those of TLS.
 */
const { reasonOf } = PLAIN_TRANSPORT;

/** Limits of one attempt in place of the ensemble's, see {@link ConnectionSettings}. */
export type DialLimits = Partial<Pick<ConnectionSettings, "connectTimeoutMs" | "reachMs">>;

/** One port for peers and its connections, incoming and outgoing. */
export class PeerPort {
  readonly #purpose: LinkPurpose;
  readonly #options: PeerLinkOptions;
  readonly #pool: BufferPool;
  readonly #host: PortHost;
  readonly #listener: PeerListener;
  /** Every connection whose socket may still exist. */
  readonly #connections = new Set<PeerConnection>();
  #listening: Promise<void> | undefined;

  constructor(purpose: LinkPurpose, options: PeerLinkOptions, host: PortHost) {
    this.#purpose = purpose;
    this.#options = options;
    this.#pool = options.pool ?? new BufferPool();
    this.#host = host;
    this.#listener = this.#newListener();
  }

  /** For one connection: secrets and certificates are those of now. */
  #settings(isDialed: boolean): ConnectionSettings {
    const { identity, frameBytesMax, handshakeTimeoutMs = HANDSHAKE_TIMEOUT_MS, ensemble } = this.#options;
    const { directory, sid, electionAlg, secrets, secretMode, connectTimeoutMs, transport } = ensemble;
    return {
      handshake: {
        sid,
        purpose: this.#purpose,
        electionAlg,
        secrets,
        secretMode,
        tls: saidTls(transport, ensemble.security.current),
        identity,
        frameBytesMax,
        host: () => directory.find(sid)?.host ?? "",
        isListed: (other) => directory.mayConnect(other),
        isChangeable: () => directory.isChangeable,
        isFileInForce: () => directory.isFileInForce,
        admit: (peer, isCertain) => this.#host.admit(peer, { isDialed, isCertain }),
      },
      transport,
      pool: this.#pool,
      connectTimeoutMs,
      readyTimeoutMs: connectTimeoutMs,
      closingTimeoutMs: CLOSING_TIMEOUT_MS,
      handshakeTimeoutMs,
      generation: ensemble.security.generation,
    };
  }

  #newListener(): PeerListener {
    const { ensemble } = this.#options;
    const { directory, sid } = ensemble;
    const [purpose, options] = [this.#purpose, this.#options];
    const own = directory.addressOf(sid);
    if (own === undefined) throw new RangeError(`server ${sid} is not listed`);
    return new PeerListener(
      {
        purpose,
        port: portFor(purpose, own),
        sharedReads: () => ensemble.transport.sharedReads,
        warn: options.warn ?? (() => {}),
        lookup: options.lookup,
        members: new MemberAddresses(() => directory.hosts),
        host: ensemble.listenOnAllAddresses ? undefined : own.host,
        retryCount: options.bindRetryCount ?? ensemble.bindRetryCount,
        retryMs: options.bindRetryMs ?? 1000,
        taken: options.taken ?? (() => {}),
        windowMs: options.failureWindowMs ?? 10_000,
      },
      (socket, address) => this.#accept(socket, address, this.#host.accepted()),
    );
  }

  /** The port, as the configuration in force places it. */
  get movable(): MovablePort {
    const { directory, sid, listenOnAllAddresses } = this.#options.ensemble;
    return {
      name: `the ${this.#purpose === "observer" ? "observers'" : this.#purpose} port`,
      socket: this.#listener.socket,
      wanted: () => {
        const own = directory.addressOf(sid);
        if (own === undefined) return undefined;
        return { host: listenOnAllAddresses ? undefined : own.host, port: portFor(this.#purpose, own) };
      },
    };
  }

  /** The servers of the ensemble changed. */
  membersChanged(): void {
    this.#listener.membersChanged();
  }

  listen(): Promise<void> {
    this.#listening ??= this.#listener.listen();
    return this.#listening;
  }

  get port(): number {
    return this.#listener.port;
  }

  /** Why it is not bound yet; undefined if there is no reason. */
  get waitsFor(): string | undefined {
    return this.#listener.waitsFor;
  }

  dial(to: ServerId, handler: ConnectionHandler, limits: DialLimits = {}): PeerConnection {
    const address = this.#options.ensemble.directory.addressOf(to) ?? NOWHERE;
    const { host } = address;
    const port = portFor(this.#purpose, address);
    const noting = this.#noting(`server ${to} (${hostPort(host, port)})`, handler);
    const settings = { ...this.#settings(true), ...limits };
    return this.#keep(PeerConnection.dial(settings, to, { host, port }, noting));
  }

  /** As {@link dial}, through a stream that another server relays. */
  dialThrough(socket: RelaySocket, to: ServerId, by: ServerId, handler: ConnectionHandler): PeerConnection {
    // The other end is the leader of that server: it has authenticated there, and this end is about
    // to authenticate to it.
    const settings = this.#settings(true);
    const transport = { ...settings.transport, reasonOf, distrust: () => undefined, faultOf: () => undefined };
    const noting = this.#noting(`server ${to} by way of server ${by}`, handler);
    return this.#keep(PeerConnection.through({ ...settings, transport }, socket, to, noting));
  }

  /**
   * Accepts a connection through a stream relayed by a server, which has verified that it comes
   * from server `sid`.
   */
  acceptThrough(socket: RelaySocket, sid: ServerId, by: ServerId, handler: AcceptedHandler): void {
    const faultOf = (_: unknown, { sid: said }: Pick<PeerIdentity, "sid">): string | undefined =>
      said === sid ? undefined : `server ${by} knows it as server ${sid}, not as server ${said}`;
    const settings = this.#settings(false);
    const transport = { ...settings.transport, reasonOf, distrust: () => undefined, faultOf };
    const noting = this.#noting(`server ${sid} by way of server ${by}`, {
      wake: handler.wake,
      message: handler.message,
      drained: handler.drained,
      ended: handler.ended,
      opened: (peer, roundTripMs) => handler.opened(connection, peer, roundTripMs),
    });
    const connection = PeerConnection.through({ ...settings, transport }, socket, undefined, noting);
    this.#keep(connection);
  }

  /** Stops accepting, and closes every connection after its pending messages. */
  async stop(): Promise<void> {
    this.#listener.stop();
    const connections = [...this.#connections];
    for (const connection of connections) connection.close();
    await Promise.all(connections.map((connection) => connection.gone()));
  }

  #accept(socket: Socket, address: string, handler: AcceptedHandler): void {
    const peer = `a peer at ${hostPort(address, socket.remotePort ?? 0)}`;
    const accepted: ConnectionHandler = {
      wake: handler.wake,
      message: handler.message,
      drained: handler.drained,
      opened: (identity, roundTripMs) => {
        this.#listener.admitted(socket);
        handler.opened(connection, identity, roundTripMs);
      },
      ended: (end) => {
        if (isFailure(end)) this.#listener.failed(address);
        if (end.refusal !== undefined) this.#note(peer, address, end);
        if (isObjection(end) && this.#listener.isMember(address)) {
          this.#options.memberRefused?.(address, end.reason);
        }
        handler.ended(end);
      },
    };
    const kind = `${this.#purpose} link, tls by this side`;
    const connection = PeerConnection.accept(this.#settings(false), socket, accepted, {
      isMember: this.#listener.isMember(address),
      failed: (reason) => this.#options.refusals.noteRepeated(kind, `${address} ${reason}`, peer, reason),
    });
    this.#keep(connection);
  }

  /** @param from identifies the other side in each of its attempts */
  #note(peer: string, from: string, { refusal, reason }: ConnectionEnd): void {
    if (refusal === undefined) return;
    const { refusals } = this.#options;
    const kind = `${this.#purpose} link, ${refusal.kind} by ${refusal.by}`;
    // Two servers that dial each other at once have two connections, of which one goes.
    if (refusal.kind === "duplicate") refusals.noteExpected(kind, peer, reason);
    else refusals.noteRepeated(kind, `${from} ${reason}`, peer, reason);
  }

  #noting(peer: string, handler: ConnectionHandler): ConnectionHandler {
    return {
      wake: handler.wake,
      opened: handler.opened,
      message: handler.message,
      drained: handler.drained,
      answered: () => handler.answered?.(),
      ended: (end) => {
        if (end.refusal !== undefined) this.#note(peer, peer, end);
        handler.ended(end);
      },
    };
  }

  #keep(connection: PeerConnection): PeerConnection {
    this.#connections.add(connection);
    void connection.gone().then(() => this.#connections.delete(connection));
    return connection;
  }
}

/** The address of a server that has left: dialing it fails. */
const NOWHERE: PeerAddress = { host: "0.0.0.0", quorumPort: 1, electionPort: 1 };

function portFor(purpose: LinkPurpose, { electionPort, quorumPort, observerMasterPort = 0 }: PeerAddress): number {
  if (purpose === "election") return electionPort;
  return purpose === "quorum" ? quorumPort : observerMasterPort;
}

/**
 * Peers that connect at the wrong moment are no failures, nor are connections that end before
 * they send a byte.
 */
function isFailure(end: ConnectionEnd): boolean {
  return end.isEarly && isObjection(end);
}

function isObjection({ refusal }: ConnectionEnd): boolean {
  return refusal !== undefined && refusal.by === "this side" && refusal.kind !== "duplicate";
}

/** As {@link ConnectionHandler}, for a connection that does not exist before it opens. */
export interface AcceptedHandler extends Omit<ConnectionHandler, "opened"> {
  opened(connection: PeerConnection, peer: PeerIdentity, roundTripMs: number | undefined): void;
}
