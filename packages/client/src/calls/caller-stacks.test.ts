/** An error's stack names the functions that wait for the call, not the socket's. */
import { startServer, type ZooidServer } from "@zooid/embedded-server";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Client } from "../client.ts";
import { connect } from "../connect.ts";

let server: ZooidServer;
let zk: Client;

beforeAll(async () => {
  server = await startServer({ port: 0 });
  zk = await connect(server.connectString);
});

afterAll(async () => {
  await zk.close();
  await server.stop();
});

const CALLS: readonly (readonly [string, (client: Client) => Promise<unknown>])[] = [
  ["get", (client) => client.get("/none")],
  ["set", (client) => client.set("/none", "")],
  ["delete", (client) => client.delete("/none")],
  ["create", (client) => client.create("/none/child")],
  ["create with ancestors", (client) => client.create("/zookeeper", "", { parents: "container" })],
  ["children", (client) => client.children("/none", { watch: true })],
  ["transaction", (client) => client.transaction().delete("/none").commit()],
  ["put", (client) => client.put("/none/child", "")],
  ["eachChild", (client) => client.eachChild("/none").next()],
  ["a call of a view", (client) => client.with({ intercept: (_, next) => next() }).get("/none")],
  ["connect", () => connect("127.0.0.1:1", { startTimeoutMs: 20 })],
  ["an invalid path", (client) => client.get("none")],
];

test.each(CALLS)("%s", async (_, call) => {
  async function functionOfTheCaller(): Promise<void> {
    await call(zk);
  }
  async function anotherOne(): Promise<void> {
    await functionOfTheCaller();
  }
  const error = await anotherOne().catch((reason: unknown) => reason as Error);
  expect((error as Error).stack).toMatch(/functionOfTheCaller.*anotherOne/s);
  expect((error as Error).stack).toContain((error as Error).message);
});
