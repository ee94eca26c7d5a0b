import { once } from "node:events";
import { type AddressInfo, connect, createServer } from "node:net";
import { expect, test } from "vitest";
import { Relay } from "./relay.ts";

test("a connection that is cut while it ends leaves no handle, which would keep the process from ending", async () => {
  const before = sockets();
  const server = createServer((socket) => {
    socket.on("error", () => {});
    socket.on("data", (chunk) => socket.end(chunk));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const relay = await Relay.start({ port: (server.address() as AddressInfo).port });
  for (let turns = 0; turns < 20; turns++) {
    const client = connect(relay.port, "127.0.0.1");
    client.on("error", () => {});
    const closed = new Promise((resolve) => client.once("close", resolve));
    client.write("x");
    await once(client, "data");
    for (let turn = 0; turn < turns; turn++) await new Promise((resolve) => setImmediate(resolve));
    relay.cut();
    await closed;
  }
  await relay[Symbol.asyncDispose]();
  server.close();
  await once(server, "close");
  await expect.poll(sockets).toBe(before);
});

function sockets(): number {
  return process.getActiveResourcesInfo().filter((name) => name === "TCPSocketWrap").length;
}
