import { ErrorCode, OpCode } from "@zooid/model";
import { auth, create, RawClient, read, request } from "@zooid/wire/testing/raw-client";
import { expect, test } from "vitest";
import { startTestServer } from "../testing/server.ts";

async function failureCount(port: number): Promise<number> {
  await using client = await RawClient.open(port);
  client.send(Buffer.from("mntr"));
  return Number(/auth_failed_count\t(\d+)/.exec((await client.rest()).toString())?.[1]);
}

test("a guess of the superuser's password by digest waits before anything more that it sends is read, while others are served", async () => {
  const superDigest = "super:D/InIHSb7yEEbrWz8b9l71RjZJU=";
  await using zk = await startTestServer({
    superDigest,
    auth: { failureDelayMsMax: 10_000 },
    fourLetterWords: "mntr",
  });
  await using first = await RawClient.withSession(zk.port);
  for (let i = 0; i < 5; i++)
    expect(await first.ask(OpCode.AUTH, auth("digest", `super:${i}`))).toMatchObject({ code: 0 });
  await using clients = new AsyncDisposableStack();
  for (let i = 0; i < 5; i++) {
    const client = clients.use(await RawClient.withSession(zk.port));
    client.send(
      request(1, OpCode.AUTH, auth("digest", "super:wrong")),
      request(2, OpCode.CREATE, create(`/behind${i}`)),
    );
  }
  while ((await failureCount(zk.port)) < 10) await first.ask(OpCode.PING);
  // Only guesses of the superuser's password are delayed, and the right password is not.
  for (const credentials of ["alice:wrong", "super:test"])
    expect(await first.ask(OpCode.AUTH, auth("digest", credentials))).toMatchObject({ code: 0 });
  // The last of them waits for ten seconds.
  const behind = await Promise.all(
    Array.from({ length: 5 }, async (_, i) => (await first.ask(OpCode.EXISTS, read(`/behind${i}`))).code),
  );
  expect(behind).toContain(ErrorCode.NO_NODE);
  expect(await failureCount(zk.port)).toBe(10);
});
