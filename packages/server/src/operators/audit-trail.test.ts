import { ErrorCode, OpCode } from "@zooid/model";
import { auth, create, multiBody, RawClient, setData, versioned } from "@zooid/wire/testing/raw-client";
import { expect, test } from "vitest";
import { startTestServer } from "../testing/server.ts";
import type { AuditRecord } from "./audit-trail.ts";

/** A server with a subscriber to its audit stream, and one client of it. */
async function audited() {
  const zk = await startTestServer({ ttlNodes: true });
  const records: AuditRecord[] = [];
  const listening = zk.audit$.subscribe((turn) => records.push(...turn));
  const client = await RawClient.open(zk.port);
  const { sessionId } = await client.handshake();
  return {
    zk,
    client,
    sessionId,
    listening,
    /** The records since the last call: operation, path, and further fields. */
    summaries: () =>
      records.splice(0).map(({ operation, path, createMode, result }) => [operation, path, createMode, result]),
    records: () => records.splice(0),
    async [Symbol.asyncDispose]() {
      await client[Symbol.asyncDispose]();
      await zk.stop();
    },
  };
}

const ttl: Parameters<RawClient["ask"]>[1] = (writer) => {
  create("/ttl", "", 5)(writer);
  writer.zxid(100_000);
};

test("every kind of write is recorded, with the created type and the final path", async () => {
  await using it = await audited();
  const { client } = it;
  await client.ask(OpCode.CREATE, create("/a", "secret"));
  await client.ask(OpCode.CREATE2, create("/a/s-", "", 2));
  await client.ask(OpCode.CREATE, create("/e-", "", 3));
  await client.ask(OpCode.CREATE_CONTAINER, create("/c", "", 4));
  await client.ask(OpCode.CREATE_TTL, ttl);
  await client.ask(OpCode.SET_DATA, setData("/a", "secret"));
  await client.ask(OpCode.DELETE, versioned("/c"));
  expect(it.summaries()).toEqual([
    ["create", "/a", "persistent", "success"],
    ["create", "/a/s-0000000000", "persistent_sequential", "success"],
    ["create", "/e-0000000001", "ephemeral_sequential", "success"],
    ["create", "/c", "container", "success"],
    ["create", "/ttl", "persistent_with_ttl", "success"],
    ["setData", "/a", undefined, "success"],
    ["delete", "/c", undefined, "success"],
  ]);
});

test("a refused write is recorded with the requested operation and path", async () => {
  await using it = await audited();
  const { client } = it;
  await client.ask(OpCode.CREATE, create("/missing/x", "", 1));
  await client.ask(OpCode.SET_DATA, setData("/missing", ""));
  await client.ask(OpCode.DELETE, versioned("/missing"));
  await client.ask(OpCode.RECONFIG, (writer) => {
    for (let i = 0; i < 3; i++) writer.null();
    writer.zxid(0);
  });
  expect(it.summaries()).toEqual([
    ["create", "/missing/x", "ephemeral", "failure"],
    ["setData", "/missing", undefined, "failure"],
    ["delete", "/missing", undefined, "failure"],
    ["reconfig", undefined, undefined, "failure"],
  ]);
});

test("a multi is recorded part by part when it is done, and as one record when it is refused or cannot be read", async () => {
  await using it = await audited();
  const { client } = it;
  const parts = [
    [OpCode.CREATE, create("/m")],
    [OpCode.CHECK, versioned("/m")],
    [OpCode.CREATE, create("/m/s-", "", 2)],
    [OpCode.SET_DATA, setData("/m", "x")],
    [OpCode.CREATE, create("/m/e", "", 1)],
    [OpCode.DELETE, versioned("/m/e")],
  ] as const;
  await client.ask(OpCode.MULTI, multiBody(...parts));
  expect(it.summaries()).toEqual([
    ["create", "/m", "persistent", "success"],
    ["create", "/m/s-0000000000", "persistent_sequential", "success"],
    ["setData", "/m", undefined, "success"],
    ["create", "/m/e", "ephemeral", "success"],
    ["delete", "/m/e", undefined, "success"],
  ]);
  const refused = await client.ask(OpCode.MULTI, multiBody(...parts));
  const unreadable = await client.ask(OpCode.MULTI, multiBody([77, create("/n")]));
  expect([refused.code, unreadable.code]).toEqual([0, ErrorCode.MARSHALLING_ERROR]);
  expect(it.summaries()).toEqual([
    ["multiOperation", undefined, undefined, "failure"],
    ["multiOperation", undefined, undefined, "failure"],
  ]);
});

test("a record has the requester's identities at that time, with the requested access list", async () => {
  await using it = await audited();
  const { client, sessionId } = it;
  await client.ask(OpCode.CREATE, create("/a"));
  await client.ask(OpCode.AUTH, auth("digest", "alice:secret"));
  await client.ask(OpCode.SET_ACL, (writer) => {
    writer.text("/a");
    writer.int(1);
    writer.int(31);
    writer.text("auth");
    writer.text("");
    writer.int(-1);
  });
  const [created, changed] = it.records();
  expect(created).toMatchObject({ session: sessionId, address: "127.0.0.1", identities: [{ scheme: "ip" }] });
  expect(changed).toMatchObject({
    operation: "setAcl",
    identities: [{ scheme: "ip" }, { scheme: "digest", id: expect.stringMatching(/^alice:/) }],
    acl: [{ perms: 31, scheme: "auth", id: "" }],
  });
});

test("the nodes removed at a session's end are recorded, and reads and pings never are", async () => {
  await using it = await audited();
  const { client, sessionId } = it;
  await client.ask(OpCode.CREATE, create("/e", "", 1));
  await client.ask(OpCode.PING);
  it.summaries();
  await client.ask(OpCode.CLOSE_SESSION);
  await client.rest();
  const [record, ...more] = it.records();
  expect(more).toEqual([]);
  expect(record).toMatchObject({
    operation: "ephemeralZNodeDeletionOnSessionCloseOrExpire",
    path: "/e",
    session: sessionId,
    identities: undefined,
    result: "success",
  });
});

test("a later subscriber gets no records of earlier requests, and the stream completes when the server stops", async () => {
  await using it = await audited();
  it.listening.unsubscribe();
  await it.client.ask(OpCode.CREATE, create("/before"));
  const paths: (string | undefined)[] = [];
  let isComplete = false;
  it.zk.audit$.subscribe({
    next: (turn) => paths.push(...turn.map(({ path }) => path)),
    complete: () => {
      isComplete = true;
    },
  });
  await it.client.ask(OpCode.CREATE, create("/after"));
  await it.zk.stop();
  expect([paths, isComplete]).toEqual([["/after"], true]);
});
