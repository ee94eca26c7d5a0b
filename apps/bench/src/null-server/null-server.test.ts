import { connect } from "@zooid/client";
import { expect, test } from "vitest";
import { serverFacts } from "../connections/server-facts.ts";
import { startNullServer } from "./null-server-thread.ts";

test("a client gets from it what it says it has", async () => {
  await using server = await startNullServer({ payloadBytes: 100, children: 3 });
  await using client = await connect(`127.0.0.1:${server.port}`);
  const { data, stat } = await client.get("/anything");
  expect([data?.length, stat.dataLength, stat.numChildren]).toEqual([100, 100, 3]);
  expect((await client.children("/anything")).names).toEqual(["n-0000000", "n-0000001", "n-0000002"]);
  expect((await client.create("/a", "x")).path).toBe("/a");
  expect((await client.create("/a-", "x", { mode: "ephemeral-sequential" })).path).toBe("/a-0000000000");
  await client.set("/a", "y");
  await client.delete("/a");
  await client.sync("/a");
  expect(await client.exists("/a")).not.toBeNull();
  const results = await client.transaction().create("/b").set("/b", "z").check("/b", 0).delete("/b").commit();
  expect(results[0].path).toBe("/b");
  const sets = await client.transaction().set("/b", "z").set("/c", null).commit();
  expect(sets.map(({ dataLength }) => dataLength)).toEqual([100, 100]);
});

test("it says that it is standalone and null", async () => {
  await using server = await startNullServer();
  const facts = await serverFacts({ name: "127.0.0.1", port: server.port });
  expect(facts).toMatchObject({ version: "null", role: "standalone" });
});
