import { getEventListeners } from "node:events";
import { startServer, type ZooidServer } from "@zooid/embedded-server";
import { filter, firstValueFrom } from "rxjs";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { CREATOR_ALL_ACL } from "./auth/identities.ts";
import { retry } from "./calls/retry.ts";
import type { Client } from "./client.ts";
import { connect, createClient } from "./connect.ts";
import { isZkError, type ZkError, type ZkErrorCode } from "./errors.ts";
import type { ClientOptions } from "./options.ts";
import type { ClientState } from "./session/client-state.ts";
import { fourLetterWord } from "./testing/four-letter-word.ts";
import { expireSession, Relay } from "./testing.ts";
import { tcpTransport } from "./transport/tcp-transport.ts";
import type { Transport } from "./transport/transport.ts";

let server: ZooidServer;
let relay: Relay;
const clients: Client[] = [];

beforeEach(async () => {
  server = await startServer({ port: 0, tickMs: 100, sessionTimeoutMsMax: 60_000, fourLetterWords: "*" });
  relay = await Relay.start({ port: server.port });
});

afterEach(async () => {
  relay.thaw();
  await Promise.all(clients.splice(0).map((client) => client.close()));
  await relay[Symbol.asyncDispose]();
  await server.stop();
});

/** A client through the relay. */
async function open(options: ClientOptions = {}, chroot = ""): Promise<Client> {
  const client = await connect(`127.0.0.1:${relay.port}${chroot}`, options);
  clients.push(client);
  return client;
}

function state(client: Client, kind: ClientState["kind"]): Promise<ClientState> {
  return firstValueFrom(client.state$.pipe(filter((state) => state.kind === kind)));
}

async function failure(promise: Promise<unknown>): Promise<ZkError> {
  const error = await promise.then(
    () => new Error("it succeeded"),
    (reason: unknown) => reason,
  );
  if (!isZkError(error)) throw error;
  return error;
}

/** Watches that the server holds, of all connections. */
async function serverWatches(): Promise<number> {
  const answer = await fourLetterWord(server.port, "wchs");
  return Number(/Total watches:(\d+)/.exec(answer)?.[1]);
}

/** TCP that records what is written. */
function watchingTransport(written: (bytes: Buffer) => void): Transport {
  return {
    ...tcpTransport,
    connect(address, events) {
      const connection = tcpTransport.connect(address, events);
      return {
        ...connection,
        write(bytes, done) {
          written(bytes);
          return connection.write(bytes, done);
        },
      };
    },
  };
}

test("what is created is read, changed, listed and deleted", async () => {
  const zk = await open();
  const created = await zk.create("/a", "one");
  expect(created).toMatchObject({ path: "/a", stat: { version: 0, dataLength: 3, ephemeralOwner: 0n } });
  await zk.create("/a/child", null);
  expect((await zk.get("/a/child")).data).toBeNull();
  expect(await zk.set("/a", Uint8Array.of(1, 2))).toMatchObject({ version: 1, dataLength: 2, numChildren: 1 });
  expect(await zk.get("/a")).toEqual({ data: Uint8Array.of(1, 2), stat: await zk.exists("/a") });
  expect((await zk.children("/a")).names).toEqual(["child"]);
  expect(await zk.getAllChildrenNumber("/a")).toBe(1);
  await zk.delete("/a/child", { version: 0 });
  await zk.delete("/a");
  expect(await zk.exists("/a")).toBeNull();
  expect(await zk.getOrNull("/a")).toBeNull();
  await zk.delete("/a", { missingOk: true });
});

test("data are copies that keep no other bytes alive", async () => {
  const zk = await open();
  await zk.create("/a", "text");
  const { data } = await zk.get("/a");
  expect(data).toBeInstanceOf(Uint8Array);
  expect(data?.buffer.byteLength).toBe(4);
});

