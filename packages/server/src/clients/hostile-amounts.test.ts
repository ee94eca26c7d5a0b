import { ErrorCode, OpCode } from "@zooid/model";
import { create, multiBody, RawClient, read, request, setData, versioned } from "@zooid/wire/testing/raw-client";
import { expect, test } from "vitest";
import { startTestServer } from "../testing/server.ts";

const MEBIBYTE = 1024 * 1024;

test("data by the mebibyte are refused once the tree is full, and existing nodes can be read and removed", async () => {
  await using zk = await startTestServer({ heldBytesMax: 16 * MEBIBYTE });
  await using bomber = await RawClient.withSession(zk.port);
  const data = new Uint8Array(1_000_000);
  const codes = new Map<number, number>();
  // One by one: requests in flight have a limit of their own.
  for (let i = 0; i < 100; i++) {
    const { code } = await bomber.ask(OpCode.CREATE, create(`/bomb-${i}`, data));
    codes.set(code, (codes.get(code) ?? 0) + 1);
  }
  expect([...codes]).toEqual([
    [0, 13],
    [ErrorCode.QUOTA_EXCEEDED, 87],
  ]);
  expect(zk.lines.filter((line) => line.includes("a client that has added its share is refused"))).toHaveLength(1);
  // Clients of other addresses may still write, until the tree is full.
  const others: number[] = [];
  for (const address of ["127.0.0.2", "127.0.0.3", "127.0.0.4", "127.0.0.5"]) {
    await using other = await RawClient.withSession(zk.port, {}, address);
    others.push((await other.ask(OpCode.CREATE, create(`/of-${address}`, data))).code);
  }
  expect(others).toEqual([0, 0, 0, ErrorCode.QUOTA_EXCEEDED]);
  await using bystander = await RawClient.withSession(zk.port);
  expect(await bystander.ask(OpCode.GET_DATA, read("/bomb-12"))).toMatchObject({ code: 0 });
  expect(await bystander.ask(OpCode.SET_DATA, setData("/bomb-12", "small"))).toMatchObject({ code: 0 });
  expect(await bystander.ask(OpCode.DELETE, versioned("/bomb-0"))).toMatchObject({ code: 0 });
  expect(await bystander.ask(OpCode.CREATE, create("/again"))).toMatchObject({ code: 0 });
});

test("pipelined writes exceed the limit by no more than is in flight, and multis count in full", async () => {
  await using zk = await startTestServer({ heldBytesMax: MEBIBYTE });
  await using client = await RawClient.withSession(zk.port);
  const data = new Uint8Array(100_000);
  client.send(...Array.from({ length: 200 }, (_, i) => request(i, OpCode.CREATE, create(`/n${i}`, data))));
  let refused = 0;
  for (let i = 0; i < 200; i++) if ((await client.reply()).code === ErrorCode.QUOTA_EXCEEDED) refused++;
  expect(refused).toBeGreaterThan(0);
  // The number of requests in flight decides how much fits: now nothing of that size does.
  for (let i = 0; (await client.ask(OpCode.CREATE, create(`/more${i}`, data))).code === 0; i++);
  const multi = multiBody([OpCode.DELETE, versioned("/n0")], [OpCode.CREATE, create("/m", data)]);
  const { code, body } = await client.ask(OpCode.MULTI, multi);
  expect([code, body.int(), body.bool(), body.int()]).toEqual([0, -1, false, 0]);
  expect(await client.ask(OpCode.EXISTS, read("/n0"))).toMatchObject({ code: 0 });
});

test("a multi may have as many parts as the server is configured for, and no more", async () => {
  await using zk = await startTestServer({ multiPartsMax: 3 });
  await using client = await RawClient.withSession(zk.port);
  const parts = Array.from({ length: 4 }, (_, i) => [OpCode.CREATE, create(`/part-${i}`)] as const);
  expect(await client.ask(OpCode.MULTI, multiBody(...parts))).toMatchObject({ code: ErrorCode.MARSHALLING_ERROR });
  expect(await client.ask(OpCode.EXISTS, read("/part-0"))).toMatchObject({ code: ErrorCode.NO_NODE });
  expect(await client.ask(OpCode.MULTI, multiBody(...parts.slice(0, 3)))).toMatchObject({ code: 0 });
  expect(await client.ask(OpCode.EXISTS, read("/part-2"))).toMatchObject({ code: 0 });
});

test("a node with more children than one answer may list says so, each time, and continues being written and removed from", async () => {
  await using zk = await startTestServer({ outputBytesMax: 65_536 });
  await using client = await RawClient.withSession(zk.port);
  await client.ask(OpCode.CREATE, create("/many"));
  const names = Array.from({ length: 70 }, (_, i) => `${"n".repeat(1000)}${i}`);
  for (const name of names) expect(await client.ask(OpCode.CREATE, create(`/many/${name}`))).toMatchObject({ code: 0 });
  const tooLong = { code: ErrorCode.MARSHALLING_ERROR };
  for (let i = 0; i < 100; i++) {
    expect(await client.ask(OpCode.GET_CHILDREN, read("/many"))).toMatchObject(tooLong);
    expect(await client.ask(OpCode.GET_CHILDREN2, read("/many"))).toMatchObject(tooLong);
  }
  expect((await client.ask(OpCode.GET_ALL_CHILDREN_NUMBER, (writer) => writer.text("/many"))).body.int()).toBe(70);
  for (const name of names.slice(0, 10)) await client.ask(OpCode.DELETE, versioned(`/many/${name}`));
  const listed = await client.ask(OpCode.GET_CHILDREN, read("/many"));
  expect([listed.code, listed.body.int()]).toEqual([0, 60]);
});

test("watches beyond what all may take in memory close the connection with the most, and others keep theirs", async () => {
  await using zk = await startTestServer({ watchBytesMax: 2 * MEBIBYTE });
  await using few = await RawClient.withSession(zk.port);
  await few.ask(OpCode.EXISTS, read("/few", true));
  await using many = await RawClient.withSession(zk.port);
  many.send(...Array.from({ length: 40_000 }, (_, i) => request(i, OpCode.EXISTS, read(`/many-${i}`, true))));
  await many.rest();
  expect(zk.lines.filter((line) => line.includes("watches"))).toHaveLength(1);
  // The event comes before the answer.
  expect((await few.ask(OpCode.CREATE, create("/few"))).xid).toBe(-1);
});
