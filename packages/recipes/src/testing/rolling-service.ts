/**
 * A service in a process of its own, as a rolling deployment starts it: it answers over HTTP with
 * its process id, registers under an id that all of its processes have, and drains when it gets
 * SIGTERM.
 */
import { once } from "node:events";
import { createServer } from "node:http";
import { connect, pause } from "@zooid/client";
import { ServiceDiscovery } from "../discovery/service-discovery.ts";

/** Callers that have read the old instance have called it by then. */
const DRAIN_MS = 250;

const [hosts = "", path = ""] = process.argv.slice(2);
const zk = await connect(hosts, { sessionTimeoutMs: 10_000, logger: silent() });
// Connections are not kept, so that none is cut off between two calls.
const http = createServer((_, response) => response.writeHead(200, { connection: "close" }).end(`${process.pid}`));
http.listen(0, "127.0.0.1");
await once(http, "listening");
const address = http.address();
const port = typeof address === "object" && address !== null ? address.port : 0;
const discovery = new ServiceDiscovery(zk, path);
const registration = await discovery.register({ name: "api", id: "stable", address: "127.0.0.1", port });
process.once("SIGTERM", async () => {
  await registration.close();
  await pause(DRAIN_MS);
  http.close();
  await once(http, "close");
  await zk.close();
});
console.log("registered");

/** That it was replaced is what a rolling deployment is for. */
function silent() {
  const say = (): void => {};
  return { debug: say, info: say, warn: say, error: say };
}
