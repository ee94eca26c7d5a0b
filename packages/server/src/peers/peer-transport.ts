import type { Socket } from "node:net";
import { sharedReadSocket } from "../clients/shared-reads.ts";
import type { PeerIdentity } from "./handshake.ts";
import type { RelaySocket } from "./relay-socket.ts";

/** A connection's byte stream: a socket, or a stream relayed by another server. */
export type PeerSocket = Socket | RelaySocket;

export interface Accepting {
  /**
   * Whether the connection comes from the address of a server of the ensemble: strangers wait for
   * those.
   */
  readonly isMember: boolean;
  /**
   * Receives the reason, as a sentence, if the other side cannot be accepted; the connection may be
   * closed by then. Connections that only end are not reported.
   */
  failed(reason: string): void;
}

/** How bytes get from one server to another: plain, or through TLS. */
export interface PeerTransport {
  /**
   * Whether accepted sockets are read only by `receive`: not with TLS, or where the first bytes
   * decide.
   */
  readonly sharedReads: boolean;
  /**
   * Starts to connect.
   *
   * @param ready called once when the stream is ready on both sides, never from within the call; a
   *   failure before that is emitted by the socket
   */
  connect(address: { readonly host: string; readonly port: number }, ready: (socket: Socket) => void): Socket;
  /**
   * Accepts an incoming connection. The socket given to `ready` may be another one around it.
   *
   */
  accept(socket: Socket, ready: (socket: Socket) => void, accepting: Accepting): void;
  /**
   * The reason, as a sentence, why a stream ended before the other side introduced itself.
   *
   * @param error the stream's, if it has emitted one
   */
  reasonOf(error: Error | undefined): string;
  /**
   * The reason why the other side's certificate is not accepted, whatever server it is; undefined
   * if it is accepted, or none is needed.
   */
  distrust(socket: object): string | undefined;
  /**
   * The reason why the other side is not this server; undefined if it is. Called after the other
   * side's Hello, before this side says more than its own. A promise only on connections that the
   * other side dialed.
   */
  faultOf(socket: object, peer: Pick<PeerIdentity, "sid" | "host">): string | undefined | Promise<string | undefined>;
  /**
   * Whether the other side of a connection, made with other certificates perhaps, would be accepted
   * by the present authorities. Default: it would.
   */
  knowsIssuerOf?(socket: object): boolean;
  /** The end of validity of this server's certificate, in seconds since 1970. Default: none. */
  certificateNotAfter?(): number | undefined;
  /** Identifies this server's certificate. Default: there is none. */
  readonly certificate?: string | undefined;
  /** Identifies each authority that is trusted. Default: there are none. */
  readonly authorities?: readonly string[];
  /**
   * Identifies certificate, key and authorities, and shows none of them. Default: there are none.
   */
  readonly material?: string;
  /** Files whose changes call for {@link reload}. Default: none. */
  readonly files?: readonly string[];
  /**
   * Reads the certificates again, for new connections.
   *
   * @returns the problems, with which the previous certificates stay in force; empty if the new
   *   ones are valid
   */
  reload?(): readonly string[];
}

/** A connection that ended without an error. */
export const CLOSED = "the other side closed it";

/** Why a server ended a connection without TLS before it had introduced itself. */
const MAY_NEED_TLS =
  "it closed the connection before it introduced itself: it may take only TLS on this port (sslQuorum and zooid.peerTls " +
  "have to be equal on all servers); its log has the reason";

/** Plain TCP: all hosts on the network are trusted. */
export const PLAIN_TRANSPORT: PeerTransport = {
  sharedReads: true,
  connect: ({ host, port }, ready) => {
    // Names are resolved at each dial: servers move.
    const socket = sharedReadSocket().connect({ host, port });
    return socket.once("connect", () => ready(socket));
  },
  accept: (socket, ready) => {
    setImmediate(() => ready(socket));
  },
  reasonOf: (error) => (error === undefined || isReset(error) ? MAY_NEED_TLS : error.message),
  distrust: () => undefined,
  faultOf: () => undefined,
};

function isReset(error: Error): boolean {
  return "code" in error && error.code === "ECONNRESET";
}
