import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  copySlice,
  derivedPassword,
  ErrorCode,
  OpCode,
  type SessionId,
  sessionIdHigh,
  sessionIdLow,
} from "@zooid/model";
import { APACHE_SNAPSHOT } from "@zooid/txn-log/testing/apache-snapshot";
import { create, RawClient, read, setData, versioned } from "@zooid/wire/testing/raw-client";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { AuditRecord } from "../operators/audit-trail.ts";
import { ask } from "../testing/http.ts";
import { startTestServer } from "../testing/server.ts";
import {
  metric,
  OCTETS,
  restore,
  type Server,
  SUPER,
  SUPER_DIGEST,
  shown,
  snapshotOf,
  start,
} from "../testing/snapshot-endpoint.ts";

let place = "";
beforeEach(async () => {
  place = await mkdtemp(join(tmpdir(), "zooid-snapshots-"));
});
afterEach(() => rm(place, { recursive: true, force: true }));

test("a snapshot holds every write acknowledged before the request, and its headers state its length and position", async () => {
  await using zk = await start(join(place, "data"));
  await using client = await RawClient.withSession(zk.port);
  for (let i = 0; i < 100; i++) await client.ask(OpCode.CREATE, create(`/n${i}`, `value ${i}`));
  const { response, bytes } = await snapshotOf(zk);
  expect(response.status).toBe(200);
  expect(response.headers.get("content-type")).toBe("application/octet-stream");
  expect(response.headers.get("snapshot_size")).toBe(String(bytes.length));
  expect(response.headers.get("content-length")).toBe(String(bytes.length));
  // This epoch has written the session and a hundred nodes.
  expect(response.headers.get("last_zxid")).toBe("0x100000065");
  expect(Buffer.from(bytes).toString("latin1", 0, 4)).toBe("ZKSN");
  for (let i = 0; i < 100; i++) expect(Buffer.from(bytes).includes(`value ${i}`)).toBe(true);
  const untold = await snapshotOf(zk, "?streaming=false");
  expect(JSON.parse(Buffer.from(untold.bytes).toString())).toEqual({ command: "snapshot", error: null });
  expect(untold.response.headers.get("snapshot_size")).toBe(String(bytes.length));
  const head = await ask(zk.adminPort, "/commands/snapshot", { method: "HEAD", headers: SUPER });
  expect([head.status, head.headers["content-length"], head.body]).toEqual([200, String(bytes.length), ""]);
});

test("restore replaces the whole state: clients are disconnected, the old state is gone, and the new one survives a restart", async () => {
  let bytes: Uint8Array<ArrayBuffer>;
  const before: unknown[] = [];
  const paths = ["/", "/a", "/a/s-0000000000", "/a/s-0000000002"];
  {
    await using zk = await start(join(place, "first"));
    await using client = await RawClient.withSession(zk.port);
    await client.ask(OpCode.CREATE, create("/a", "one"));
    await client.ask(OpCode.SET_DATA, setData("/a", "two"));
    for (let i = 0; i < 3; i++) await client.ask(OpCode.CREATE, create("/a/s-", `${i}`, 2));
    await client.ask(OpCode.DELETE, versioned("/a/s-0000000001"));
    for (const path of paths) before.push(await shown(client, path));
    ({ bytes } = await snapshotOf(zk));
  }
  {
    await using zk = await start(join(place, "second"));
    await using client = await RawClient.open(zk.port);
    const { sessionId, password } = await client.handshake();
    await client.ask(OpCode.CREATE, create("/other"));
    await client.ask(OpCode.CREATE, create("/ephemeral", "", 1));
    const { status, last_zxid } = await restore(zk, bytes);
    expect([status, last_zxid]).toEqual([200, 0x2_0000_0001]);
    await client.rest();
    // Its session is not in the restored snapshot.
    await using same = await RawClient.open(zk.port);
    const again = await same.handshake({
      sessionId,
      password: copySlice(password),
      lastZxidSeen: 0x1_0000_0003,
    });
    expect(again.timeoutMs).toBe(0);
    await using next = await RawClient.withSession(zk.port);
    for (const [i, path] of paths.entries()) expect(await shown(next, path)).toEqual(before[i]);
    expect(await shown(next, "/other")).toBe(ErrorCode.NO_NODE);
    expect(await shown(next, "/ephemeral")).toBe(ErrorCode.NO_NODE);
    const created = await next.ask(OpCode.CREATE, create("/a/s-", "", 2));
    expect([created.zxid > 0x3_0000_0000, created.body.text()]).toEqual([true, "/a/s-0000000003"]);
    expect(await metric(zk, "restore_time_count")).toBe(1);
  }
  await using zk = await start(join(place, "second"));
  await using client = await RawClient.withSession(zk.port);
  expect(await shown(client, "/a/s-0000000002")).toEqual(before[3]);
  expect(await shown(client, "/a/s-0000000003")).toMatchObject({ data: "" });
  expect(await shown(client, "/other")).toBe(ErrorCode.NO_NODE);
});

