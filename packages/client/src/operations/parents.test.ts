import { startServer } from "@zooid/embedded-server";
import { ErrorCode, OpCode } from "@zooid/model";
import { expect, test } from "vitest";
import { connect } from "../connect.ts";
import { isZkError } from "../errors.ts";
import { answer, createAnswer, ScriptedServer } from "../testing/scripted-server.ts";

test("missing ancestors of a node are created with it, without data", async () => {
  await using server = await startServer({ port: 0 });
  await using zk = await connect(server.connectString);
  await zk.create("/a");
  const { path } = await zk.create("/a/b/c/n-", "x", { mode: "persistent-sequential", parents: "persistent" });
  expect(path).toBe("/a/b/c/n-0000000000");
  expect((await zk.get("/a/b")).data).toEqual(new Uint8Array(0));
  await zk.create("/a/b/c/m", "", { parents: "persistent", protect: true });
  expect((await zk.children("/a/b/c")).names).toHaveLength(2);
});

test("a create without its parent says what creates it", async () => {
  await using server = await startServer({ port: 0 });
  await using zk = await connect(server.connectString);
  await expect(zk.create("/none/a")).rejects.toMatchObject({
    code: "NO_NODE",
    message: "create /none/a: there is no such node (NO_NODE); its parent is missing: the option parents creates it",
  });
  await expect(zk.namespace("/none").create("/a")).rejects.toThrow("creates it, and makeRoot() the client's root");
});

test("containers are removed with their last child, and created again for the next", async () => {
  await using server = await startServer({ port: 0, reaping: { checkIntervalMs: 20 } });
  await using zk = await connect(server.connectString);
  for (let round = 0; round < 2; round++) {
    const { path } = await zk.create("/locks/x/n-", "", { mode: "ephemeral-sequential", parents: "container" });
    expect(path, "the count begins anew").toBe("/locks/x/n-0000000000");
    const { watch } = await zk.exists("/locks", { watch: true });
    await zk.delete(path);
    expect((await watch.fired).type).toBe("deleted");
  }
});

test("a chroot is not created", async () => {
  await using server = await startServer({ port: 0 });
  await using zk = await connect(`${server.connectString}/chroot`);
  const error = await zk.create("/a/b", "", { parents: "container" }).catch((error: unknown) => error);
  expect(isZkError(error, "NO_NODE")).toBe(true);
});

test("a chroot or a namespace is created by makeRoot only", async () => {
  await using server = await startServer({ port: 0 });
  await using zk = await connect(`${server.connectString}/chroot`, { defaultData: "x" });
  const deep = zk.namespace("/deep/down");
  await deep.makeRoot();
  await Promise.all([deep.makeRoot({ mode: "container" }), zk.makeRoot()]);
  await deep.create("/a");
  await using whole = await connect(server.connectString);
  await whole.makeRoot();
  expect((await whole.get("/chroot/deep/down")).data).toEqual(new Uint8Array(0));
  expect(await whole.exists("/chroot/deep/down/a")).not.toBeNull();
});

test("on a server without containers the ancestors are persistent", async () => {
  await using server = await ScriptedServer.start();
  const connecting = connect(server.hosts);
  const line = await server.session();
  await using zk = await connecting;
  const made = new Set<string>();
  const asked: string[] = [];
  line.serve((request) => {
    const { op, path } = request;
    if (op === OpCode.CLOSE_SESSION) return answer(request);
    asked.push(`${op === OpCode.CREATE_CONTAINER ? "container" : "node"} ${path}`);
    if (op === OpCode.CREATE_CONTAINER) return answer(request, { code: ErrorCode.UNIMPLEMENTED });
    if (path === "/a/b" && !made.has("/a")) return answer(request, { code: ErrorCode.NO_NODE });
    made.add(path);
    return createAnswer(request);
  });
  await zk.create("/a/b", "", { parents: "container" });
  expect(asked).toEqual(["node /a/b", "container /a", "node /a", "node /a/b"]);
});

test("a container whose answer was lost is asked for as a container again", async () => {
  await using server = await ScriptedServer.start();
  const connecting = connect(server.hosts);
  const line = await server.session();
  await using zk = await connecting;
  const creating = zk.create("/a/b", "", { parents: "container" });
  line.send(answer(await line.request(), { code: ErrorCode.NO_NODE }));
  expect((await line.request()).op).toBe(OpCode.CREATE_CONTAINER);
  line.reset();
  const next = await server.session();
  const again = await next.request();
  expect([again.op, again.path]).toEqual([OpCode.CREATE_CONTAINER, "/a"]);
  next.send(createAnswer(again));
  next.serve((request) => (request.op === OpCode.CLOSE_SESSION ? answer(request) : createAnswer(request)));
  await creating;
});
