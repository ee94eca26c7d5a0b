import { createHash } from "node:crypto";
import { ErrorCode, MajorityQuorum, OpCode, serverId } from "@zooid/model";
import { REPLICA_DEFAULTS } from "@zooid/replica";
import { MemoryTxnLog } from "@zooid/txn-log";
import { RequestReader } from "@zooid/wire";
import { create, RawClient, read, request, setData, versioned } from "@zooid/wire/testing/raw-client";
import { TxnBatchEncoder, TxnReader } from "@zooid/wire/txn";
import { expect, test } from "vitest";
import { ClientListener } from "../clients/client-listener.ts";
import { parseConnectionThrottle } from "../clients/connection-throttle.ts";
import type { LogFields } from "../operators/log-fields.ts";
import { RefusalLog } from "../operators/refusal-log.ts";
import { SlowLog } from "../operators/slow-log.ts";
import { Driver } from "./driver.ts";
import type { Checkpoint } from "./driver-config.ts";

/** A driver whose log syncs when the test says so, behind a real port. */
async function startDriver(
  batchBytesMax?: number,
  slowRequestMs: number = Number.POSITIVE_INFINITY,
  batchBytes: number = Number.POSITIVE_INFINITY,
) {
  const slowLines: LogFields[] = [];
  const checkpoints: Checkpoint[] = [];
  const sid = serverId(1);
  const log = new MemoryTxnLog({
    sid: 1,
    takeEpoch: true,
    handler: {
      appending: (bytes) => driver.proposals.appending(bytes),
      appended: (done) => driver.proposals.appended(done),
      completed: (step) => driver.input(step),
      roomChanged: () => {},
      failed: () => driver.halt(),
      warned: () => {},
    },
  });
  const hash = (name: string) => (bytes: Uint8Array) => createHash(name).update(bytes).digest();
  const driver: Driver = new Driver({
    config: {
      replica: {
        ...REPLICA_DEFAULTS,
        sid,
        verifier: new MajorityQuorum([sid]),
        sessionTimeoutMsMin: 4000,
        sessionTimeoutMsMax: 40_000,
        auth: { superDigest: undefined, digestEnabled: true, skipAcl: false },
        hashKey: { k0: 1, k1: 2 },
        slowRequestMs,
      },
      limits: { frameBytesMax: 1_048_575, outputBytesHigh: 1_048_576, outputBytesMax: 8_388_608, closingMs: 1000 },
      sessionlessTimeoutMs: 10_000,
      connectionThrottle: parseConnectionThrottle({}, []),
      authFailures: { delayMsMax: 0, sparesLoopback: true },
      batchesInFlightMax: 2,
      batchBytes,
      deliverCountMax: 4096,
    },
    log,
    tools: {
      requests: new RequestReader(),
      batcher: new TxnBatchEncoder(undefined, batchBytesMax),
      txns: new TxnReader(),
      entries: new TxnReader(),
      hashes: { digest: hash("sha1"), sha256: hash("sha256") },
      random: () => 0.5,
    },
    hooks: {
      refusals: new RefusalLog(
        () => {},
        () => 0,
      ),
      slow: new SlowLog({
        thresholdMs: slowRequestMs,
        warn: (_, fields) => slowLines.push(fields),
        nowMs: () => performance.now(),
      }),
      wordBytes: () => 4,
      fourLetterWord: () => undefined,
      checkpoint: (checkpoint) => checkpoints.push(checkpoint),
      isBehind: () => false,
      install: () => {},
      roleChanged: () => {},
      note: () => {},
      defect: (error) => {
        throw error;
      },
    },
    recorder: undefined,
    peers: undefined,
  });
  const listener = new ClientListener(
    {
      port: 0,
      address: "127.0.0.1",
      backlog: undefined,
      perAddressMax: 0,
      totalMax: 0,
      tcpKeepAlive: false,
      sharedReads: true,
      hasRoom: () => true,
    },
    (socket, address) => driver.accept(socket, address),
  );
  await listener.listen();
  driver.lead(log.durable.currentEpoch, log.durable.identity.bootCount);
  return {
    driver,
    log,
    slowLines,
    checkpoints,
    /** A client with a session. */
    async open(): Promise<RawClient> {
      const client = await RawClient.open(listener.port);
      let isOpen = false;
      const connected = client.handshake().finally(() => (isOpen = true));
      // Other entries may be pending when the session's own is not yet.
      while (!isOpen) {
        log.syncAll();
        await new Promise((resolve) => setImmediate(resolve));
      }
      await connected;
      return client;
    },
    async [Symbol.asyncDispose]() {
      listener.stop();
      await driver.stop();
    },
  };
}