test.each([
  ["get", "NO_NODE", (zk: Client) => zk.get("/none")],
  ["create", "NODE_EXISTS", (zk: Client) => zk.create("/a")],
  ["create", "NO_NODE", (zk: Client) => zk.create("/none/a")],
  ["set", "BAD_VERSION", (zk: Client) => zk.set("/a", "", { version: 9 })],
  ["delete", "NOT_EMPTY", (zk: Client) => zk.delete("/a")],
  ["create", "NO_CHILDREN_FOR_EPHEMERALS", (zk: Client) => zk.create("/e/a")],
  ["setAcl", "INVALID_ACL", (zk: Client) => zk.setAcl("/a", CREATOR_ALL_ACL)],
] as const)("%s is refused with %s, and says what and where", async (op, code, ask) => {
  const zk = await open();
  await Promise.all([zk.create("/a"), zk.create("/a/b"), zk.create("/e", "", { mode: "ephemeral" })]);
  const error = await failure(ask(zk));
  expect(error).toMatchObject({ op, code, outcome: "rejected", retriable: false });
  expect(error.message).toContain(error.path);
  expect(isZkError(error, code)).toBe(true);
});

test.each(["", "a", "/a/", "//a", "/a/../b", "/a\u0000"])(
  "the path %j is refused before anything is sent",
  async (path) => {
    const zk = await open();
    for (const ask of [() => zk.get(path), () => zk.create(path), () => zk.delete(path), () => zk.sync(path)]) {
      expect(await failure(ask())).toMatchObject({ code: "INVALID_PATH", outcome: "not-sent", path });
    }
  },
);

test("sequential nodes get numbers, also without a name of their own", async () => {
  const zk = await open();
  await zk.create("/q");
  const names = await Promise.all([
    zk.create("/q/", "", { mode: "persistent-sequential" }),
    zk.create("/q/n-", "", { mode: "ephemeral-sequential" }),
  ]);
  expect(names.map(({ path }) => path)).toEqual(["/q/0000000000", "/q/n-0000000001"]);
  expect(names[1]?.stat.ephemeralOwner).toBe(zk.sessionId);
  expect(await zk.getEphemerals()).toEqual(["/q/n-0000000001"]);
});

test("access lists are set, read and enforced, with added credentials", async () => {
  const zk = await open({ auth: [{ scheme: "digest", auth: "user:secret" }] });
  const other = await open();
  await zk.create("/mine", "", { acl: [{ perms: 31, scheme: "auth", id: "" }] });
  expect((await failure(other.get("/mine"))).code).toBe("NO_AUTH");
  await other.addAuth("digest", "user:secret");
  expect((await other.get("/mine")).stat.version).toBe(0);
  const { acl, stat } = await zk.getAcl("/mine");
  expect(acl).toMatchObject([{ perms: 31, scheme: "digest" }]);
  expect(
    await zk.setAcl("/mine", [{ perms: 1, scheme: "world", id: "anyone" }], { version: stat.aversion }),
  ).toMatchObject({
    aversion: 1,
  });
  expect(await zk.whoAmI()).toContainEqual({ scheme: "digest", user: "user" });
});

test("credentials are sent again on every connection, before calls that wait for it", async () => {
  const zk = await open();
  await zk.addAuth("digest", "user:secret");
  await zk.create("/mine", "x", { acl: [{ perms: 31, scheme: "auth", id: "" }] });
  relay.cut();
  await state(zk, "suspended");
  expect((await zk.get("/mine")).stat.version).toBe(0);
});

test("refused credentials end the client", async () => {
  const zk = await open();
  const pending = failure(zk.addAuth("nonsense", "x"));
  expect((await pending).code).toBe("AUTH_FAILED");
  expect(zk.state.kind).toBe("auth-failed");
  expect((await failure(zk.get("/"))).code).toBe("AUTH_FAILED");
  const refused = connect(`127.0.0.1:${relay.port}`, { auth: [{ scheme: "nonsense", auth: "x" }] });
  expect((await failure(refused)).code).toBe("AUTH_FAILED");
});

