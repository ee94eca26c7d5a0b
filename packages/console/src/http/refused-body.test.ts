import { once } from "node:events";
import { type ClientRequest, request } from "node:http";
import { connect } from "node:net";
import { expect, test } from "vitest";
import { startStage } from "../testing/stage.ts";

const JSON_TYPE = { "Content-Type": "application/json" };

function post(url: string, headers: Readonly<Record<string, string | number>>): ClientRequest {
  return request(new URL("/api/v1/none", url), { method: "POST", headers: { ...JSON_TYPE, ...headers }, agent: false });
}

test("a refusal reaches a client that is still sending a short body, and the connection stays", async () => {
  await using stage = await startStage();
  const { port, hostname: host } = new URL(stage.url);
  const socket = connect({ port: Number(port), host, noDelay: true });
  let text = "";
  socket.setEncoding("latin1").on("data", (chunk: string) => {
    text += chunk;
  });
  const untilSaid = async (pattern: RegExp): Promise<void> => {
    while (!pattern.test(text)) await once(socket, "data");
  };
  socket.write(
    "POST /api/v1/none HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 6\r\n\r\n{ha",
  );
  // The server has read that when it has answered another connection.
  await (await fetch(new URL("/api/v1/session", stage.url))).text();
  socket.write("lf}");
  await untilSaid(/^HTTP\/1\.1 404 /);
  socket.write("GET /api/v1/session HTTP/1.1\r\nHost: localhost\r\n\r\n");
  await untilSaid(/HTTP\/1\.1 200 /);
  socket.destroy();
});

test("a body beyond the limit is refused with an answer, while more of it comes", async () => {
  await using stage = await startStage();
  const { port, hostname: host } = new URL(stage.url);
  const sent = request({
    port,
    host,
    path: "/api/v1/login",
    method: "POST",
    headers: { ...JSON_TYPE, "Content-Length": 40_000 },
  });
  sent.write(Buffer.alloc(20_000, "["));
  const answered = once(sent, "response");
  await (await fetch(new URL("/api/v1/session", stage.url))).text();
  sent.end(Buffer.alloc(20_000, "["));
  const [response] = await answered;
  expect([400, 413]).toContain(response.statusCode);
});

test("a body that is announced by Expect is asked for where it is read, and not where it is refused", async () => {
  await using stage = await startStage();
  const refused = post(stage.url, { Expect: "100-continue", "Content-Length": 100_000_000 });
  let isAsked = false;
  refused.on("continue", () => {
    isAsked = true;
  });
  refused.flushHeaders();
  const [response] = await once(refused, "response");
  expect([response.statusCode, isAsked]).toEqual([404, false]);
  refused.destroy();
  const body = JSON.stringify({ user: "alice", password: "secret" });
  const headers = { ...JSON_TYPE, Expect: "100-continue", "Content-Length": body.length };
  const read = request(new URL("/api/v1/login", stage.url), { method: "POST", headers, agent: false });
  read.flushHeaders();
  await once(read, "continue");
  read.end(body);
  const [answer] = await once(read, "response");
  expect(answer.statusCode).toBeLessThan(500);
});

test("a long body that is refused ends the connection", async () => {
  await using stage = await startStage();
  const sent = post(stage.url, { "Content-Length": 100_000_000 });
  sent.on("error", () => {
    // The console has closed it while bytes were in transit.
  });
  const closed = once(sent, "close");
  sent.write(Buffer.alloc(200_000));
  await closed;
});
