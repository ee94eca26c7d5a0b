import { connect } from "node:net";
import { resolveByName, socketConnection } from "./socket-connection.ts";
import type { Transport } from "./transport.ts";

/** Plain TCP, names resolved by the system at each attempt. */
export const tcpTransport: Transport = {
  resolve: resolveByName,
  connect: ({ host, port }, events, reachMs) =>
    socketConnection((options) => connect({ host, port, ...options }), { opened: "connect", reachMs }, events),
};
