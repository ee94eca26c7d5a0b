import { once } from "node:events";
import { createServer } from "node:net";
import { expect, test } from "vitest";
import { listenFault } from "./listen-fault.ts";

async function errorOf(address: string, port: number): Promise<unknown> {
  const server = createServer().listen(port, address);
  try {
    await once(server, "listening");
    return undefined;
  } catch (error) {
    return error;
  } finally {
    server.close();
  }
}

test("a port that cannot be opened is named with its options and the reason", async () => {
  const other = createServer().listen(0, "127.0.0.1");
  await once(other, "listening");
  const bound = other.address();
  const port = bound !== null && typeof bound === "object" ? bound.port : 0;
  expect(listenFault(await errorOf("127.0.0.1", port), { address: "127.0.0.1", port })).toBe(
    `the console cannot listen on --address 127.0.0.1 --port ${port}: another program listens there`,
  );
  other.close();
  // An address of no machine: it is for documentation.
  expect(listenFault(await errorOf("192.0.2.1", 8090), { address: "192.0.2.1", port: 8090 })).toBe(
    "the console cannot listen on --address 192.0.2.1 --port 8090: address not available",
  );
});
