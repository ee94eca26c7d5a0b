import { startServer, type ZooidServer } from "@zooid/embedded-server";
import { afterAll, beforeAll, expect, test } from "vitest";
import { digestId } from "../auth/identities.ts";
import type { Client } from "../client.ts";
import { connect } from "../connect.ts";
import { isZkError } from "../errors.ts";

let server: ZooidServer;
let zk: Client;
beforeAll(async () => {
  server = await startServer({ port: 0 });
  zk = await connect(server.connectString);
});
afterAll(async () => {
  await zk.close();
  await server.stop();
});

test("with existsOk a node that exists is left as it is, and its Stat is returned", async () => {
  const created = await zk.create("/a/b", "first", { existsOk: true, parents: "persistent" });
  const found = await zk.create("/a/b", "second", { existsOk: true, parents: "persistent" });
  expect(found).toEqual({ path: "/a/b", stat: created.stat });
  expect(await zk.getText("/a/b")).toBe("first");
  await expect(zk.create("/a/b", "third")).rejects.toMatchObject({ code: "NODE_EXISTS" });
});

test("many creators of one node with existsOk see the same node", async () => {
  const all = await Promise.all(Array.from({ length: 20 }, () => zk.create("/one", "", { existsOk: true })));
  expect(new Set(all.map(({ stat }) => stat.czxid)).size).toBe(1);
});

test.each([{ mode: "persistent-sequential" }, { protect: true }] as const)(
  "existsOk is refused with %o",
  async (more) => {
    const refusal = zk.create("/new-", "", { existsOk: true, ...more });
    await expect(refusal).rejects.toMatchObject({ code: "BAD_ARGUMENTS", outcome: "not-sent" });
  },
);

test("ensure makes a node and its ancestors, and is content with one that exists", async () => {
  await zk.ensure("/x/y/z");
  const before = await zk.get("/x/y/z");
  expect(before.data?.length).toBe(0);
  await zk.set("/x/y/z", "kept");
  await zk.ensure("/x/y/z");
  expect(await zk.getText("/x/y/z")).toBe("kept");
  await zk.ensure("/", { timeoutMs: 10_000 });
  const below = zk.namespace("/x/deep");
  await below.ensure("/a", { mode: "container" });
  expect(await zk.exists("/x/deep/a")).not.toBe(null);
});

test("ensure writes nothing where the node exists, so it needs no permission to create", async () => {
  await zk.create("/closed", "", { acl: [{ perms: "cdrwa", scheme: "world", id: "anyone" }] });
  await zk.create("/closed/child");
  await zk.setAcl("/closed", [{ perms: "cdrwa", scheme: "digest", id: digestId("app", "secret") }]);
  const { lastZxid } = zk;
  await zk.ensure("/closed/child");
  expect(zk.lastZxid).toBe(lastZxid);
  const refused = await zk.ensure("/closed/other").catch((error: unknown) => error);
  expect(isZkError(refused, "NO_AUTH")).toBe(true);
});
