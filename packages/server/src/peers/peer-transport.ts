import type { Server, ServerOpts, Socket } from "node:net";
import type { ServerId } from "@zooid/model";
import { createSharedReadServer, sharedReadSocket } from "../shared-reads.ts";
import type { RelaySocket } from "./relay-socket.ts";

/** What a connection speaks through: a socket, or what stands for one where another server stands between. */
export type PeerSocket = Socket | RelaySocket;

/** How bytes get from one server to another: as they are, or through TLS. */
export interface PeerTransport {
  /** What takes connections, each to be handed to `accept` of this transport. */
  createServer(options: ServerOpts, accept: (socket: Socket) => void): Server;
  /**
   * Begins to connect.
   *
   * @param ready called once when both sides can speak, never from within the call; a failure before that is the socket's
   */
  connect(address: { readonly host: string; readonly port: number }, ready: (socket: Socket) => void): Socket;
  /** Takes a connection that came. What `ready` is handed may be another socket around it. */
  accept(socket: Socket, ready: (socket: Socket) => void): void;
  /** What speaks against the other side being this server; undefined when nothing does. Asked once it has said which it is. */
  faultOf(socket: object, sid: ServerId): string | undefined;
  /** Files whose change is to be followed by {@link reload}. Default: none. */
  readonly files?: readonly string[];
  /**
   * Reads the certificates again, for connections from now on.
   *
   * @returns why what was read before stays in force; empty where the certificates were read
   */
  reload?(): readonly string[];
}

/** Who can read or change what is on the network is trusted. */
export const PLAIN_TRANSPORT: PeerTransport = {
  createServer: createSharedReadServer,
  connect: ({ host, port }, ready) => {
    // A name is resolved anew each time: servers move.
    const socket = sharedReadSocket().connect({ host, port });
    return socket.once("connect", () => ready(socket));
  },
  accept: (socket, ready) => {
    setImmediate(() => ready(socket));
  },
  faultOf: () => undefined,
};
