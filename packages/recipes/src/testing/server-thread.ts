/**
 * A server in a thread of its own, so that its heap is not taken for that of the clients under test. Posts its port, and stops when it is
 * told anything.
 */
import { parentPort } from "node:worker_threads";
import { startServer } from "@zooid/server";

const server = await startServer({
  ...{ port: 0, tickMs: 100, sessionTimeoutMsMax: 60_000, connectionsPerAddressMax: 0, fourLetterWords: "*" },
  ttlNodes: true,
  // Nodes that go by themselves would be taken for something that a round has done.
  reaping: { checkIntervalMs: 2 ** 30 },
});
parentPort?.once("message", () => server.stop());
parentPort?.postMessage(server.port);
