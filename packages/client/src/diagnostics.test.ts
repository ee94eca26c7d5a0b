import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import type { Client } from "./client.ts";
import type { RequestMessage, ResponseMessage, StateMessage, WatchMessage } from "./diagnostics.ts";
import { setStage } from "./testing/stage.ts";
import type { Relay } from "./testing.ts";

let relay: Relay;
let zk: Client;

beforeEach(async () => {
  ({ relay, zk } = await setStage(onTestFinished));
});

/** Hears a channel until the test is over. */
function heard<T>(name: string): T[] {
  const messages: T[] = [];
  const hear = (message: unknown): void => void messages.push(message as T);
  subscribe(`zk:client:${name}`, hear);
  onTestFinished(() => void unsubscribe(`zk:client:${name}`, hear));
  return messages;
}

test("a call is told of when it is made and when it is settled", async () => {
  const requests = heard<RequestMessage>("request");
  const responses = heard<ResponseMessage>("response");
  const creating = zk.create("/a", "x");
  expect(requests).toEqual([{ op: "create", path: "/a", server: `127.0.0.1:${relay.port}`, sessionId: zk.sessionId }]);
  expect(responses).toEqual([]);
  await creating;
  const failing = zk.get("/none");
  const error = await failing.catch((reason: unknown) => reason);
  expect(responses.map(({ request, error: told }) => [request === requests[0], told])).toEqual([
    [true, undefined],
    [false, error],
  ]);
  expect(responses[0]?.durationMs).toBeGreaterThan(0);
});

test("states and events are told of", async () => {
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