/** Yields until a condition holds. */
async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setImmediate(resolve));
}

test("a write is answered when it is durable in the log; other clients are served meanwhile", async () => {
  await using held = await startDriver();
  await using writer = await held.open();
  await using reader = await held.open();
  writer.send(request(1, OpCode.CREATE, create("/a")));
  await until(() => held.log.pendingCount > 0);
  expect(await reader.ask(OpCode.EXISTS, read("/a"))).toMatchObject({ code: -101 });
  expect(writer.receivedBytes).toBe(0);
  held.log.syncAll();
  expect(await writer.reply()).toMatchObject({ xid: 1, code: 0 });
});

test("a write that waits for the disk is logged once its answer is sent, and a fast read is not", async () => {
  await using held = await startDriver(undefined, 30);
  await using writer = await held.open();
  held.slowLines.length = 0;
  writer.send(request(7, OpCode.CREATE, create("/slow")));
  await until(() => held.log.pendingCount > 0);
  const pendingMs = performance.now();
  await until(() => performance.now() - pendingMs > 32);
  held.log.syncAll();
  await writer.reply();
  // On a busy machine a turn may be slow, too.
  const lines = held.slowLines.filter(({ event }) => event === "slow-request");
  expect(lines).toMatchObject([{ op: "create", path: "/slow", xid: 7, sendMs: expect.any(Number) }]);
  const [{ durationMs = 0, syncMs = 0, queueMs = 0 } = {}] = lines;
  expect(syncMs).toBeGreaterThanOrEqual(30);
  expect(durationMs).toBeGreaterThanOrEqual(queueMs + syncMs);
  expect(held.driver.slow.count).toBeGreaterThan(0);
});

test("writes of one turn are one batch, and at most two batches are in flight", async () => {
  await using held = await startDriver();
  await using client = await held.open();
  for (let turn = 0; turn < 5; turn++) {
    client.send(
      ...Array.from({ length: 20 }, (_, i) => request(turn * 20 + i, OpCode.CREATE, create(`/${turn}-${i}`))),
    );
    await until(() => held.driver.replica.outstandingCount === (turn + 1) * 20);
  }
  await until(() => held.driver.proposals.batchesInFlight === 2);
  expect(held.driver.replica.hasPrepared).toBe(true);
  for (let xid = 0; xid < 100; ) {
    held.log.syncAll();
    for (; client.receivedBytes > 0; xid++) expect(await client.reply()).toMatchObject({ xid, code: 0 });
    await new Promise((resolve) => setImmediate(resolve));
  }
});

test("a checkpoint records transactions that only replace a node's data", async () => {
  await using held = await startDriver();
  await using client = await held.open();
  const ask = async (op: OpCode, body: Parameters<typeof request>[2]): Promise<number> => {
    client.send(request(1, op, body));
    await until(() => held.log.pendingCount > 0);
    held.log.syncAll();
    return (await client.reply()).code;
  };
  held.driver.checkpoint();
  const before = held.log.durable.tail.zxid;
  expect(await ask(OpCode.CREATE, create("/a"))).toBe(0);
  expect(await ask(OpCode.SET_DATA, setData("/a", "1"))).toBe(0);
  expect(await ask(OpCode.SET_DATA, setData("/a", "2", 77))).toBe(ErrorCode.BAD_VERSION);
  expect(await ask(OpCode.SET_DATA, setData("/a", "3"))).toBe(0);
  held.driver.checkpoint();
  const { zxid, dataWrites = [] } = held.checkpoints.at(-1) ?? {};
  expect(zxid).toBe(before + 4);
  // The first node of a new tree that a client creates.
  expect([...dataWrites]).toEqual([before + 2, 5, before + 4, 5]);
});

