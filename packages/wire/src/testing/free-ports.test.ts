import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { expect, test } from "vitest";
import { freePorts } from "./free-ports.ts";

test("ports are different, below the range of outgoing connections, and free for a server", async () => {
  const ports = await freePorts(30);
  expect(new Set(ports).size).toBe(30);
  expect(Math.max(...ports)).toBeLessThan(32_768);
  const [port = 0] = ports;
  const server = createServer().listen(port, "127.0.0.3");
  await once(server, "listening");
  expect((server.address() as AddressInfo).port).toBe(port);
  server.close();
});
