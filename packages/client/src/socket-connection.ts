import { lookup } from "node:dns/promises";
import { isIP, type Socket } from "node:net";
import type { HostAddress } from "./connect-string.ts";
import type { TransportConnection, TransportEvents } from "./transport.ts";

/** One buffer a connection, read into again and again. */
const CHUNK_BYTES = 64 * 1024;

/** What a socket is opened with, whether it speaks TLS or not. */
export interface SocketOptions {
  readonly noDelay: true;
  readonly keepAlive: true;
  readonly onread: { readonly buffer: Uint8Array; callback(count: number, buffer: Uint8Array): boolean };
}

/** Names are resolved by the system, at each attempt. */
export async function resolveByName({ host, port }: HostAddress): Promise<readonly HostAddress[]> {
  if (isIP(host) !== 0) return [{ host, port }];
  const found = await lookup(host, { all: true });
  return found.map(({ address }) => ({ host: address, port, name: host }));
}

/**
 * A connection over a socket of Node's.
 *
 * @param opened the socket's event that says that it can be used
 */
export function socketConnection(
  open: (options: SocketOptions) => Socket,
  opened: "connect" | "secureConnect",
  events: TransportEvents,
): TransportConnection {
  let fault: Error | undefined;
  let isGone = false;
  const socket = open({
    noDelay: true,
    keepAlive: true,
    onread: {
      buffer: Buffer.allocUnsafeSlow(CHUNK_BYTES),
      callback(count, buffer) {
        if (!isGone) events.data(Buffer.from(buffer.buffer, buffer.byteOffset, count));
        return true;
      },
    },
  });
  socket.once(opened, () => {
    if (!isGone) events.opened();
  });
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
}