test("restore keeps Apache's sessions where it is asked to: their clients continue, 1024 epochs above", async () => {
  const bytes = new Uint8Array(APACHE_SNAPSHOT);
  const sessionId = 0x100_0030_dc4d_0000n as SessionId;
  const password = derivedPassword(sessionIdHigh(sessionId), sessionIdLow(sessionId));
  await using zk = await start(join(place, "data"));
  expect(await restore(zk, bytes, OCTETS, "?sessions=some")).toMatchObject({
    status: 400,
    error: 'sessions is keep or drop, not "some"',
  });
  expect(await restore(zk, bytes, OCTETS, "?sessions=keep")).toMatchObject({
    status: 200,
    last_zxid: 1023 * 2 ** 32 + 1,
  });
  await using client = await RawClient.open(zk.port);
  expect((await client.handshake({ sessionId, password, lastZxidSeen: 0x14 })).timeoutMs).toBe(30_000);
  expect(await shown(client, "/e")).toMatchObject({ data: "eph" });
  expect(await metric(zk, "zooid_derived_password_sessions")).toBe(1);
  await client.ask(OpCode.CLOSE_SESSION);
  await using other = await RawClient.withSession(zk.port);
  expect(await shown(other, "/e")).toBe(ErrorCode.NO_NODE);
});

describe("an invalid snapshot is refused, and no client notices", () => {
  let own = "";
  let zk: Server;
  beforeAll(async () => {
    own = await mkdtemp(join(tmpdir(), "zooid-snapshots-"));
    zk = await start(join(own, "data"));
  });
  afterAll(async () => {
    await zk.stop();
    await rm(own, { recursive: true, force: true });
  });

  test.each([
    ["cut off", (bytes: Uint8Array<ArrayBuffer>) => bytes.subarray(0, bytes.length - 30), "24 bytes are left"],
    ["with one bit changed", (bytes: Uint8Array<ArrayBuffer>) => flipped(bytes, 200), "a snapshot was refused"],
    ["something else", () => new Uint8Array(100_000).fill(7), "it is no snapshot of Apache"],
    ["empty", () => new Uint8Array(0), ".*"],
  ])("%s", async (name, damage, text) => {
    await using client = await RawClient.withSession(zk.port);
    const kept = `/kept-${name.replaceAll(" ", "-")}`;
    await client.ask(OpCode.CREATE, create(kept, "value"));
    await client.ask(OpCode.EXISTS, read(kept, true));
    const { bytes } = await snapshotOf(zk);
    const { status, error } = await restore(zk, damage(bytes));
    expect(status).toBe(name === "empty" ? 400 : 500);
    expect(error).toMatch(new RegExp(text));
    // The same connection, and the watch that it has.
    await client.ask(OpCode.SET_DATA, setData(kept, "new"));
    expect((await client.reply()).xid).toBeGreaterThan(0);
    expect(await shown(client, kept)).toMatchObject({ data: "new", version: 1 });
  });

  test("a body of another kind, or none, is a bad request", async () => {
    expect(await restore(zk, "{}", { ...SUPER, "content-type": "application/json" })).toMatchObject({ status: 400 });
    expect(await restore(zk, "", OCTETS)).toMatchObject({ status: 400 });
    const withMore = { ...SUPER, "content-type": "Application/Octet-Stream; charset=x" };
    expect(await restore(zk, "no snapshot", withMore)).toMatchObject({ status: 500 });
  });

  test("one whose sender disconnects", async () => {
    await using client = await RawClient.withSession(zk.port);
    await client.ask(OpCode.CREATE, create("/kept", "x".repeat(1000)));
    const { bytes } = await snapshotOf(zk);
    await using sender = await RawClient.withSession(zk.port);
    const before = await metric(zk, "restore_error_count");
    const breakOff = async (): Promise<void> => {
      const going = new AbortController();
      const body = new ReadableStream<Uint8Array>({
        async pull(stream) {
          stream.enqueue(bytes.subarray(0, 700));
          await sender.ask(OpCode.PING);
          going.abort();
        },
      });
      const init = { method: "POST", headers: OCTETS, body, duplex: "half", signal: going.signal } as const;
      await expect(fetch(`http://127.0.0.1:${zk.adminPort}/commands/restore`, init)).rejects.toThrow();
      await client.ask(OpCode.PING);
    };
    // A request whose sender is gone before its turn is not carried out.
    while ((await metric(zk, "restore_error_count")) === before) await breakOff();
    expect(await shown(client, "/kept")).toMatchObject({ version: 0 });
    // Another one that was broken off may still be received.
    await expect.poll(async () => (await restore(zk, bytes)).status).toBe(200);
  });
});

