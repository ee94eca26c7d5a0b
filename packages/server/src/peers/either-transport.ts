import { TLSSocket } from "node:tls";
import { type PeerTransport, PLAIN_TRANSPORT } from "./peer-transport.ts";

/** The first byte of every TLS connection. No frame of a handshake is as long as it would say. */
const TLS_HANDSHAKE = 0x16;

/**
 * Takes connections with TLS and without, by their first bytes (`portUnification`): servers change
 * from one to the other one after another. The dialed protocol does not depend on the other side,
 * so that an attacker cannot talk a server that dials TLS out of it.
 */
export function eitherTransport(tls: PeerTransport, dialsTls: boolean): PeerTransport {
  const dialed = dialsTls ? tls : PLAIN_TRANSPORT;
  return {
    ...tls,
    get material() {
      return tls.material ?? "";
    },
    get certificate() {
      return tls.certificate;
    },
    get authorities() {
      return tls.authorities ?? [];
    },
    sharedReads: false,
    connect: dialed.connect,
    reasonOf: dialed.reasonOf,
    accept: (socket, ready, accepting) => {
      const decide = (): void => {
        const first: Buffer | null = socket.read();
        if (first === null) {
          socket.destroy();
          return;
        }
        socket.unshift(first);
        if (first[0] === TLS_HANDSHAKE) tls.accept(socket, ready, accepting);
        else ready(socket);
      };
      socket.once("readable", decide);
    },
    distrust: (socket) => (socket instanceof TLSSocket ? tls.distrust(socket) : undefined),
    faultOf: (socket, peer) => (socket instanceof TLSSocket ? tls.faultOf(socket, peer) : undefined),
  };
}
