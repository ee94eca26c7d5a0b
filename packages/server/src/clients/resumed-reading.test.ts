import { OpCode, ZXID_NONE } from "@zooid/model";
import type { JuteWriter } from "@zooid/wire";
import { RawClient, read, request } from "@zooid/wire/testing/raw-client";
import { expect, test, vi } from "vitest";
import { startTestServer } from "../testing/server.ts";

/** Watches on `count` absent nodes, which take several turns. */
function setWatches(count: number): (writer: JuteWriter) => void {
  return (writer) => {
    writer.zxid(ZXID_NONE);
    writer.int(0);
    writer.int(count);
    for (let i = 0; i < count; i++) writer.text(`/absent${i}`);
    writer.int(0);
  };
}

test("requests behind a setWatches of several turns are read when it is done, without any other input", async () => {
  // No timer starts a turn for it.
  vi.useFakeTimers({ toFake: ["setInterval"] });
  await using zk = await startTestServer();
  vi.useRealTimers();
  await using client = await RawClient.withSession(zk.port, { timeoutMs: 40_000 });
  client.send(request(-8, OpCode.SET_WATCHES, setWatches(10_000)), request(1, OpCode.EXISTS, read("/")));
  expect(await client.reply()).toMatchObject({ xid: -8, code: 0 });
  expect(await client.reply()).toMatchObject({ xid: 1, code: 0 });
});
