import dns from "node:dns/promises";
import { isIP, type Socket } from "node:net";
import { hostPort, isConnectedToItself } from "@zooid/model";
import { startTimer } from "../calls/timers.ts";
import type { HostAddress } from "../servers/connect-string.ts";
import type { TransportConnection, TransportEvents } from "./transport.ts";

/** One read buffer for each connection, reused. */
const CHUNK_BYTES = 64 * 1024;

/** Opens a socket, with or without TLS. */
export interface SocketOptions {
  readonly noDelay: true;
  readonly keepAlive: true;
  readonly onread: { readonly buffer: Uint8Array; callback(count: number, buffer: Uint8Array): boolean };
}

/**
 * Names are resolved by the system, at each attempt; SRV records too, whose priorities and weights
 * are ignored.
 */
export async function resolveByName({ host, port, isService }: HostAddress): Promise<readonly HostAddress[]> {
  if (isService === true) return resolveService(host);
  if (isIP(host) !== 0) return [{ host, port }];
  const found = await dns.lookup(host, { all: true });
  return found.map(({ address }) => ({ host: address, port, name: host }));
}

/** One server with an unknown name does not hide the others. */
async function resolveService(service: string): Promise<readonly HostAddress[]> {
  // Called on the module: functions imported by name do not use other name servers.
  const records = await dns.resolveSrv(service);
  const found = await Promise.allSettled(records.map(({ name, port }) => resolveByName({ host: name, port })));
  const addresses = found.flatMap((server) => (server.status === "fulfilled" ? server.value : []));
  const failed = found.find((server) => server.status === "rejected");
  if (addresses.length === 0 && failed !== undefined) throw failed.reason;
  return addresses;
}

interface Opening {
  /** The socket's event after which it can be used. */
  readonly opened: "connect" | "secureConnect";
  /** As of {@link Transport.connect}. */
  readonly reachMs: number | undefined;
}

/** A connection over a socket of Node's. */
export function socketConnection(
  open: (options: SocketOptions) => Socket,
  { opened, reachMs }: Opening,
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
  // The system's own limit is minutes where nothing answers, as at the address of a host that is
  // gone.
  const unreached = reachMs === undefined ? undefined : startTimer(reachMs, () => endUnreached(socket, reachMs));
  // Dialing a port of this machine where no server listens may connect it to itself, if the system
  // chooses that port as the local one.
  socket.once("connect", () => {
    unreached?.cancel();
    if (isConnectedToItself(socket)) socket.destroy(selfConnection(socket));
  });
  socket.once(opened, () => {
    if (!isGone && !socket.destroyed) events.opened();
  });
  socket.on("drain", () => {
    if (!isGone) events.drained();
  });
  socket.on("error", (error) => {
    fault = error;
  });
  // The server has ended the connection: there is no reason for a half-open one.
  socket.on("end", () => socket.destroy());
  socket.once("close", () => {
    unreached?.cancel();
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

/**
 * A turn of the event loop that takes longer than the limit must not end an attempt whose answer
 * has come: it is read between the timers and `setImmediate`.
 */
function endUnreached(socket: Socket, reachMs: number): void {
  setImmediate(() => {
    if (socket.connecting) socket.destroy(silence(reachMs));
  });
}

function silence(reachMs: number): Error {
  const text = `nothing answered within ${reachMs} ms: the host may be down or firewalled`;
  return Object.assign(new Error(text), { code: "ETIMEDOUT" });
}

function selfConnection({ remoteAddress = "", remotePort = 0 }: Socket): Error {
  const text = `connect ECONNREFUSED ${hostPort(remoteAddress, remotePort)}: no server listens, and the connection was to itself`;
  return Object.assign(new Error(text), { code: "ECONNREFUSED" });
}
