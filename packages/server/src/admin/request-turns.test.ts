import { connect, Socket } from "node:net";
import { OpCode } from "@zooid/model";
import { RawClient, request } from "@zooid/wire/testing/raw-client";
import { expect, test, vi } from "vitest";
import { startTestServer } from "../testing/server.ts";
import { RequestTurns } from "./request-turns.ts";

const HOST = "127.0.0.1";
const ADMIN = { admin: { port: 0 } };
const GET = "GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n";
const PING_XID = -2;
const PING = request(PING_XID, OpCode.PING);

/** A connection that sends a text, and what it has received. */
function sends(port: number | undefined, text: string) {
  const socket = connect({ port: port ?? 0, host: HOST, noDelay: true });
  const heard = { text: "" };
  socket.setEncoding("latin1").on("data", (chunk: string) => {
    heard.text += chunk;
  });
  socket.on("error", () => {
    // The server has closed it while bytes were in transit.
  });
  socket.write(text);
  return { socket, heard, closed: new Promise<void>((resolve) => socket.once("close", () => resolve())) };
}

const answersIn = (text: string): number => text.split("HTTP/1.1 200 ").length - 1;

test("requests that were sent at once are answered one after the other", async () => {
  await using zk = await startTestServer(ADMIN);
  const { socket, heard, closed } = sends(
    zk.adminPort,
    `${GET.repeat(9)}${GET.replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n")}`,
  );
  await closed;
  expect(answersIn(heard.text)).toBe(10);
  socket.destroy();
});

test("a connection with very many is closed, and clients of the server are answered meanwhile", async () => {
  await using zk = await startTestServer({ admin: { port: 0, idleTimeoutMs: 3_600_000 } });
  await using client = await RawClient.withSession(zk.port);
  const flood = sends(zk.adminPort, GET.repeat(20_000));
  let isClosed = false;
  void flood.closed.then(() => {
    isClosed = true;
  });
  // Were they answered at once, the answer to a ping would come after all of theirs.
  for (let i = 0; i < 5000 && !isClosed; i++) {
    client.send(PING);
    await client.reply();
  }
  expect(isClosed).toBe(true);
  expect(answersIn(flood.heard.text)).toBeLessThan(20);
});

test("behind costly requests the next ones wait until these have paid for their time, and after that they begin at once", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout"] });
  try {
    let nowMs = 0;
    const turns = new RequestTurns(() => nowMs);
    const begun: string[] = [];
    const add = (name: string, tookMs: number): void => {
      const socket = new Socket();
      turns.connected(socket);
      turns.add({ socket, complete: true, readableLength: 0, readableHighWaterMark: 1 }, () => {
        begun.push(name);
        nowMs += tookMs;
      });
    };
    const begunAfter = async (ms: number): Promise<string> => {
      nowMs += ms;
      vi.advanceTimersByTime(ms);
      for (let i = 0; i < 3; i++) await new Promise((resolve) => setImmediate(resolve));
      return begun.join();
    };
    add("costly", 50);
    add("second", 0);
    expect(await begunAfter(0)).toBe("costly");
    // 10 of the 50 ms were saved before; the others are a quarter of these and of 110 more.
    expect(await begunAfter(109)).toBe("costly");
    expect(await begunAfter(1)).toBe("costly,second");
    await begunAfter(1000);
    add("third", 0);
    expect(await begunAfter(0)).toBe("costly,second,third");
  } finally {
    vi.useRealTimers();
  }
});
