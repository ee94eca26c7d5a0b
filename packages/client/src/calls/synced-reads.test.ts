import { ErrorCode, OpCode } from "@zooid/model";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Client } from "../client.ts";
import { connect } from "../connect.ts";
import {
  answer,
  dataAnswer,
  event,
  honestAnswer,
  type ScriptedLine,
  ScriptedServer,
  type SeenRequest,
} from "../testing/scripted-server.ts";
import { retry } from "./retry.ts";

let server: ScriptedServer;
let client: Client;
let line: ScriptedLine;

beforeEach(async () => {
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

/** The next two requests, a sync and its read. */
async function nextPair(): Promise<{ readonly sync: SeenRequest; readonly read: SeenRequest }> {
  const [sync, read] = await line.requests(2);
  expect([sync?.op, sync?.path, read?.path]).toEqual([OpCode.SYNC, "/a", "/a"]);
  return { sync, read } as { sync: SeenRequest; read: SeenRequest };
}

test("a read whose sync was answered on a lost connection is repeated behind a new sync", async () => {
  const reading = client.get("/a", { sync: true });
  const { sync } = await nextPair();
  line.send(answer(sync));
  line.reset();
  line = await server.session();
  const again = await nextPair();
  line.send(answer(again.sync), dataAnswer(again.read, "new"));
  expect(Buffer.from((await reading).data ?? []).toString()).toBe("new");
});

test("a read whose sync is refused transiently is discarded: both are repeated", async () => {
  const reading = client.get("/a", { sync: true });
  const { sync, read } = await nextPair();
  line.send(answer(sync, { code: ErrorCode.THROTTLED_OP }), dataAnswer(read, "old"));
  const again = await nextPair();
  line.send(answer(again.sync), dataAnswer(again.read, "new"));
  expect(Buffer.from((await reading).data ?? []).toString()).toBe("new");
});

test("a read fails with its sync's error, and the watch that it armed is removed", async () => {
  const reading = client.exists("/a", { sync: true, watch: true });
  const { sync, read } = await nextPair();
  line.send(answer(sync, { code: ErrorCode.NOT_READ_ONLY }), answer(read, { code: ErrorCode.NO_NODE }));
  await expect(reading).rejects.toMatchObject({ code: "NOT_READ_ONLY" });
  expect(await line.request()).toMatchObject({ op: OpCode.REMOVE_WATCHES, path: "/a" });
  line.send(event(1, "/a"));
  expect(client.watchCount).toBe(0);
});
