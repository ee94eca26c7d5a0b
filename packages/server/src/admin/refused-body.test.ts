import { once } from "node:events";
import { type ClientRequest, request } from "node:http";
import { connect } from "node:net";
import { expect, test } from "vitest";
import { startTestServer } from "../testing/server.ts";

const HOST = "127.0.0.1";
const ADMIN = { admin: { port: 0 } };

function post(port: number | undefined, headers: Record<string, string | number>): ClientRequest {
  return request({ port, host: HOST, path: "/commands/restore", method: "POST", headers, agent: false });
}

test("a refusal reaches a client that is still sending a short body, and the connection stays", async () => {
  await using zk = await startTestServer(ADMIN);
  const socket = connect({ port: zk.adminPort ?? 0, host: HOST, noDelay: true });
  let text = "";
  socket.setEncoding("latin1").on("data", (chunk: string) => {
    text += chunk;
  });
  const untilSaid = async (pattern: RegExp): Promise<void> => {
    while (!pattern.test(text)) await once(socket, "data");
  };
  socket.write("POST /commands/restore HTTP/1.1\r\nHost: localhost\r\nContent-Length: 6\r\n\r\nhal");
  // The server has read that when it has answered another connection.
  await once(request({ port: zk.adminPort, host: HOST, path: "/livez", agent: false }).end(), "response");
  socket.write("ves");
  await untilSaid(/^HTTP\/1\.1 401 /);
  socket.write("GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n");
  await untilSaid(/HTTP\/1\.1 200 /);
  socket.destroy();
});

test("a body that is announced by Expect is not asked for where it is refused", async () => {
  await using zk = await startTestServer(ADMIN);
  const sent = post(zk.adminPort, { Expect: "100-continue", "Content-Length": 100_000_000 });
  let isAsked = false;
  sent.on("continue", () => {
    isAsked = true;
  });
  sent.flushHeaders();
  const [response] = await once(sent, "response");
  expect([response.statusCode, isAsked]).toEqual([401, false]);
  sent.destroy();
});

test("a long body that is refused ends the connection", async () => {
  await using zk = await startTestServer(ADMIN);
  const sent = post(zk.adminPort, { "Content-Length": 100_000_000 });
  sent.on("error", () => {
    // The server has closed it while bytes were in transit.
  });
  const closed = once(sent, "close");
  sent.write(Buffer.alloc(200_000));
  await closed;
});
