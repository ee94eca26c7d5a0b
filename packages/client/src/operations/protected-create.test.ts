import type { ZooidServer } from "@zooid/embedded-server";
import { filter, firstValueFrom } from "rxjs";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { retry } from "../calls/retry.ts";
import type { Client } from "../client.ts";
import { isZkError } from "../errors.ts";
import { setStage } from "../testing/stage.ts";
import { expireSession, type Relay } from "../testing.ts";
import { parseProtectedName } from "./protected-name.ts";

let server: ZooidServer;
let relay: Relay;
let zk: Client;
/** Connected to the server without the relay. */
let witness: Client;

beforeEach(async () => {
  ({ server, relay, zk, witness } = await setStage(onTestFinished));
  await witness.create("/q");
});

async function children(count: number): Promise<readonly string[]> {
  const names = await firstValueFrom(witness.watchChildren$("/q").pipe(filter((names) => names?.length === count)));
  return names ?? [];
}

/** The requests of one turn of the event loop have left this process. */
const turn = (): Promise<void> => new Promise((done) => setImmediate(done));

const EPHEMERAL = { mode: "ephemeral-sequential", protect: true } as const;

test("the name starts with a UUID, as Curator's do", async () => {
  const { path } = await zk.create("/q/lock-", "me", EPHEMERAL);
  expect(path).toMatch(/^\/q\/_c_[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}-lock-0000000000$/);
  expect((await zk.create("/q/", "", EPHEMERAL)).path).toMatch(/-0000000001$/);
  expect((await zk.create("/top", "", { protect: true })).path).toMatch(/^\/_c_.{36}-top$/);
});

test("a prefix in another client's format is found again too", async () => {
  const protect = (guid: string): string => guid.replaceAll("-", "");
  relay.freeze("answers");
  const creating = zk.create("/q/__lock__", "me", { mode: "ephemeral-sequential", protect });
  const [name] = await children(1);
  relay.cut();
  relay.thaw();
  expect(name).toMatch(/^[0-9a-f]{32}__lock__0000000000$/);
  expect((await creating).path).toBe(`/q/${name}`);
});

test("a node whose answer was lost is found, and not created twice", async () => {
  relay.freeze("answers");
  const creating = zk.create("/q/lock-", "me", EPHEMERAL);
  const [name] = await children(1);
  relay.cut();
  relay.thaw();
  const { path, stat } = await creating;
  expect(path).toBe(`/q/${name}`);
  expect(stat).toEqual(await witness.exists(path));
  expect(stat.ephemeralOwner).toBe(zk.sessionId);
  expect(await children(1)).toEqual([name]);
});

test("a create that did not arrive is repeated", async () => {
  relay.freeze("requests");
  const creating = zk.create("/q/lock-", "me", EPHEMERAL);
  await turn();
  relay.cut();
  relay.thaw();
  expect(await children(1)).toEqual([(await creating).path.slice("/q/".length)]);
});

test("a node of an earlier session is not mistaken for the new one's", async () => {
  relay.freeze("answers");
  const creating = zk.create("/q/lock-", "me", EPHEMERAL);
  const [name] = await children(1);
  relay.refuse();
  relay.cut();
  await expireSession(zk, server.connectString);
  await children(0);
  // As on a server that has not yet applied the session's end.
  await witness.create(`/q/${name}`, "", { mode: "ephemeral" });
  relay.thaw();
  relay.accept();
  const { path, stat } = await creating;
  expect(path).not.toBe(`/q/${name}`);
  expect(stat.ephemeralOwner).toBe(zk.sessionId);
  expect(await children(1)).toEqual([path.slice("/q/".length)]);
});

test("a node created for a cancelled call is deleted, also over a lost connection", async () => {
  const giveUp = new AbortController();
  relay.freeze("answers");
  const creating = zk.create("/q/lock-", "me", { ...EPHEMERAL, signal: giveUp.signal });
  await children(1);
  giveUp.abort(new Error("enough"));
  await expect(creating).rejects.toThrow("enough");
  expect(zk.pendingDeleteCount).toBe(1);
  relay.cut();
  relay.thaw();
  await children(0);
  await zk.sync();
  expect(zk.pendingDeleteCount).toBe(0);
});

test("a time limit is one for all attempts: a create that is not answered ends with it, and its node is deleted", async () => {
  relay.freeze("answers");
  const failed = zk.create("/q/lock-", "me", { ...EPHEMERAL, timeoutMs: 100 }).catch((error: unknown) => error);
  const longer = zk.exists("/q", { timeoutMs: 1_000 }).catch(() => "the longer limit");
  await children(1);
  const first = await Promise.race([failed, longer]);
  expect(isZkError(first, "OPERATION_TIMEOUT"), String(first)).toBe(true);
  relay.thaw();
  await children(0);
});

test("without retries the unknown outcome is reported, and the node is deleted", async () => {
  relay.freeze("answers");
  const creating = zk.create("/q/lock-", "me", { ...EPHEMERAL, retry: retry.none });
  const failed = creating.catch((error: unknown) => error);
  await children(1);
  relay.cut();
  relay.thaw();
  const error = await failed;
  expect(isZkError(error, "CONNECTION_LOSS") && error.outcome).toBe("unknown");
  await children(0);
});

test("a refusal is reported at once", async () => {
  const error = await zk.create("/none/lock-", "", EPHEMERAL).catch((error: unknown) => error);
  expect(isZkError(error, "NO_NODE")).toBe(true);
  expect(zk.pendingDeleteCount).toBe(0);
});

test.each([
  [
    "_c_a4b60a39-f3c3-41f4-a45e-9f55dd36402d-lock-0000000000",
    "a4b60a39-f3c3-41f4-a45e-9f55dd36402d",
    "lock-0000000000",
  ],
  ["_c_a4b60a39f3c341f4a45e9f55dd36402d-lock-0000000003", "a4b60a39f3c341f4a45e9f55dd36402d", "lock-0000000003"],
  ["_c_a4b60a39-f3c3-41f4-a45e-9f55dd36402d-", "a4b60a39-f3c3-41f4-a45e-9f55dd36402d", ""],
])("%s is a protected name", (name, guid, rest) => {
  expect(parseProtectedName(name)).toEqual({ guid, name: rest });
});

test.each(["lock-0000000000", "_c_x-lock-1", "x_c_a4b60a39-f3c3-41f4-a45e-9f55dd36402d-lock-1"])(
  "%s is none",
  (name) => {
    expect(parseProtectedName(name)).toBeUndefined();
  },
);
