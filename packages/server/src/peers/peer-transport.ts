import { connect, type Socket } from "node:net";
import type { ServerId } from "@zooid/model";

/** How bytes get from one server to another: as they are, or through TLS. */
export interface PeerTransport {
  /** Begins to connect. `ready` is called once when both sides can speak, never from within the call; a failure is the socket's. */
  connect(address: { readonly host: string; readonly port: number }, ready: () => void): Socket;
  /** Takes a connection that came. */
  accept(socket: Socket, ready: () => void): Socket;
  /** What speaks against the other side being this server; undefined when nothing does. Asked once it has said which it is. */
  faultOf(socket: Socket, sid: ServerId): string | undefined;
}

/** Who can read or change what is on the network is trusted. */
export const PLAIN_TRANSPORT: PeerTransport = {
  // A name is resolved anew each time: servers move.
  connect: ({ host, port }, ready) => connect({ host, port, noDelay: true }).once("connect", ready),
  accept: (socket, ready) => {
    setImmediate(ready);
    return socket;
  },
  faultOf: () => undefined,
};