test("under a chroot and a namespace, paths are relative to both", async () => {
  const plain = await open();
  await plain.create("/app");
  await plain.create("/application", "other");
  const zk = await open({}, "/app");
  const team = zk.namespace("/team");
  expect((await zk.create("/team")).path).toBe("/team");
  expect((await team.create("/x-", "", { mode: "ephemeral-sequential" })).path).toBe("/x-0000000000");
  expect((await plain.children("/app/team")).names).toEqual(["x-0000000000"]);
  expect((await zk.children("/")).names).toEqual(["team"]);
  expect(await team.getEphemerals()).toEqual(["/x-0000000000"]);
  expect(await failure(team.get("/none"))).toMatchObject({
    path: "/none",
    message: expect.stringContaining("get /none:"),
  });
  const { watch } = await team.exists("/y", { watch: true });
  const made = await team.transaction().create("/y", "1").set("/y", "2").commit();
  expect(made[0].path).toBe("/y");
  expect(await watch.fired).toMatchObject({ type: "created", path: "/y" });
  const failed = await failure(team.transaction().delete("/none").commit());
  expect(failed.path).toBe("/none");
});

test("requests of one turn leave in one write, also those made in reaction to answers", async () => {
  const writes: number[] = [];
  const zk = await open({ transport: watchingTransport((bytes) => writes.push(bytes.length)) });
  await zk.create("/a");
  writes.length = 0;
  await Promise.all(Array.from({ length: 100 }, () => zk.get("/a")));
  expect(writes).toHaveLength(1);
  writes.length = 0;
  await Promise.all(Array.from({ length: 100 }, () => zk.get("/a").then(() => zk.get("/a"))));
  expect(writes.length).toBeLessThan(10);
});

test("answers come in the order of the calls, also with a limit on requests in flight", async () => {
  const zk = await open({ inFlightMax: 3 });
  await zk.create("/a");
  const order: number[] = [];
  await Promise.all(
    Array.from({ length: 50 }, (_, i) => zk.set("/a", String(i)).then((stat) => order.push(stat.version))),
  );
  expect(order).toEqual(Array.from({ length: 50 }, (_, i) => i + 1));
  expect(String((await zk.get("/a")).data)).toBe("52,57");
});

test("no request has a timer of its own, not even with a time limit", async () => {
  const zk = await open();
  const timers = () => process.getActiveResourcesInfo().filter((name) => name === "Timeout").length;
  const before = timers();
  const asked = Array.from({ length: 1_000 }, () => zk.get("/", { timeoutMs: 30_000 }));
  expect(timers() - before).toBeLessThanOrEqual(1);
  await Promise.all(asked);
});

describe("a client whose servers do not answer", () => {
  test.each([
    ["at a signal", (zk: Client) => zk.close({ signal: AbortSignal.abort() }), { name: "AbortError" }],
    ["after a time limit", (zk: Client) => zk.close({ timeoutMs: 10 }), { code: "OPERATION_TIMEOUT", op: "close" }],
    ["at once, when it is disconnected", async (zk: Client) => zk.disconnect(), undefined],
  ])("is closed %s, which rejects, and leaves its session to them", async (_, close, expected) => {
    const zk = await open({ sessionTimeoutMs: 30_000 });
    await using witness = await connect(server.connectString);
    await zk.create("/left", "", { mode: "ephemeral" });
    relay.freeze();
    const unanswered = zk.exists("/");
    unanswered.catch(() => {});
    const failure = await close(zk).catch((error: unknown) => error);
    expect(failure).toEqual(expected === undefined ? undefined : expect.objectContaining(expected));
    expect(zk.state.kind).toBe("closed");
    await expect(unanswered).rejects.toMatchObject({ code: "CLIENT_CLOSED" });
    await zk.close();
    await zk.close({ timeoutMs: 0 });
    zk.disconnect();
    relay.cut();
    expect(await witness.exists("/left")).not.toBeNull();
  });
});

test("closing with a limit waits for a connection, on which the session ends", async () => {
  const zk = await open();
  await using witness = await connect(server.connectString);
  await zk.create("/ended", "", { mode: "ephemeral" });
  relay.refuse();
  relay.cut();
  await expect.poll(() => zk.state.kind).toBe("suspended");
  const closed = zk.close({ timeoutMs: Number.POSITIVE_INFINITY });
  relay.accept();
  await closed;
  expect(await witness.exists("/ended")).toBeNull();
});

