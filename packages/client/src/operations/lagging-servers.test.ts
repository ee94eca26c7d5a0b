/**
 * Operations that look at what an earlier request of theirs has done, or at what another client
 * has: at a server that has not applied it yet.
 */
import { OpCode } from "@zooid/model";
import { afterEach, beforeEach, expect, test } from "vitest";
import { retry } from "../calls/retry.ts";
import type { Client } from "../client.ts";
import { connect } from "../connect.ts";
import { LaggingNodes } from "../testing/lagging-nodes.ts";
import { honestAnswer, type ScriptedLine, ScriptedServer } from "../testing/scripted-server.ts";

let server: ScriptedServer;
let client: Client;
let line: ScriptedLine;
let lagging: LaggingNodes;

beforeEach(async () => {
  lagging = new LaggingNodes();
  server = await ScriptedServer.start();
  const connecting = connect(server.hosts, { retry: retry.forever(1) });
  line = await server.session();
  client = await connecting;
});

afterEach(async () => {
  line.serve(honestAnswer);
  await client.close();
  await server[Symbol.asyncDispose]();
});

/**
 * Answers requests until the first write of a kind, which is carried out. Its answer is lost with
 * the connection, and the client connects to a server that has not applied it.
 */
async function loseAnswerTo(op: OpCode): Promise<void> {
  const { promise: written, resolve } = Promise.withResolvers<void>();
  line.serve((request) => {
    if (request.op !== op) return lagging.handle(request);
    lagging.write(request);
    resolve();
    return undefined;
  });
  await written;
  line.reset();
  line = await server.session();
  line.serve(lagging.handle);
}

/** After the first answer to requests of a kind. */
function answeredOnce(op: OpCode): Promise<void> {
  return new Promise((resolve) => {
    line.serve((request) => {
      if (request.op === op) setImmediate(resolve);
      return lagging.handle(request);
    });
  });
}

/** The writes of the client. */
function writes(): readonly string[] {
  return lagging.asked.filter((each) => /^(create|set|delete|transaction) /.test(each));
}

test("a protected create whose answer is lost finds its node", async () => {
  lagging.put("/q");
  lagging.catchUp();
  const creating = client.create("/q/n-", "x", { mode: "persistent-sequential", protect: true });
  await loseAnswerTo(OpCode.CREATE2);
  const { path } = await creating;
  expect([...lagging.nodes.keys()]).toEqual(["/q", path]);
  expect(writes()).toHaveLength(1);
});

test("a protected create that is given up is deleted", async () => {
  lagging.put("/q");
  lagging.catchUp();
  const creating = client.create("/q/n-", "x", { mode: "persistent-sequential", protect: true, retry: retry.none });
  const failed = expect(creating).rejects.toMatchObject({ code: "CONNECTION_LOSS", outcome: "unknown" });
  await loseAnswerTo(OpCode.CREATE2);
  const deleted = answeredOnce(OpCode.DELETE);
  await failed;
  await deleted;
  expect([...lagging.nodes.keys()]).toEqual(["/q"]);
});

test("an idempotent create whose answer is lost finds its node", async () => {
  const creating = client.create("/a", "x", { idempotent: true });
  await loseAnswerTo(OpCode.CREATE2);
  expect((await creating).path).toBe("/a");
});

test("an idempotent set whose answer is lost finds what it has set", async () => {
  lagging.put("/a");
  lagging.catchUp();
  const setting = client.set("/a", "y", { idempotent: true, version: 0 });
  await loseAnswerTo(OpCode.SET_DATA);
  expect((await setting).version).toBe(1);
});

test.each([
  { name: "", options: {} },
  { name: " as one transaction", options: { atomic: true } },
])("deleteTree$name deletes children that another client has created before", async ({ options }) => {
  lagging.put("/t", "/t/a");
  lagging.catchUp();
  lagging.put("/t/b", "/t/b/c");
  line.serve(lagging.handle);
  expect(await client.deleteTree("/t", { ...options, childrenOnly: true })).toBe(3);
  expect([...lagging.nodes.keys()]).toEqual(["/t"]);
});

test("deleteTree as one transaction whose answer is lost counts what it has deleted, and repeats nothing", async () => {
  lagging.put("/t", "/t/a", "/t/b");
  lagging.catchUp();
  const deleting = client.deleteTree("/t", { atomic: true });
  await loseAnswerTo(OpCode.MULTI);
  expect(await deleting).toBe(3);
  expect(writes()).toHaveLength(1);
});
