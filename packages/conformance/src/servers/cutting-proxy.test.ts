import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type CuttingProxy, startCuttingProxy } from "./cutting-proxy.ts";

let echo: Server;
let proxy: CuttingProxy;

beforeEach(async () => {
  echo = createServer((socket) => socket.on("error", () => undefined).pipe(socket)).listen(0, "127.0.0.1");
  await once(echo, "listening");
  proxy = await startCuttingProxy((echo.address() as AddressInfo).port);
});
afterEach(async () => {
  await proxy[Symbol.asyncDispose]();
  echo.close();
});

function dial(first: string): Socket {
  const socket = connect({ port: proxy.port, host: "127.0.0.1" });
  socket.write(first);
  return socket;
}

async function answer(socket: Socket): Promise<string> {
  const [data] = (await once(socket, "data")) as [Buffer];
  return String(data);
}

test("a cut ends every connection and holds new ones until they are let through", async () => {
  const before = dial("hello");
  expect(await answer(before)).toBe("hello");
  const ended = once(before, "close");
  expect(await answer(dial("cut!"))).toBe("done");
  await ended;

  const during = dial("again");
  const echoed = answer(during);
  expect(await answer(dial("join"))).toBe("done");
  expect(await echoed).toBe("again");
});