test("a signal cancels a call before and after it was sent, and leaves no listener", async () => {
  const zk = await open();
  const early = AbortSignal.abort(new Error("too late"));
  await expect(zk.get("/", { signal: early })).rejects.toThrow("too late");
  relay.freeze("answers");
  const controller = new AbortController();
  const asked = zk.get("/", { signal: controller.signal });
  expect(getEventListeners(controller.signal, "abort")).toHaveLength(1);
  controller.abort(new Error("enough"));
  await expect(asked).rejects.toThrow("enough");
  relay.thaw();
  await zk.get("/", { signal: controller.signal }).catch(() => {});
  const longLived = new AbortController();
  await zk.get("/", { signal: longLived.signal });
  expect(getEventListeners(longLived.signal, "abort")).toHaveLength(0);
});

test("a create that is cancelled after it was sent is undone", async () => {
  const zk = await open();
  await zk.create("/q");
  relay.freeze("answers");
  const controller = new AbortController();
  const asked = zk.create("/q/n-", "", { mode: "persistent-sequential", signal: controller.signal });
  await firstValueFrom(server.changes$);
  controller.abort();
  await expect(asked).rejects.toThrow();
  const undone = firstValueFrom(server.changes$);
  relay.thaw();
  expect(await undone).toMatchObject([{ op: "DELETE", path: "/q/n-0000000000" }]);
});

test("a call's time limit says whether the request was sent", async () => {
  const zk = await open();
  relay.freeze("answers");
  expect(await failure(zk.get("/", { timeoutMs: 20 }))).toMatchObject({
    code: "OPERATION_TIMEOUT",
    outcome: "unknown",
    sentBytes: true,
  });
  relay.refuse();
  relay.cut();
  await state(zk, "suspended");
  expect(await failure(zk.get("/", { timeoutMs: 20 }))).toMatchObject({ outcome: "not-sent", sentBytes: false });
});

test("a write whose connection is lost fails with an unknown outcome, a read is repeated", async () => {
  const zk = await open();
  await zk.create("/a", "before");
  relay.freeze("answers");
  const write = failure(zk.set("/a", "after"));
  const read = zk.get("/a");
  await firstValueFrom(server.changes$);
  relay.cut();
  relay.thaw();
  expect(await write).toMatchObject({ code: "CONNECTION_LOSS", sentBytes: true, outcome: "unknown", retriable: true });
  expect(Buffer.from((await read).data ?? []).toString()).toBe("after");
});

test("without a retry policy a read fails like a write", async () => {
  const zk = await open({ retry: retry.none });
  relay.freeze("answers");
  const read = failure(zk.get("/"));
  await zk.connected();
  await new Promise((resolve) => setImmediate(resolve));
  relay.cut();
  expect(await read).toMatchObject({ code: "CONNECTION_LOSS", sentBytes: true });
});

test("calls wait for a connection in order, for a time, and in limited number", async () => {
  const zk = await open({ waitingTimeoutMs: 50, waitingMax: 2, sessionTimeoutMs: 30_000 });
  const patient = await open();
  relay.refuse();
  relay.cut();
  await state(zk, "suspended");
  const codes: ZkErrorCode[] = [];
  await Promise.all(
    [zk.create("/1"), zk.create("/2"), zk.create("/3")].map((call) =>
      failure(call).then(({ code, sentBytes }) => {
        codes.push(code);
        expect(sentBytes).toBe(false);
      }),
    ),
  );
  expect(codes).toEqual(["QUEUE_FULL", "CONNECTION_LOSS", "CONNECTION_LOSS"]);
  const waits = Promise.all([patient.create("/a"), patient.create("/a/b")]);
  relay.accept();
  expect((await waits).map(({ path }) => path)).toEqual(["/a", "/a/b"]);
});

test("a request that is too large is refused here, and the others continue", async () => {
  const zk = await open({ frameBytesMax: 2_000 });
  const [fits, tooLarge] = await Promise.allSettled([zk.create("/a", "x"), zk.create("/b", "x".repeat(3_000))]);
  expect(fits.status).toBe("fulfilled");
  expect(tooLarge).toMatchObject({
    reason: {
      code: "PACKET_TOO_LARGE",
      outcome: "not-sent",
      message: expect.stringMatching(/the request has \d+ bytes, and frameBytesMax is \d+$/),
    },
  });
});

