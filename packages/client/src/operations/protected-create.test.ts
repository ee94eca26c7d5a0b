import type { ZooidServer } from "@zooid/server";
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
/** Sees the server as it is. */
let witness: Client;

beforeEach(async () => {
  ({ server, relay, zk, witness } = await setStage(onTestFinished));
  await witness.create("/q");
});

async function children(count: number): Promise<readonly string[]> {
  const names = await firstValueFrom(witness.watchChildren$("/q").pipe(filter((names) => names?.length === count)));
  return names ?? [];
}

/** What a turn of the event loop has asked has left this process. */
const turn = (): Promise<void> => new Promise((done) => setImmediate(done));

const EPHEMERAL = { mode: "ephemeral-sequential", protect: true } as const;

test("the name holds a UUID before what was asked for, as Curator's do", async () => {
  const { path } = await zk.create("/q/lock-", "me", EPHEMERAL);
  expect(path).toMatch(/^\/q\/_c_[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}-lock-0000000000$/);
  expect((await zk.create("/q/", "", EPHEMERAL)).path).toMatch(/-0000000001$/);
  expect((await zk.create("/top", "", { protect: true })).path).toMatch(/^\/_c_.{36}-top$/);
});

test("another client's way of writing a UUID is found again too", async () => {
  const protect = (guid: string): string => guid.replaceAll("-", "");
  relay.freeze("answers");
  const creating = zk.create("/q/__lock__", "me", { mode: "ephemeral-sequential", protect });
  const [name] = await children(1);
  relay.cut();
  relay.thaw();
  expect(name).toMatch(/^[0-9a-f]{32}__lock__0000000000$/);
  expect((await creating).path).toBe(`/q/${name}`);
});

test("what was made though the answer got lost is found, and not made twice", async () => {
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

test("what did not arrive is asked again", async () => {
  relay.freeze("requests");
  const creating = zk.create("/q/lock-", "me", EPHEMERAL);
  await turn();
  relay.cut();
  relay.thaw();
  expect(await children(1)).toEqual([(await creating).path.slice("/q/".length)]);
});

test("a node that a session left behind is not taken for the new one's", async () => {
  relay.freeze("answers");
  const creating = zk.create("/q/lock-", "me", EPHEMERAL);
  const [name] = await children(1);
  relay.refuse();
  relay.cut();
  await expireSession(zk, server.connectString);
  await children(0);
  // As a server shows it that has not heard of the session's end.
  await witness.create(`/q/${name}`, "", { mode: "ephemeral" });
  relay.thaw();
  relay.accept();
  const { path, stat } = await creating;
  expect(path).not.toBe(`/q/${name}`);
  expect(stat.ephemeralOwner).toBe(zk.sessionId);
  expect(await children(1)).toEqual([path.slice("/q/".length)]);
});

test("what was made for a caller who has given up is taken back, also over a lost connection", async () => {
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

test("where nothing is to be tried again the doubt is told, and what was made goes", async () => {
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

test("a refusal is told at once", async () => {
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
