import { startServer } from "@zooid/embedded-server";
import { ErrorCode, OpCode } from "@zooid/model";
import { expect, onTestFinished, test, vi } from "vitest";
import { retry } from "../calls/retry.ts";
import { connect } from "../connect.ts";
import { isZkError, type ZkErrorCode, zkError } from "../errors.ts";
import { answer, createAnswer, ScriptedServer } from "../testing/scripted-server.ts";
import type { NodeOperations } from "./node-operations.ts";
import { withParents } from "./parents.ts";

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

const LIMIT_MS = 10_000;
const STEP_MS = 100;

interface Asked {
  readonly path: string;
  readonly mode: unknown;
  readonly timeoutMs: number | undefined;
}

/**
 * The requests of `create("/a/b/c")`. Each takes a while, and has one of the answers in turn, or
 * OK.
 */
async function requestsOf(answers: readonly (ZkErrorCode | "OK")[]): Promise<readonly Asked[]> {
  vi.useFakeTimers({ toFake: ["performance"] });
  onTestFinished(() => void vi.useRealTimers());
  const asked: Asked[] = [];
  const left = [...answers];
  const step = async (path: string, mode: unknown, timeoutMs: number | undefined) => {
    asked.push({ path, mode, timeoutMs });
    vi.advanceTimersByTime(STEP_MS);
    const code = left.shift() ?? "OK";
    const outcome = code === "CONNECTION_LOSS" ? "unknown" : "rejected";
    if (code !== "OK") throw zkError({ code, op: "create", path, outcome });
    return { path };
  };
  const nodes = {
    create: (path: string, _data: unknown, { mode, timeoutMs }: { mode: unknown; timeoutMs?: number }) =>
      step(path, mode, timeoutMs),
  };
  await withParents(nodes as unknown as NodeOperations, {
    path: "/a/b/c",
    mode: "container",
    policy: retry.forever(0),
    options: { timeoutMs: LIMIT_MS },
    create: ({ timeoutMs }) => step("/a/b/c", "own", timeoutMs) as never,
  });
  expect(left).toEqual([]);
  return asked;
}

const CASES: Readonly<Record<string, readonly (readonly [ask: string, answer: ZkErrorCode | "OK"])[]>> = {
  "are there": [["/a/b/c own", "OK"]],
  "are missing": [
    ["/a/b/c own", "NO_NODE"],
    ["/a/b container", "NO_NODE"],
    ["/a container", "OK"],
    ["/a/b container", "OK"],
    ["/a/b/c own", "OK"],
  ],
  "are created by others meanwhile": [
    ["/a/b/c own", "NO_NODE"],
    ["/a/b container", "NODE_EXISTS"],
    ["/a/b/c own", "OK"],
  ],
  "have lost answers": [
    ["/a/b/c own", "NO_NODE"],
    ["/a/b container", "CONNECTION_LOSS"],
    ["/a/b container", "CONNECTION_LOSS"],
    ["/a/b container", "NODE_EXISTS"],
    ["/a/b/c own", "OK"],
  ],
  "cannot be containers": [
    ["/a/b/c own", "NO_NODE"],
    ["/a/b container", "UNIMPLEMENTED"],
    ["/a/b persistent", "CONNECTION_LOSS"],
    ["/a/b persistent", "OK"],
    ["/a/b/c own", "OK"],
  ],
  "go again": [
    ["/a/b/c own", "NO_NODE"],
    ["/a/b container", "OK"],
    ["/a/b/c own", "NO_NODE"],
    ["/a/b container", "OK"],
    ["/a/b/c own", "OK"],
  ],
};

test.each(Object.keys(CASES))(
  "where parents %s, each request has its mode, and the time that is left of all",
  async (name) => {
    const steps = CASES[name] ?? [];
    const asked = await requestsOf(steps.map(([, answer]) => answer));
    expect(asked.map(({ path, mode }) => `${path} ${mode}`)).toEqual(steps.map(([ask]) => ask));
    expect(asked.map(({ timeoutMs }) => timeoutMs)).toEqual(steps.map((_, i) => LIMIT_MS - i * STEP_MS));
  },
);