test.each<[string, (zk: Client, text: string) => Promise<unknown>]>([
  ["create", (zk, text) => zk.create("/b", text)],
  ["set", (zk, text) => zk.set("/", text)],
  ["setAcl", (zk, text) => zk.setAcl("/", [{ scheme: "sasl", id: text, perms: 31 }])],
  ["get with a watch", (zk, text) => zk.get(`/${text}`, { watch: true })],
  ["transaction", (zk, text) => zk.transaction().create("/b", text).commit()],
  ["addAuth", (zk, text) => zk.addAuth("digest", `u:${text}`)],
])("behind a request of %s that is too large each call has its own answer", async (_, call) => {
  const zk = await open({ frameBytesMax: 2_000 });
  const refused = failure(call(zk, "x".repeat(3_000)));
  const own = [zk.addAuth("digest", "a:1"), zk.exists("/"), failure(zk.get("/none")), zk.addAuth("digest", "b:2")];
  expect((await refused).code).toBe("PACKET_TOO_LARGE");
  const [, stat, missing] = await Promise.all(own);
  expect([stat, missing]).toMatchObject([{ version: 0 }, { code: "NO_NODE", path: "/none" }]);
  expect((await zk.whoAmI()).map(({ user }) => user)).toEqual(expect.arrayContaining(["a", "b"]));
  expect(zk.metrics.connectionCount).toBe(1);
});

test("an answer that is too large fails its own call, and the connection is kept", async () => {
  const writer = await open();
  const zk = await open({ responseBytesMax: 2_000 });
  await writer.create("/a", "x".repeat(3_000));
  const states: string[] = [];
  zk.state$.subscribe(({ kind }) => states.push(kind));
  const [large, small] = await Promise.allSettled([zk.get("/a", { watch: true }), zk.exists("/a")]);
  expect(large).toMatchObject({ reason: { code: "PACKET_TOO_LARGE", outcome: "rejected", op: "get", path: "/a" } });
  expect(small).toMatchObject({ value: { dataLength: 3_000 } });
  expect([states, zk.metrics.connectionCount, zk.watchCount]).toEqual([["connected"], 1, 0]);
});

test("requests and answers have separate limits", async () => {
  const zk = await open({ frameBytesMax: 2_000 });
  const writer = await open();
  await writer.create("/a", "x".repeat(3_000));
  expect((await zk.get("/a")).stat.dataLength).toBe(3_000);
});

test("listings above the servers' frame limit are read, and trees with them deleted", async () => {
  const zk = await open();
  await zk.create("/many");
  const name = "n".repeat(200);
  await Promise.all(Array.from({ length: 6_000 }, (_, i) => zk.create(`/many/${name}${i}`)));
  expect((await zk.children("/many")).names).toHaveLength(6_000);
  expect(await zk.deleteTree("/many")).toBe(6_001);
  expect(zk.metrics.connectionCount).toBe(1);
});

test("a tree whose listing is too large for the client is deleted too", async () => {
  const zk = await open({ responseBytesMax: 20_000 });
  await zk.create("/wide");
  const name = "n".repeat(100);
  await Promise.all(Array.from({ length: 150 }, (_, i) => zk.create(`/wide/${name}${i}`)));
  await zk.create(`/wide/${name}0/below`);
  await expect(zk.children("/wide")).resolves.toBeDefined();
  await Promise.all(Array.from({ length: 150 }, (_, i) => zk.create(`/wide/more-${name}${i}`)));
  await expect(zk.children("/wide")).rejects.toMatchObject({ code: "PACKET_TOO_LARGE" });
  expect(await zk.deleteTree("/wide")).toBe(302);
});

test("a session continues over a lost connection, and its ephemerals stay", async () => {
  const zk = await open();
  await zk.create("/e", "", { mode: "ephemeral" });
  const { sessionId } = zk;
  relay.cut();
  await state(zk, "suspended");
  await state(zk, "connected");
  expect(zk.sessionId).toBe(sessionId);
  expect(await zk.exists("/e")).toMatchObject({ ephemeralOwner: sessionId });
});

