/**
 * A server in a thread of its own, so that its heap does not count for the clients under test.
 * Posts its port, and stops at the first message.
 */
import { parentPort } from "node:worker_threads";
import { startServer } from "@zooid/embedded-server";

const server = await startServer({
  port: 0,
  tickMs: 100,
  sessionTimeoutMsMax: 60_000,
  connectionsPerAddressMax: 0,
  fourLetterWords: "*",
  ttlNodes: true,
  // Nodes that the server removes unasked would be mistaken for work of a round.
  reaping: { checkIntervalMs: 2 ** 30 },
});
parentPort?.once("message", () => server.stop());
parentPort?.postMessage(server.port);
