import { lookup } from "node:dns/promises";
import { connect, isIP } from "node:net";
import type { HostAddress } from "./connect-string.ts";
import type { Transport, TransportConnection, TransportEvents } from "./transport.ts";

/** One buffer a connection, read into again and again. */
const CHUNK_BYTES = 64 * 1024;

/** Plain TCP, names resolved by the system at each attempt. */
export const tcpTransport: Transport = {
  async resolve({ host, port }: HostAddress): Promise<readonly HostAddress[]> {
    if (isIP(host) !== 0) return [{ host, port }];
    const found = await lookup(host, { all: true });
    return found.map(({ address }) => ({ host: address, port }));
  },

  connect({ host, port }: HostAddress, events: TransportEvents): TransportConnection {
    let fault: Error | undefined;
    let isGone = false;
    const socket = connect({
      host,
      port,
      noDelay: true,
      keepAlive: true,
      onread: {
        buffer: Buffer.allocUnsafeSlow(CHUNK_BYTES),
        callback(count: number, buffer: Uint8Array): boolean {
          if (!isGone) events.data(Buffer.from(buffer.buffer, buffer.byteOffset, count));
          return true;
        },
      },
    });
    socket.once("connect", () => events.opened());
    socket.on("drain", () => {
      if (!isGone) events.drained();
    });
    socket.on("error", (error) => {
      fault = error;
    });
    // The server is done with us: there is nothing to half-close for.
    socket.on("end", () => socket.destroy());
    socket.once("close", () => {
      if (isGone) return;
      isGone = true;
      events.closed(fault);
    });
    return {
      write: (bytes, written) => socket.write(bytes, written),
      destroy: () => {
        isGone = true;
        socket.destroy();
      },
    };
  },
};