test("another client can continue with a session", async () => {
  const zk = await open();
  await zk.create("/e", "", { mode: "ephemeral" });
  const heir = await open({ session: { id: zk.sessionId, password: zk.sessionPassword } });
  expect(heir.sessionId).toBe(zk.sessionId);
  await heir.close();
  const other = await open();
  expect(await other.exists("/e")).toBeNull();
});

test("an expired session is reported as lost, and a new one follows", async () => {
  const zk = await open();
  const before = zk.sessionId;
  const kinds: string[] = [];
  zk.state$.subscribe(({ kind }) => kinds.push(kind));
  await expireSession(zk);
  await state(zk, "lost");
  await state(zk, "connected");
  expect(kinds).toEqual(["connected", "suspended", "lost", "connected"]);
  expect(zk.sessionId).not.toBe(before);
});

test("with onExpiry close an expired session ends the client", async () => {
  const zk = await open({ onExpiry: "close" });
  await expireSession(zk);
  await state(zk, "closed");
  expect((await failure(zk.get("/"))).code).toBe("SESSION_EXPIRED");
});

test("when no server answers, the session is lost by the clock", async () => {
  const zk = await open({ sessionTimeoutMs: 400 });
  relay.refuse();
  relay.cut();
  await state(zk, "lost");
  relay.accept();
  await state(zk, "connected");
});

test("a silent server is left for another connection", async () => {
  const zk = await open({ sessionTimeoutMs: 600 });
  const { acceptedCount } = relay;
  relay.freeze("answers");
  await state(zk, "suspended");
  relay.thaw();
  await state(zk, "connected");
  expect(relay.acceptedCount).toBeGreaterThan(acceptedCount);
});

test("host names are resolved at every attempt, and every address is tried", async () => {
  const asked: string[] = [];
  const transport: Transport = {
    ...tcpTransport,
    resolve: async ({ host }) => {
      asked.push(host);
      return [
        { host: "127.0.0.1", port: 1 },
        { host: "127.0.0.1", port: relay.port },
      ];
    },
  };
  const zk = await connect("somewhere:7", { transport, hostOrder: "given" });
  clients.push(zk);
  expect([asked, zk.server]).toEqual([["somewhere"], `127.0.0.1:${relay.port}`]);
  relay.cut();
  await state(zk, "suspended");
  await state(zk, "connected");
  expect(asked.length).toBeGreaterThan(1);
});

