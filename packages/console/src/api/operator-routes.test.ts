import { connect, formatSessionId } from "@zooid/client";
import { expect, test } from "vitest";
import type { AuditEntry } from "../facts/audit-tail.ts";
import { startEnsembleStage } from "../testing/ensemble-stage.ts";
import { startStage } from "../testing/stage.ts";
import { auditTail } from "./shapes.ts";

test("a session is shown with its watches, and ended by the leader with its ephemeral nodes", {
  timeout: 120_000,
}, async () => {
  await using stage = await startEnsembleStage();
  const follower = [...stage.servers.values()].find(({ summary }) => summary.role === "following");
  const victim = await connect(follower?.connectString ?? "");
  await victim.create("/held", "", { mode: "ephemeral" });
  const watch = victim.watchData$("/held").subscribe({ error: () => {} });
  const id = formatSessionId(victim.sessionId);
  await expect
    .poll(async () => (await stage.api("GET", `/sessions/watches?id=${id}`)).json)
    .toMatchObject({ paths: ["/held"], total: 1, isCut: false, notes: [] });
  const { json } = await stage.api("GET", "/sessions?watches=true");
  expect(json.sessions.find((session: { id: string }) => session.id === id)).toMatchObject({ watches: 1 });
  // The client soon has a new session and is connected again: looking now and then could miss it.
  const { promise: left, resolve } = Promise.withResolvers<void>();
  const states = victim.state$.subscribe(({ kind }) => kind === "connected" || resolve());
  expect(await stage.api("POST", "/sessions/end", { body: { id } })).toMatchObject({ status: 200, json: { id } });
  await expect.poll(() => stage.zk.exists("/held")).toBeNull();
  await left;
  states.unsubscribe();
  const again = await stage.api("POST", "/sessions/end", { body: { id } });
  expect(again).toMatchObject({ status: 409, json: { code: "ADMIN_REFUSED" } });
  watch.unsubscribe();
  await victim.close();
});

test("members answer four-letter words that only read", async () => {
  await using stage = await startStage();
  const { json } = await stage.api("GET", "/words?word=mntr");
  expect(json).toMatchObject({ member: stage.server.connectString, isCut: false });
  expect(json.text).toContain("zk_server_state\tstandalone");
  expect(await stage.api("GET", "/words?word=crst")).toMatchObject({ status: 400 });
  expect(await stage.api("GET", "/words?word=srvr&sid=9")).toMatchObject({ status: 404 });
});

test("the audit tail has the writes since the first look", async () => {
  let write: (entries: readonly AuditEntry[]) => void = () => {};
  await using stage = await startStage({
    audit: (next) => {
      write = next;
      return () => {};
    },
  });
  expect((await stage.api("GET", "/session")).json.features.audit).toBe(true);
  expect((await stage.api("GET", "/audit")).json).toEqual({ entries: [], droppedCount: 0 });
  const entry = { atMs: 1, session: "0x1", user: undefined, address: undefined, path: undefined } as const;
  write([{ ...entry, operation: "delete", result: "success" }]);
  const { json } = await stage.api("GET", "/audit");
  expect(auditTail.parse(json)).toEqual(json);
  expect(json.entries).toMatchObject([{ number: 1, operation: "delete", user: null, path: null }]);
  expect((await stage.api("GET", "/audit?after=1")).json.entries).toEqual([]);
});

test("a console that is not a server's own has no audit tail", async () => {
  await using stage = await startStage();
  expect(await stage.api("GET", "/audit")).toMatchObject({ status: 501, json: { code: "NO_AUDIT" } });
});

test("only operators see watches, words and the audit tail, and end sessions", async () => {
  await using stage = await startStage({ address: "0.0.0.0" });
  for (const path of ["/sessions/watches?id=0x1", "/words?word=srvr", "/audit"]) {
    expect(await stage.api("GET", path)).toMatchObject({ status: 403, json: { code: "ROLE" } });
  }
  const end = await stage.api("POST", "/sessions/end", { body: { id: "0x1" } });
  expect(end).toMatchObject({ status: 403, json: { code: "ROLE" } });
});
