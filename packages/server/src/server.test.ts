import { readdirSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { OpCode } from "@zooid/model";
import { create, multiBody, RawClient, read, request, setData, versioned } from "@zooid/wire/testing/raw-client";
import { filter, firstValueFrom, type Observable, take, toArray } from "rxjs";
import { describe, expect, test } from "vitest";
import { type Change, type StartOptions, startServer } from "./index.ts";
import { startTestServer } from "./testing/server.ts";

/** A directory that is gone at the end of its scope. */
async function temporaryDirectory(): Promise<AsyncDisposable & { readonly path: string }> {
  const path = await mkdtemp(join(tmpdir(), "zooid-server-"));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}

const kinds = ["in memory", "on disk"] as const;

/** A server of a kind, with its directory. */
async function startKind(kind: (typeof kinds)[number], options: StartOptions = {}) {
  const directory = await temporaryDirectory();
  const zk = await startTestServer({ ...options, ...(kind === "on disk" ? { dataDir: directory.path } : {}) });
  return {
    zk,
    async [Symbol.asyncDispose]() {
      await zk.stop();
      await directory[Symbol.asyncDispose]();
    },
  };
}

describe.each(kinds)("a server %s", (kind) => {
  test("answers every write that was read before it stops, and frees its port", async () => {
    await using held = await startKind(kind);
    const { zk } = held;
    const count = 6000;
    await using client = await RawClient.withSession(zk.port);
    const writes = Array.from({ length: count }, (_, i) => request(i, OpCode.CREATE, create(`/n${i}`)));
    client.send(...writes);
    await client.reply();
    const answered: number[] = [0];
    const stopped = zk.stop();
    try {
      for (;;) answered.push((await client.reply()).xid);
    } catch {
      // Closed: a request that was not read by then has no answer, and the answers are a prefix.
    }
    await stopped;
    expect(answered).toEqual(answered.map((_, i) => i));
    await new Promise<void>((resolve, reject) => {
      const probe = createServer().once("error", reject);
      probe.listen(zk.port, "127.0.0.1", () => probe.close(() => resolve()));
    });
  });

  test("stops twice, at once, and when its scope ends", async () => {
    await using held = await startKind(kind);
    await using _client = await RawClient.withSession(held.zk.port);
    await Promise.all([held.zk.stop(), held.zk.stop()]);
    await held.zk.stop();
  });

  test("reports its role, its sessions and its storage, and completes these streams when it stops", async () => {
    await using held = await startKind(kind);
    const { zk } = held;
    const roles = firstValueFrom(zk.role$.pipe(toArray()));
    const sessions = firstValueFrom(zk.sessions$.pipe(filter((count) => count === 2)));
    const storage = firstValueFrom(zk.storage$.pipe(filter(({ appliedZxid }) => appliedZxid > 0)));
    await using _first = await RawClient.withSession(zk.port);
    await using _second = await RawClient.withSession(zk.port);
    expect(await sessions).toBe(2);
    const { logBytes, stateBytes } = await storage;
    expect([logBytes > 0, stateBytes > 0]).toEqual(kind === "on disk" ? [true, true] : [false, false]);
    await zk.stop();
    expect(await roles).toEqual(["leading", "stopped"]);
  });

  test("completes each of its streams when it stops", async () => {
    await using held = await startKind(kind);
    const { zk } = held;
    const open$ = new Set(["changes$", "audit$", "members$", "role$", "sessions$", "storage$"] as const);
    expect(
      Object.keys(zk)
        .filter((name) => name.endsWith("$"))
        .toSorted(),
    ).toEqual([...open$].toSorted());
    for (const name of open$) {
      const stream$: Observable<unknown> = zk[name];
      stream$.subscribe({ complete: () => open$.delete(name) });
    }
    await zk.stop();
    expect([...open$]).toEqual([]);
  });

  test("emits each committed change once, refusals too, in the order of their zxids", async () => {
    await using held = await startKind(kind);
    const { zk } = held;
    const turns = firstValueFrom(zk.changes$.pipe(toArray()));
    await using client = await RawClient.withSession(zk.port);
    await client.ask(OpCode.CREATE, create("/a", "", 2));
    await client.ask(OpCode.DELETE, versioned("/absent"));
    await client.ask(OpCode.MULTI, multiBody([OpCode.CREATE, create("/b")], [OpCode.SET_DATA, setData("/b", "x")]));
    await client.ask(OpCode.CLOSE_SESSION);
    await zk.stop();
    const changes = (await turns).flat();
    expect(changes.map(({ op, path, error }: Change) => [op, path, error])).toEqual([
      ["CREATE_SESSION", "", undefined],
      ["CREATE", "/a0000000000", undefined],
      ["ERROR", "", "NO_NODE"],
      ["CREATE", "/b", undefined],
      ["SET_DATA", "/b", undefined],
      ["CLOSE_SESSION", "", undefined],
    ]);
    const zxids = changes.map(({ zxid }) => zxid);
    expect(zxids).toEqual([...zxids].sort((a, b) => a - b));
    expect(new Set(changes.map(({ session }) => session)).size).toBe(1);
  });
});

test.each([
  ["0.0.0.0", "127.0.0.1"],
  ["127.0.0.1", "127.0.0.1"],
])("a server that listens on %s is reached from this machine at %s", async (address, host) => {
  await using server = await startServer({ port: 0, address });
  expect(server.connectString).toBe(`${host}:${server.port}`);
});

test("nodes, sessions and ephemerals are there after a restart, and the session continues", async () => {
  await using directory = await temporaryDirectory();
  let resume: { sessionId: never; password: Uint8Array };
  {
    await using zk = await startTestServer({ dataDir: directory.path });
    await using client = await RawClient.open(zk.port);
    const { sessionId, password } = await client.handshake();
    resume = {
      sessionId: sessionId as never,
      password: Uint8Array.from(password.bytes.subarray(password.start, password.end)),
    };
    await client.ask(OpCode.CREATE, create("/kept", "value"));
    await client.ask(OpCode.CREATE, create("/mine", "", 1));
  }
  await using zk = await startTestServer({ dataDir: directory.path });
  await using client = await RawClient.open(zk.port);
  expect(await client.handshake(resume)).toMatchObject({ sessionId: resume.sessionId });
  expect((await client.ask(OpCode.GET_DATA, read("/kept"))).body.text()).toBe("value");
  expect(await client.ask(OpCode.EXISTS, read("/mine"))).toMatchObject({ code: 0 });
});

test("the log lies in a directory of its own where one is named, and is found there again", async () => {
  await using state = await temporaryDirectory();
  await using log = await temporaryDirectory();
  const options = { dataDir: state.path, logDir: log.path };
  {
    await using zk = await startTestServer(options);
    await using client = await RawClient.withSession(zk.port);
    await client.ask(OpCode.CREATE, create("/kept"));
  }
  expect(readdirSync(log.path)).toContain("log.db");
  expect(readdirSync(state.path)).not.toContain("log.db");
  await using zk = await startTestServer(options);
  await using client = await RawClient.withSession(zk.port);
  expect(await client.ask(OpCode.EXISTS, read("/kept"))).toMatchObject({ code: 0 });
});

test("each start takes an epoch of its own", async () => {
  await using directory = await temporaryDirectory();
  for (const epoch of [1, 2, 3]) {
    await using zk = await startTestServer({ dataDir: directory.path });
    await using client = await RawClient.withSession(zk.port);
    const { zxid } = await client.ask(OpCode.CREATE, create(`/epoch-${epoch}`));
    expect(Math.floor(zxid / 2 ** 32)).toBe(epoch);
  }
});

test("a session that its client did not resume ends after a restart, in its full time and not before", async () => {
  await using directory = await temporaryDirectory();
  const options = { dataDir: directory.path, tickMs: 20 };
  {
    await using zk = await startTestServer(options);
    await using client = await RawClient.withSession(zk.port, { timeoutMs: 400 });
    await client.ask(OpCode.CREATE, create("/mine", "", 1));
  }
  // Its time begins with the start, which may take as long as it likes. The session that watches
  // does not end on a busy machine.
  const begunMs = performance.now();
  await using zk = await startTestServer({ ...options, sessionTimeoutMsMax: 60_000 });
  await using client = await RawClient.withSession(zk.port);
  await client.ask(OpCode.EXISTS, read("/mine", true));
  expect((await client.reply()).body.int()).toBe(2);
  expect(performance.now() - begunMs).toBeGreaterThan(300);
});

test("a port that is taken is the system's error, and nothing is made in the data directory", async () => {
  await using directory = await temporaryDirectory();
  await using zk = await startTestServer();
  await expect(startServer({ port: zk.port, dataDir: directory.path })).rejects.toMatchObject({ code: "EADDRINUSE" });
  expect(readdirSync(directory.path)).toEqual([]);
});

test("a data directory in use is refused, and its server continues", async () => {
  await using directory = await temporaryDirectory();
  await using zk = await startTestServer({ dataDir: directory.path });
  await expect(startServer({ port: 0, dataDir: directory.path })).rejects.toMatchObject({ code: "LOCKED" });
  await using client = await RawClient.withSession(zk.port);
  expect(await client.ask(OpCode.CREATE, create("/a"))).toMatchObject({ code: 0 });
});

test("an embedder that subscribes at the first change gets all changes of that request", async () => {
  await using zk = await startTestServer();
  const first = firstValueFrom(zk.changes$.pipe(take(1)));
  await using client = await RawClient.open(zk.port);
  const { sessionId } = await client.handshake();
  expect(await first).toMatchObject([{ op: "CREATE_SESSION", session: sessionId, error: undefined }]);
});

test("a superuser may do what an access list forbids", async () => {
  await using zk = await startTestServer({ superDigest: "super:D/InIHSb7yEEbrWz8b9l71RjZJU=" });
  await using owner = await RawClient.withSession(zk.port);
  await owner.ask(OpCode.CREATE, (writer) => {
    writer.text("/closed");
    writer.null();
    writer.int(1);
    writer.int(0);
    writer.text("world");
    writer.text("anyone");
    writer.int(0);
  });
  expect(await owner.ask(OpCode.GET_DATA, read("/closed"))).toMatchObject({ code: -102 });
  await owner.ask(OpCode.AUTH, (writer) => {
    writer.int(0);
    writer.text("digest");
    writer.text("super:test");
  });
  expect(await owner.ask(OpCode.GET_DATA, read("/closed"))).toMatchObject({ code: 0 });
});