test("connecting ends by signal, by time limit, and at once for invalid options", async () => {
  relay.refuse();
  const hosts = `127.0.0.1:${relay.port}`;
  await expect(connect(hosts, { signal: AbortSignal.timeout(30) })).rejects.toMatchObject({ name: "TimeoutError" });
  expect(await failure(connect(hosts, { startTimeoutMs: 30 }))).toMatchObject({ code: "OPERATION_TIMEOUT" });
  await expect(connect("a:b,:1/x/")).rejects.toThrow(/port of "a:b".*":1" has no host.*ends in \//s);
  expect(() => createClient(hosts, { sessionTimeoutMs: -1, inFlightMax: 0.5 })).toThrow(
    /sessionTimeoutMs.*inFlightMax/s,
  );
});

test("closing waits for earlier calls, ends the session, and may be repeated", async () => {
  const zk = await open({ inFlightMax: 2 });
  const other = await open();
  await zk.create("/e", "", { mode: "ephemeral" });
  const asked = Promise.all(Array.from({ length: 10 }, (_, i) => zk.create(`/p${i}`)));
  await Promise.all([zk.close(), zk.close()]);
  expect(await asked).toHaveLength(10);
  expect(await other.exists("/e")).toBeNull();
  expect((await failure(zk.get("/"))).code).toBe("CLIENT_CLOSED");
  expect(await firstValueFrom(zk.state$)).toEqual({ kind: "closed" });
});

test("a client that never had a connection closes at once and leaves nothing running", async () => {
  relay.refuse();
  const before = process.getActiveResourcesInfo().filter((name) => name === "Timeout").length;
  const zk = createClient(`127.0.0.1:${relay.port}`);
  const asked = failure(zk.get("/"));
  await zk.close();
  expect((await asked).code).toBe("CLIENT_CLOSED");
  expect(process.getActiveResourcesInfo().filter((name) => name === "Timeout")).toHaveLength(before);
});

test("await using closes the session", async () => {
  const other = await open();
  {
    await using zk = await connect(`127.0.0.1:${relay.port}`);
    await zk.create("/e", "", { mode: "ephemeral" });
  }
  expect(await other.exists("/e")).toBeNull();
});

test("a watch fires once, for the change that it was armed for", async () => {
  const zk = await open();
  await zk.create("/a");
  const read = await zk.get("/a", { watch: true });
  const listed = await zk.children("/a", { watch: true });
  const { stat } = await zk.set("/a", "x").then((stat) => ({ stat }));
  await zk.create("/a/b");
  expect(await read.watch.fired).toEqual({ type: "data-changed", path: "/a", zxid: stat.mzxid });
  expect(await listed.watch.fired).toMatchObject({ type: "children-changed", path: "/a" });
  expect([zk.watchCount, await serverWatches()]).toEqual([0, 0]);
});

test("a watch reports after a reconnect a change made while disconnected", async () => {
  const [zk, other] = [await open(), await connect(`127.0.0.1:${server.port}`)];
  clients.push(other);
  await zk.create("/a");
  const watches = [
    (await zk.get("/a", { watch: true })).watch,
    (await zk.exists("/b", { watch: true })).watch,
    (await zk.children("/a", { watch: true })).watch,
  ];
  relay.refuse();
  relay.cut();
  await state(zk, "suspended");
  await other.set("/a", "x");
  await other.create("/b");
  await other.create("/a/c");
  relay.accept();
  const events = await Promise.all(watches.map(({ fired }) => fired));
  expect(events.map(({ type }) => type)).toEqual(["data-changed", "created", "children-changed"]);
});

test("a watch outlives its session", async () => {
  const zk = await open();
  await zk.create("/a");
  const { watch } = await zk.get("/a", { watch: true });
  await expireSession(zk);
  await state(zk, "lost");
  await state(zk, "connected");
  await zk.set("/a", "x");
  expect(await watch.fired).toMatchObject({ type: "data-changed", path: "/a" });
});

test("a removed watch is gone in the client and at the server, unless another watcher needs it", async () => {
  const zk = await open();
  await zk.create("/a");
  const first = await zk.get("/a", { watch: true });
  const second = await zk.exists("/a", { watch: true });
  first.watch.remove();
  expect(await failure(first.watch.fired)).toMatchObject({ code: "NO_WATCHER" });
  await zk.sync();
  expect([zk.watchCount, await serverWatches()]).toEqual([1, 1]);
  second.watch[Symbol.dispose]();
  second.watch.remove();
  await zk.sync();
  expect([zk.watchCount, await serverWatches()]).toEqual([0, 0]);
});

test("a read that fails arms nothing", async () => {
  const zk = await open();
  await failure(zk.get("/none", { watch: true }));
  expect([zk.watchCount, await serverWatches()]).toEqual([0, 0]);
});

test("a client outlives a server that has lost everything", async () => {
  const { port } = server;
  const zk = await open({ sessionTimeoutMs: 400, random: () => 0 });
  for (let i = 0; i < 5; i++) await zk.create(`/old${i}`);
  const values: unknown[] = [];
  const watching = zk.watchChildren$("/").subscribe((names) => values.push(names?.length));
  await zk.sync();
  await server.stop();
  server = await startServer({ port, tickMs: 100, fourLetterWords: "*" });
  await state(zk, "lost");
  await state(zk, "connected");
  expect(await zk.exists("/old0")).toBeNull();
  expect(values).toEqual([6, 1]);
  watching.unsubscribe();
});

test("removing a watch while another read is about to arm it leaves that read its watch", async () => {
  const zk = await open();
  await zk.create("/a");
  const first = await zk.get("/a", { watch: true });
  const second = zk.exists("/a", { watch: true });
  first.watch.remove();
  const { watch } = await second;
  expect(await serverWatches()).toBe(1);
  await zk.set("/a", "x");
  expect(await watch.fired).toMatchObject({ type: "data-changed" });
});
