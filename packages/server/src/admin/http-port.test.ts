import { once } from "node:events";
import { connect } from "node:net";
import { expect, test } from "vitest";
import { HttpPort, plain } from "./http-port.ts";

const IDLE_MS = 50;

/** Resolves when a connection that sends nothing is closed by the server: after the idle time. */
async function idleTime(port: number): Promise<void> {
  const socket = connect({ host: "127.0.0.1", port });
  socket.resume();
  await once(socket, "close");
}

test.each(["GET", "POST"])("a %s whose answer takes longer than the idle time is answered", async (method) => {
  await using port: HttpPort = new HttpPort({
    port: 0,
    address: "127.0.0.1",
    idleTimeoutMs: IDLE_MS,
    async answer() {
      await idleTime(port.port);
      await idleTime(port.port);
      return plain(200, "late");
    },
    failed: (error) => expect.unreachable(String(error)),
  });
  await port.listen();
  const response = await fetch(`http://127.0.0.1:${port.port}/slow`, { method });
  expect([response.status, await response.text()]).toEqual([200, "late\n"]);
});
