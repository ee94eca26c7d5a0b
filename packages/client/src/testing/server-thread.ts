/**
 * A server in a thread of its own, so that its heap does not count for the client under test. Posts
 * its port.
 */
import { parentPort } from "node:worker_threads";
import { startServer } from "@zooid/embedded-server";

const server = await startServer({ port: 0, connectionsPerAddressMax: 0, fourLetterWords: "*" });
parentPort?.postMessage(server.port);