describe("authorization and rate limits", () => {
  test("neither command exists where it is disabled", async () => {
    await using zk = await start(join(place, "data"), { snapshotEnabled: false, restoreEnabled: false });
    expect((await snapshotOf(zk)).response.status).toBe(503);
    expect(await restore(zk, new Uint8Array(1))).toMatchObject({ status: 503, error: "Restore command is disabled" });
  });

  test("a snapshot of a client without permissions on the root is refused, also where the root is open to the world", async () => {
    await using zk = await start(join(place, "data"));
    const { bytes } = await snapshotOf(zk);
    await using client = await RawClient.withSession(zk.port);
    await client.ask(OpCode.CREATE, create("/kept"));
    for (const authorization of ["digest made:up", "ip"]) {
      const headers = { ...OCTETS, authorization };
      expect(await restore(zk, bytes, headers)).toMatchObject({
        status: 403,
        error: expect.stringContaining("must give every permission"),
      });
      const taken = await fetch(`http://127.0.0.1:${zk.adminPort}/commands/snapshot`, { headers });
      expect(taken.status).toBe(403);
    }
    expect((await client.ask(OpCode.EXISTS, read("/kept"))).code).toBe(ErrorCode.OK);
  });

  test("skipACL=yes is for clients: it opens neither command", async () => {
    await using zk = await startTestServer({
      dataDir: join(place, "data"),
      skipAcl: true,
      superDigest: SUPER_DIGEST,
      admin: { port: 0, rateLimiterIntervalMs: 0 },
    });
    const { bytes } = await snapshotOf(zk);
    await using client = await RawClient.withSession(zk.port);
    await client.ask(OpCode.SET_ACL, (writer) => {
      writer.text("/");
      writer.int(1);
      writer.int(31);
      writer.text("digest");
      writer.text("alice:hash");
      writer.int(-1);
    });
    const headers = { ...OCTETS, authorization: "digest made:up" };
    expect(await restore(zk, bytes, headers)).toMatchObject({ status: 403 });
    expect((await fetch(`http://127.0.0.1:${zk.adminPort}/commands/snapshot`, { headers })).status).toBe(403);
  });

  test("restores have a limit of their own, a thousand times as long as that of snapshots", async () => {
    await using zk = await start(join(place, "data"), { rateLimiterIntervalMs: 1_000_000 });
    const { bytes } = await snapshotOf(zk);
    // The snapshot takes no turn of a restore.
    expect((await restore(zk, bytes)).status).toBe(200);
    const init = { method: "POST", headers: OCTETS, body: bytes };
    const again = await fetch(`http://127.0.0.1:${zk.adminPort}/commands/restore`, init);
    expect([again.status, Number(again.headers.get("retry-after")) > 900]).toEqual([429, true]);
  });

  test("nothing of a snapshot is sent, and no body is carried out, for any other requester", async () => {
    await using zk = await start(join(place, "data"), {}, { failureDelayMsMax: 0 });
    const { bytes } = await snapshotOf(zk);
    await using client = await RawClient.withSession(zk.port);
    await client.ask(OpCode.CREATE, create("/kept", "a secret"));
    const failed = await metric(zk, "restore_error_count");
    for (const [authorization, status] of [
      [undefined, 401],
      ["", 401],
      ["digest", 401],
      ["digest super:wrong", 403],
      ["digest super", 403],
      ["digest made:up", 403],
      ["world anyone", 401],
      ["x509 CN=super", 401],
      ["ip", 403],
    ] as const) {
      const headers = authorization === undefined ? {} : { authorization };
      const whole = await restore(zk, bytes, Object.assign({ "content-type": "application/octet-stream" }, headers));
      expect([authorization, whole.status]).toEqual([authorization, status]);
      const taken = await fetch(`http://127.0.0.1:${zk.adminPort}/commands/snapshot`, { headers });
      const text = Buffer.from(await taken.arrayBuffer()).toString("latin1");
      expect([authorization, taken.status, text.includes("ZKSN"), text.includes("a secret")]).toEqual([
        authorization,
        status,
        false,
        false,
      ]);
      expect([taken.headers.get("snapshot_size"), taken.headers.get("last_zxid")]).toEqual([null, null]);
    }
    expect(await metric(zk, "restore_error_count")).toBe(failed);
    // The same session and its node: the snapshot, which has neither, was not restored.
    expect(await shown(client, "/kept")).toMatchObject({ data: "a secret", version: 0 });
  });

  test("an identity with every permission on the root is allowed, whatever the world may", async () => {
    await using zk = await start(join(place, "data"));
    const { bytes } = await snapshotOf(zk);
    await using client = await RawClient.withSession(zk.port);
    await client.ask(OpCode.SET_ACL, (writer) => {
      writer.text("/");
      writer.int(2);
      for (const [scheme, id] of [
        ["world", "anyone"],
        ["ip", "127.0.0.1"],
      ] as const) {
        writer.int(31);
        writer.text(scheme);
        writer.text(id);
      }
      writer.int(-1);
    });
    expect((await restore(zk, bytes, { ...OCTETS, authorization: "digest made:up" })).status).toBe(403);
    expect((await restore(zk, bytes, { ...OCTETS, authorization: "ip" })).status).toBe(200);
  });
});