test("writes that fill a batch are proposed before the other connections of the turn are read", async () => {
  await using held = await startDriver(undefined, undefined, 1000);
  await using first = await held.open();
  await using second = await held.open();
  await using third = await held.open();
  const outstanding: number[] = [];
  const append = held.log.append.bind(held.log);
  held.log.append = (...batch) => {
    outstanding.push(held.driver.replica.outstandingCount);
    append(...batch);
  };
  const data = "d".repeat(300);
  // What all of them send is there before the server reads any of it.
  for (const [at, client] of [first, second, third].entries()) {
    client.send(...Array.from({ length: 10 }, (_, i) => request(i, OpCode.CREATE, create(`/${at}-${i}`, data))));
  }
  await until(() => held.driver.replica.outstandingCount === 30);
  await until(() => {
    held.log.syncAll();
    return held.driver.replica.outstandingCount === 0;
  });
  // At the end of the turn there would have been 30.
  expect(outstanding[0]).toBeLessThanOrEqual(10);
});

test("writes beyond the bytes of one batch are in later batches, and all are answered in their order", async () => {
  await using held = await startDriver(1000);
  await using client = await held.open();
  const data = "d".repeat(300);
  client.send(...Array.from({ length: 40 }, (_, i) => request(i, OpCode.CREATE, create(`/n-${i}`, data))));
  await until(() => held.driver.replica.outstandingCount === 40);
  for (let xid = 0; xid < 40; ) {
    held.log.syncAll();
    for (; client.receivedBytes > 0; xid++) expect(await client.reply()).toMatchObject({ xid, code: 0 });
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(held.driver.proposals.sizes.max).toBeGreaterThan(1000);
  expect(held.driver.proposals.sizes.max).toBeLessThan(1500);
});

test("when the log fails, what was not durable is never answered, every connection ends, and a stop does too", async () => {
  await using held = await startDriver();
  await using writer = await held.open();
  await using bystander = await held.open();
  writer.send(request(1, OpCode.CREATE, create("/a")));
  await until(() => held.log.pendingCount > 0);
  held.log.fail();
  expect([await writer.rest(), await bystander.rest()]).toEqual([Buffer.alloc(0), Buffer.alloc(0)]);
  await held.driver.stop();
});

test("while the log waits for room, reads are answered, and writes when there is room", async () => {
  await using held = await startDriver();
  await using writer = await held.open();
  await using bystander = await held.open();
  const created = writer.ask(OpCode.CREATE, create("/a"));
  await until(() => held.log.pendingCount > 0);
  held.log.fill();
  held.log.syncAll();
  expect(await bystander.ask(OpCode.EXISTS, read("/a"))).toMatchObject({ code: ErrorCode.NO_NODE });
  held.log.makeRoom();
  held.log.syncAll();
  expect(await created).toMatchObject({ code: 0 });
});

test("a driver stops while the log waits for room, and what was not durable is never answered", async () => {
  await using held = await startDriver();
  await using writer = await held.open();
  writer.send(request(1, OpCode.CREATE, create("/a")));
  await until(() => held.log.pendingCount > 0);
  held.log.fill();
  await held.driver.stop();
  expect(await writer.rest()).toEqual(Buffer.alloc(0));
});

test("a node with many watches that is written thousands of times: each sees every change, and no turn is longer than its share", async () => {
  const [watcherCount, writeCount] = [40, 3000];
  await using held = await startDriver();
  const { driver, log } = held;
  await using writer = await held.open();
  const created = writer.ask(OpCode.CREATE, create("/bomb"));
  await until(() => log.pendingCount > 0);
  log.syncAll();
  await created;
  const watchers: RawClient[] = [];
  for (let i = 0; i < watcherCount; i++) {
    const watcher = await held.open();
    await watcher.ask(OpCode.ADD_WATCH, versioned("/bomb", 0));
    watchers.push(watcher);
  }
  const writes = Array.from({ length: writeCount }, (_, i) => request(i, OpCode.SET_DATA, setData("/bomb", `${i}`)));
  writer.send(...writes);
  const isDone = (): boolean => log.pendingCount === 0 && driver.replica.outstandingCount === 0;
  await until(() => !isDone());
  const bytesOfLooks: number[] = [];
  while (!isDone()) {
    const before = driver.traffic.watchBytes;
    log.syncAll();
    await new Promise((resolve) => setImmediate(resolve));
    bytesOfLooks.push(driver.traffic.watchBytes - before);
  }
  const eventBytes = 32 + "/bomb".length;
  // A share, and what the last slice of it adds; two turns at most lie between two looks.
  expect(Math.max(...bytesOfLooks)).toBeLessThanOrEqual(2 * (10_000 + 8 * watcherCount) * eventBytes);
  expect(bytesOfLooks.reduce((sum, bytes) => sum + bytes, 0)).toBe(watcherCount * writeCount * eventBytes);
  for (const watcher of watchers) {
    const zxids = await zxidsOf(watcher, writeCount);
    expect(zxids).toEqual(zxids.toSorted((a, b) => a - b));
    expect(new Set(zxids).size).toBe(writeCount);
    await watcher[Symbol.asyncDispose]();
  }
});

test("answers are sent before the events that the same turn fires, and those of their own connection with them", async () => {
  await using held = await startDriver();
  const { driver, log } = held;
  const watchers: RawClient[] = [];
  for (let i = 0; i < 4; i++) {
    const watcher = await held.open();
    await watcher.ask(OpCode.ADD_WATCH, versioned("/", 1));
    watchers.push(watcher);
  }
  await using bystander = await held.open();
  const names = new Map([...driver.connections()].map((connection, i) => [connection, i]));
  const sent: number[] = [];
  for (const [connection, name] of names) {
    const flush = connection.flush.bind(connection);
    connection.flush = () => {
      if (connection.isDirty) sent.push(name);
      flush();
    };
  }
  const createBy = async (client: RawClient, path: string): Promise<number> => {
    sent.length = 0;
    const first = client.ask(OpCode.CREATE, create(path));
    await until(() => log.pendingCount > 0);
    log.syncAll();
    const { xid } = await first;
    // Its own and those of the other watchers.
    await until(() => sent.length === (client === bystander ? 5 : 4));
    return xid;
  };
  expect([await createBy(bystander, "/a"), ...sent]).toEqual([1, 4, 3, 2, 1, 0]);
  // One that watches, too: its event comes before its answer.
  expect([await createBy(watchers[1] ?? bystander, "/b"), ...sent]).toEqual([-1, 1, 3, 2, 0]);
  for (const watcher of watchers) await watcher[Symbol.asyncDispose]();
});

test("a node with a long list of children that many ask for at once: all get it, and no turn sends more than its share", async () => {
  const clientCount = 64;
  await using held = await startDriver();
  const { driver, log } = held;
  await using writer = await held.open();
  const writes = Array.from({ length: 1000 }, (_, i) => request(i, OpCode.CREATE, create(`/${"n".repeat(1040)}${i}`)));
  const nodeCount = driver.replica.tree.nodeCount + writes.length;
  writer.send(...writes);
  // Not all of them are in flight at the same time: long paths cost much.
  while (driver.replica.tree.nodeCount < nodeCount) {
    log.syncAll();
    await new Promise((resolve) => setImmediate(resolve));
  }
  const clients: RawClient[] = [];
  for (let i = 0; i < clientCount; i++) clients.push(await held.open());
  const before = driver.traffic.bytesSent;
  for (const client of clients) {
    client.send(request(1, OpCode.GET_CHILDREN, read("/")), request(2, OpCode.EXISTS, read("/")));
  }
  const bytesOfLooks: number[] = [];
  while (driver.traffic.bytesSent - before < clientCount * 1000 * 1040) {
    const { bytesSent } = driver.traffic;
    await new Promise((resolve) => setImmediate(resolve));
    bytesOfLooks.push(driver.traffic.bytesSent - bytesSent);
  }
  // A share, and what the last answer adds to it; two turns at most lie between two looks.
  expect(Math.max(...bytesOfLooks)).toBeLessThan(2 * 18 * 1024 * 1024);
  for (const client of clients) {
    expect((await client.reply()).body.int()).toBe(1001);
    expect(await client.reply()).toMatchObject({ xid: 2, code: 0 });
    await client[Symbol.asyncDispose]();
  }
});

/** The zxids of the next `count` notifications. */
async function zxidsOf(client: RawClient, count: number): Promise<number[]> {
  const zxids: number[] = [];
  for (let i = 0; i < count; i++) {
    const { xid, zxid } = await client.reply();
    expect(xid).toBe(-1);
    zxids.push(zxid);
  }
  return zxids;
}
