import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Console } from "@zooid/web-console";
import { afterEach, beforeEach, expect, test } from "vitest";
import { LateConsole } from "./late-console.ts";

// Requests that come while the modules of the console load.

let late: LateConsole;
let url: string;
let stop: () => void;
let arrived: PromiseWithResolvers<void>;
beforeEach(async () => {
  late = new LateConsole();
  arrived = Promise.withResolvers();
  const server = createServer((message, response) => {
    if (!late.handle(message, response)) response.writeHead(421).end();
    arrived.resolve();
  }).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  stop = () => server.close();
});
afterEach(() => stop());

/** Answers below `/console/`, and says when it is closed. */
function consoleOf(closed: () => void = () => {}): Console {
  return {
    handle: ({ url: path = "" }: IncomingMessage, response: ServerResponse) => {
      if (!path.startsWith("/console/")) return false;
      response.end("the page");
      return true;
    },
    [Symbol.asyncDispose]: async () => closed(),
  } as Console;
}

test("a request waits until the console is open, and is answered by it", async () => {
  const { promise, resolve } = Promise.withResolvers<Console>();
  const opening = late.open(() => promise);
  const answer = fetch(`${url}/console/`);
  await arrived.promise;
  resolve(consoleOf());
  await opening;
  expect(await (await answer).text()).toBe("the page");
});

test("a request that the console does not know, or that finds none, is answered with 404", async () => {
  const { promise, resolve } = Promise.withResolvers<undefined>();
  const opening = late.open(() => promise);
  const answer = fetch(`${url}/api/v1/nodes`);
  await arrived.promise;
  resolve(undefined);
  expect(await opening).toBeUndefined();
  expect((await answer).status).toBe(404);
});

test("paths of others are left to them at any time", async () => {
  expect((await fetch(`${url}/console/`)).status).toBe(421);
  const { promise, resolve } = Promise.withResolvers<Console>();
  const opening = late.open(() => promise);
  expect((await fetch(`${url}/commands/ruok`)).status).toBe(421);
  resolve(consoleOf());
  await opening;
  expect((await fetch(`${url}/commands/ruok`)).status).toBe(421);
});

test("a console that opens after the stop is closed at once", async () => {
  const { promise, resolve } = Promise.withResolvers<Console>();
  const opening = late.open(() => promise);
  await late[Symbol.asyncDispose]();
  let isClosed = false;
  resolve(
    consoleOf(() => {
      isClosed = true;
    }),
  );
  expect(await opening).toBeUndefined();
  expect(isClosed).toBe(true);
});

test("a console that cannot be loaded is an error for its opener, and 404 for a browser", async () => {
  const { promise, reject } = Promise.withResolvers<Console>();
  const opening = late.open(() => promise);
  const answer = fetch(`${url}/console/`);
  await arrived.promise;
  reject(new Error("no such module"));
  await expect(opening).rejects.toThrow("no such module");
  expect((await answer).status).toBe(404);
});
