import { mkdtempDisposable } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ErrorCode, OpCode } from "@zooid/model";
import { create, RawClient, read, versioned } from "@zooid/wire/testing/raw-client";
import { expect, test } from "vitest";
import { startTestServer } from "../testing/server.ts";

test("a server that starts on a disk with little room refuses additions, and serves everything else", async () => {
  await using directory = await mkdtempDisposable(join(tmpdir(), "zooid-"));
  const dataDir = directory.path;
  {
    await using zk = await startTestServer({ dataDir });
    await using client = await RawClient.withSession(zk.port);
    expect(await client.ask(OpCode.CREATE, create("/a"))).toMatchObject({ code: 0 });
  }
  await using zk = await startTestServer({ dataDir, disk: { reserveBytes: Number.MAX_SAFE_INTEGER } });
  await using client = await RawClient.withSession(zk.port);
  expect(await client.ask(OpCode.CREATE, create("/b"))).toMatchObject({ code: ErrorCode.OPERATION_TIMEOUT });
  expect(await client.ask(OpCode.GET_DATA, read("/a"))).toMatchObject({ code: 0 });
  expect(await client.ask(OpCode.DELETE, versioned("/a"))).toMatchObject({ code: 0 });
  expect(zk.summary.room).toBe("low");
});
