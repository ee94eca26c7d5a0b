import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ErrorCode, OpCode, WatchEventType } from "@zooid/model";
import { readData, readStat, readText } from "@zooid/wire";
import { create, RawClient, read, setData, versioned } from "@zooid/wire/testing/raw-client";
import { afterEach, beforeEach, expect, test } from "vitest";
import { startTestServer } from "../testing/server.ts";

let directory = "";
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "zooid-kinds-"));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

test("empty containers and expired TTL nodes are removed, also after a restart, and the others stay", async () => {
  const options = { dataDir: directory, ttlNodes: true };
  {
    // No check comes while this one runs.
    await using zk = await startTestServer(options);
    await using client = await RawClient.withSession(zk.port);
    const made = await client.ask(OpCode.CREATE_TTL, (writer) => {
      create("/ttl", "", 5)(writer);
      writer.zxid(1);
    });
    expect([made.code, readText(made.body), readStat(made.body).ephemeralOwner]).toEqual([0, "/ttl", 0n]);
    await client.ask(OpCode.CREATE_CONTAINER, create("/used", "", 4));
    await client.ask(OpCode.CREATE, create("/used/x"));
    await client.ask(OpCode.DELETE, versioned("/used/x"));
    await client.ask(OpCode.CREATE_CONTAINER, create("/never-used", "", 4));
    await client.ask(OpCode.CREATE, create("/persistent"));
  }
  await using zk = await startTestServer({ ...options, reaping: { checkIntervalMs: 5 } });
  await using client = await RawClient.withSession(zk.port);
  for (const path of ["/ttl", "/used"]) {
    const { code } = await client.ask(OpCode.EXISTS, read(path, true));
    if (code === ErrorCode.NO_NODE) continue;
    const { xid, body } = await client.reply();
    expect([xid, body.int()]).toEqual([-1, WatchEventType.NODE_DELETED]);
  }
  for (const path of ["/never-used", "/persistent"]) {
    expect(await client.ask(OpCode.EXISTS, read(path))).toMatchObject({ code: ErrorCode.OK });
  }
});

test("the usage of a quota is right at once after a restart, and its limits hold", async () => {
  const options = { dataDir: directory, enforceQuota: true };
  const quota = "/zookeeper/quota/a";
  const limits = "count=-1,bytes=-1=;byteHardLimit=10;countHardLimit=2";
  const usage = async (client: RawClient): Promise<string> => {
    const { body } = await client.ask(OpCode.GET_DATA, read(`${quota}/zookeeper_stats`));
    return Buffer.from(readData(body) ?? []).toString();
  };
  {
    await using zk = await startTestServer(options);
    await using client = await RawClient.withSession(zk.port);
    await client.ask(OpCode.CREATE, create("/a", "12345"));
    await client.ask(OpCode.CREATE, create(quota));
    await client.ask(OpCode.CREATE, create(`${quota}/zookeeper_limits`, limits));
    await client.ask(OpCode.CREATE, create(`${quota}/zookeeper_stats`));
    await client.ask(OpCode.SET_DATA, setData("/a", "1234567"));
    expect(await usage(client)).toBe("count=1,bytes=7");
  }
  await using zk = await startTestServer(options);
  await using client = await RawClient.withSession(zk.port);
  expect(await usage(client)).toBe("count=1,bytes=7");
  expect(await client.ask(OpCode.CREATE, create("/a/b", "1234"))).toMatchObject({ code: ErrorCode.QUOTA_EXCEEDED });
  expect(await client.ask(OpCode.CREATE, create("/a/b", "123"))).toMatchObject({ code: ErrorCode.OK });
  expect(await client.ask(OpCode.CREATE, create("/a/c"))).toMatchObject({ code: ErrorCode.QUOTA_EXCEEDED });
  expect(await usage(client)).toBe("count=2,bytes=10");
});
