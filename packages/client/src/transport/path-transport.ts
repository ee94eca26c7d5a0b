import { connect } from "node:net";
import { checkArgument, rules } from "@zooid/model";
import { socketConnection } from "./socket-connection.ts";
import type { Transport } from "./transport.ts";

/**
 * A socket in the file system, whatever the addresses of the servers are: for a server that serves
 * a process of its own machine there.
 */
export function pathTransport(path: string): Transport {
  checkArgument("pathTransport", "the path", path, rules.text);
  return {
    resolve: async (host) => [host],
    connect: (_, events, reachMs) =>
      socketConnection((options) => connect({ path, ...options }), { opened: "connect", reachMs }, events),
  };
}