test("the audit trail has each snapshot and restore, with its requester and result", async () => {
  await using zk = await start(place);
  const records: AuditRecord[] = [];
  zk.audit$.subscribe((turn) => records.push(...turn));
  const { bytes } = await snapshotOf(zk);
  expect((await restore(zk, "no snapshot")).status).toBe(500);
  expect((await restore(zk, bytes)).status).toBe(200);
  expect(records.map(({ operation, result }) => [operation, result])).toEqual([
    ["snapshot", "success"],
    ["restore", "failure"],
    ["restore", "success"],
  ]);
  for (const { identities } of records) expect(identities).toContainEqual(expect.objectContaining({ scheme: "super" }));
});

test("a server stops while one snapshot is sent and another is taken", async () => {
  const zk = await start(join(place, "data"));
  await using client = await RawClient.withSession(zk.port);
  await client.ask(OpCode.CREATE, create("/a", "x".repeat(1_000_000)));
  const taken = await fetch(`http://127.0.0.1:${zk.adminPort}/commands/snapshot`, { headers: SUPER });
  const { promise: isAsked, resolve: asked } = Promise.withResolvers<void>();
  const body = new ReadableStream<Uint8Array>({
    pull(stream) {
      stream.enqueue(new Uint8Array(16));
      asked();
      return new Promise(() => {});
    },
  });
  const init = { method: "POST", headers: OCTETS, body, duplex: "half" } as const;
  const restoring = fetch(`http://127.0.0.1:${zk.adminPort}/commands/restore`, init);
  restoring.catch(() => {});
  await isAsked;
  await zk.stop();
  await expect(restoring).rejects.toThrow();
  await taken.body?.cancel().catch(() => {});
});

function flipped(bytes: Uint8Array<ArrayBuffer>, at: number): Uint8Array<ArrayBuffer> {
  const copy = bytes.slice();
  copy[at] = (copy[at] ?? 0) ^ 1;
  return copy;
}
