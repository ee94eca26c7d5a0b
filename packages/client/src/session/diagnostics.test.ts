import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import type { Client } from "../client.ts";
import { connect, createClient } from "../connect.ts";
import { setStage } from "../testing/stage.ts";
import type { Relay } from "../testing.ts";
import type { RequestMessage, ResponseMessage, StallMessage, StateMessage, WatchMessage } from "./diagnostics.ts";

let relay: Relay;
let zk: Client;

beforeEach(async () => {
  ({ relay, zk } = await setStage(onTestFinished));
});

/** Subscribes to a channel until the test is over. */
function heard<T>(name: string): T[] {
  const messages: T[] = [];
  const hear = (message: unknown): void => void messages.push(message as T);
  subscribe(`zk:client:${name}`, hear);
  onTestFinished(() => void unsubscribe(`zk:client:${name}`, hear));
  return messages;
}

test("a call is published when it is made and when it is settled", async () => {
  const requests = heard<RequestMessage>("request");
  const responses = heard<ResponseMessage>("response");
  const creating = zk.create("/a", "x");
  expect(requests).toEqual([{ op: "create", path: "/a", server: `127.0.0.1:${relay.port}`, sessionId: zk.sessionId }]);
  expect(responses).toEqual([]);
  await creating;
  const failing = zk.get("/none");
  const error = await failing.catch((reason: unknown) => reason);
  expect(responses.map(({ request, error: reported }) => [request === requests[0], reported])).toEqual([
    [true, undefined],
    [false, error],
  ]);
  expect(responses[0]?.durationMs).toBeGreaterThan(0);
});

test("states and events are published", async () => {
  const states = heard<StateMessage>("state");
  const events = heard<WatchMessage>("watch");
  const { watch } = await zk.exists("/a", { watch: true });
  await zk.create("/a");
  await watch.fired;
  relay.cut();
  await zk.sync();
  expect(states.map(({ state }) => state.kind)).toEqual(["suspended", "connected"]);
  expect(events.map(({ event }) => `${event.type} ${event.path}`)).toEqual(["created /a"]);
});

test("an event loop that is blocked for a third of the session's timeout is reported as a stall", async () => {
  await using client = await connect(`127.0.0.1:${relay.port}`, { sessionTimeoutMs: 600 });
  // On a busy machine the session may be another one by the time of the check.
  const stalledId = client.sessionId;
  const stalls = heard<StallMessage>("stall");
  const endMs = performance.now() + client.sessionTimeoutMs * 0.9;
  while (performance.now() < endMs);
  await expect
    .poll(() => stalls.find(({ sessionId }) => sessionId === stalledId))
    .toMatchObject({
      sessionTimeoutMs: client.sessionTimeoutMs,
      lateMs: expect.toSatisfy((lateMs: number) => lateMs > client.sessionTimeoutMs / 3),
    });
});

test("a client has metrics", async () => {
  const before = zk.metrics;
  const creating = zk.create("/counted", "x".repeat(1_000));
  expect(zk.metrics.inFlightCount).toBe(1);
  await creating;
  relay.refuse();
  relay.cut();
  await expect.poll(() => zk.state.kind).toBe("suspended");
  const waiting = zk.get("/counted");
  expect([zk.metrics.waitingCount, zk.metrics.waitingBytes > 0]).toEqual([1, true]);
  relay.accept();
  await waiting;
  const { sentBytes, receivedBytes, ...counts } = zk.metrics;
  expect(sentBytes - before.sentBytes).toBeGreaterThan(1_000);
  expect(receivedBytes - before.receivedBytes).toBeGreaterThan(1_000);
  expect(counts).toEqual({
    inFlightCount: 0,
    waitingCount: 0,
    waitingBytes: 0,
    watchCount: 0,
    pendingDeleteCount: 0,
    connectionCount: before.connectionCount + 1,
    sessionLossCount: 0,
  });
});

test("messages can be written as JSON, with session ids in hexadecimal and the reasons of errors", async () => {
  const names = ["request", "response", "state", "connection", "watch"] as const;
  const messages = names.flatMap((name) => [heard<object>(name)]);
  const { watch } = await zk.exists("/json", { watch: true });
  await zk.create("/json");
  await watch.fired;
  await zk.get("/none").catch(() => {});
  const refused = createClient("127.0.0.1:1");
  onTestFinished(() => refused.close());
  await expect.poll(() => JSON.stringify(messages)).toContain("no process listens on this port");
  await zk.close();
  const text = JSON.stringify(messages);
  expect(text).toContain(`"sessionId":"0x`);
  expect(messages.map((of) => of.length > 0)).toEqual(names.map(() => true));
});
