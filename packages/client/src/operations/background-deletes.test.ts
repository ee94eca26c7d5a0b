import type { ZooidServer } from "@zooid/embedded-server";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import type { Client } from "../client.ts";
import { isZkError } from "../errors.ts";
import { setStage } from "../testing/stage.ts";
import { expireSession, type Relay } from "../testing.ts";

let server: ZooidServer;
let relay: Relay;
let zk: Client;
/** Connected to the server without the relay. */
let witness: Client;

beforeEach(async () => {
  ({ server, relay, zk, witness } = await setStage(onTestFinished));
  await witness.create("/a");
});

async function gone(path: string): Promise<void> {
  const { stat, watch } = await witness.exists(path, { watch: true });
  if (stat !== null) await watch.fired;
}

/** The requests of one turn of the event loop have left this process. */
const turn = (): Promise<void> => new Promise((done) => setImmediate(done));

test("a delete that did not arrive is repeated until it is answered", async () => {
  relay.freeze("requests");
  const deleting = zk.delete("/a", { guaranteed: true });
  await turn();
  relay.cut();
  relay.thaw();
  await deleting;
  expect(await witness.exists("/a")).toBeNull();
});

test("a delete whose answer was lost has succeeded", async () => {
  relay.freeze("answers");
  const deleting = zk.delete("/a", { guaranteed: true });
  await gone("/a");
  relay.cut();
  relay.thaw();
  await deleting;
  expect(zk.pendingDeleteCount).toBe(0);
});

test("it continues after its caller has given up, once for each node", async () => {
  const giveUp = new AbortController();
  relay.freeze("requests");
  const deleting = zk.delete("/a", { guaranteed: true, signal: giveUp.signal });
  const again = zk.delete("/a", { guaranteed: true });
  await turn();
  giveUp.abort(new Error("enough"));
  await expect(deleting).rejects.toThrow("enough");
  expect(zk.pendingDeleteCount).toBe(1);
  relay.cut();
  relay.thaw();
  await again;
  expect(await witness.exists("/a")).toBeNull();
  expect(zk.pendingDeleteCount).toBe(0);
});

test("deletes of one node with different versions are requests of their own", async () => {
  relay.freeze("requests");
  const wrong = zk.delete("/a", { guaranteed: true, version: 7 }).catch((error: unknown) => error);
  const any = zk.delete("/a", { guaranteed: true });
  await turn();
  expect(zk.pendingDeleteCount).toBe(2);
  relay.cut();
  relay.thaw();
  await any;
  expect(isZkError(await wrong, "BAD_VERSION") || isZkError(await wrong, "NO_NODE")).toBe(true);
});

test("a caller with a time limit gets an unknown outcome", async () => {
  relay.freeze("requests");
  const error = await zk.delete("/a", { guaranteed: true, timeoutMs: 1 }).catch((error: unknown) => error);
  expect(isZkError(error, "OPERATION_TIMEOUT") && error.outcome).toBe("unknown");
  relay.thaw();
  await gone("/a");
});

test.each([
  ["/none", {}, "NO_NODE"],
  ["/a", { version: 7 }, "BAD_VERSION"],
] as const)("a refusal of %s is reported", async (path, options, code) => {
  const error = await zk.delete(path, { guaranteed: true, ...options }).catch((error: unknown) => error);
  expect(isZkError(error, code)).toBe(true);
});

test("it ends with its session, and a node of the same name of another session stays", async () => {
  await zk.create("/leader", "", { mode: "ephemeral" });
  relay.refuse();
  relay.cut();
  const deleting = zk.delete("/leader", { guaranteed: "session" });
  await expireSession(zk, server.connectString);
  await gone("/leader");
  await witness.create("/leader", "successor", { mode: "ephemeral" });
  relay.accept();
  await deleting;
  await zk.connected();
  await zk.sync();
  expect(await witness.exists("/leader")).not.toBeNull();
});

test("the end of the client ends it", async () => {
  relay.refuse();
  relay.cut();
  const deleting = zk.delete("/a", { guaranteed: true }).catch((error: unknown) => error);
  await zk.close();
  expect(isZkError(await deleting, "CLIENT_CLOSED")).toBe(true);
  expect(zk.pendingDeleteCount).toBe(0);
});

test("aliveForMs is positive until the session is lost", async () => {
  expect(zk.aliveForMs).toBeGreaterThan(0);
  expect(zk.aliveForMs).toBeLessThanOrEqual(zk.sessionTimeoutMs);
  relay.refuse();
  relay.cut();
  await expect.poll(() => zk.state.kind).toBe("suspended");
  expect(zk.aliveForMs).toBeGreaterThan(0);
  await zk.close();
  expect(zk.aliveForMs).toBe(0);
});
