import { connect } from "node:net";
import { type Transport, tcpTransport } from "@zooid/client";

/**
 * Plain TCP from a given source address, for more clients than a server accepts from one address.
 * Unlike the client's own transport it keeps no buffer for each connection, of which there may be
 * thousands.
 */
export function transportFrom(localAddress: string | undefined): Transport {
  return {
    resolve: (host) => tcpTransport.resolve(host),
    connect: ({ host, port }, events) => {
      const socket = connect({ host, port, noDelay: true, ...(localAddress === undefined ? {} : { localAddress }) });
      let fault: Error | undefined;
      socket.on("connect", () => events.opened());
      socket.on("data", (chunk) => events.data(chunk));
      socket.on("drain", () => events.drained());
      socket.on("error", (error) => {
        fault = error;
      });
      socket.on("close", () => events.closed(fault));
      return {
        write: (bytes, written) => socket.write(bytes, written),
        destroy: () => {
          socket.removeAllListeners();
          // An error without a listener would end the process.
          socket.on("error", () => {});
          socket.destroy();
        },
      };
    },
  };
}
