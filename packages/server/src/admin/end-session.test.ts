import { OpCode } from "@zooid/model";
import { create, RawClient, read } from "@zooid/wire/testing/raw-client";
import { expect, test } from "vitest";
import type { AuditRecord } from "../operators/audit-trail.ts";
import { ask } from "../testing/http.ts";
import { startTestServer } from "../testing/server.ts";
import { SUPER } from "../testing/snapshot-endpoint.ts";

const options = { admin: { port: 0 }, superDigest: "super:D/InIHSb7yEEbrWz8b9l71RjZJU=" };

test("an operator ends a session: its ephemerals go, and the audit trail has the operator", async () => {
  await using zk = await startTestServer(options);
  await using victim = await RawClient.open(zk.port);
  const { sessionId } = await victim.handshake();
  await victim.ask(OpCode.CREATE, create("/held", "", 1));
  const records: AuditRecord[] = [];
  zk.audit$.subscribe((turn) => records.push(...turn));
  const id = `0x${BigInt.asUintN(64, sessionId).toString(16)}`;
  const path = `/commands/end_session?id=${id}`;
  const { status, body } = await ask(zk.adminPort, path, { method: "POST", headers: SUPER });
  expect([status, JSON.parse(body)]).toMatchObject([200, { session_id: id, error: null }]);
  await victim.rest();
  await using other = await RawClient.withSession(zk.port);
  expect((await other.ask(OpCode.EXISTS, read("/held"))).code).not.toBe(0);
  expect(records[0]).toMatchObject({ operation: "endSession", session: sessionId, result: "success" });
  expect(records[0]?.identities).toContainEqual(expect.objectContaining({ scheme: "super" }));
  const again = await ask(zk.adminPort, path, { method: "POST", headers: SUPER });
  expect(again.status).toBe(404);
});

test("without the superuser's credentials, and without a session's id, nothing is ended", async () => {
  await using zk = await startTestServer(options);
  await using client = await RawClient.withSession(zk.port);
  const end = (query: string, headers = {}, method = "POST") =>
    ask(zk.adminPort, `/commands/end_session${query}`, { method, headers });
  expect((await end("?id=0x1")).status).toBe(401);
  expect((await end("?id=0x1", { authorization: "digest alice:secret" })).status).toBe(403);
  expect((await end("?id=0x1", SUPER, "GET")).status).toBe(405);
  expect((await end("?id=all", SUPER)).status).toBe(400);
  expect((await client.ask(OpCode.EXISTS, read("/"))).code).toBe(0);
});
