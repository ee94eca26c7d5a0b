import type { ZooidServer } from "@zooid/server";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import type { Client } from "../client.ts";
import { isZkError } from "../errors.ts";
import { setStage } from "../testing/stage.ts";
import { expireSession, type Relay } from "../testing.ts";

let server: ZooidServer;
let relay: Relay;
let zk: Client;
/** Sees the server as it is. */
let witness: Client;

beforeEach(async () => {
  ({ server, relay, zk, witness } = await setStage(onTestFinished));
  await witness.create("/a");
});

async function gone(path: string): Promise<void> {
  const { stat, watch } = await witness.exists(path, { watch: true });
  if (stat !== null) await watch.fired;
}

/** What a turn of the event loop has asked has left this process. */
const turn = (): Promise<void> => new Promise((done) => setImmediate(done));

test("a delete that did not arrive is asked again until it is answered", async () => {
  relay.freeze("requests");
  const deleting = zk.delete("/a", { guaranteed: true });
  await turn();
  relay.cut();
  relay.thaw();
  await deleting;
  expect(await witness.exists("/a")).toBeNull();
});

test("a delete that arrived though its answer got lost has succeeded", async () => {
  relay.freeze("answers");
  const deleting = zk.delete("/a", { guaranteed: true });
  await gone("/a");
  relay.cut();
  relay.thaw();
  await deleting;
  expect(zk.pendingDeleteCount).toBe(0);
});

test("it goes on when its caller has given up, once for each node", async () => {
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

test("a caller who waits only so long is told that the outcome is unknown", async () => {
  relay.freeze("requests");
  const error = await zk.delete("/a", { guaranteed: true, timeoutMs: 1 }).catch((error: unknown) => error);
  expect(isZkError(error, "OPERATION_TIMEOUT") && error.outcome).toBe("unknown");
  relay.thaw();
  await gone("/a");
});

test.each([
  ["/none", {}, "NO_NODE"],
  ["/a", { version: 7 }, "BAD_VERSION"],
] as const)("a refusal of %s is told", async (path, options, code) => {
  const error = await zk.delete(path, { guaranteed: true, ...options }).catch((error: unknown) => error);
  expect(isZkError(error, code)).toBe(true);
});

test("with its session it ends, and a successor's node of the same name stays", async () => {
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

test("how long the session certainly lives is told until it is lost", async () => {
  expect(zk.aliveForMs).toBeGreaterThan(0);
  expect(zk.aliveForMs).toBeLessThanOrEqual(zk.sessionTimeoutMs);
  await zk.close();
  expect(zk.aliveForMs).toBe(0);
});
