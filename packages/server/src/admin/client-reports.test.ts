import { connect } from "node:net";
import { OpCode } from "@zooid/model";
import { auth, create, RawClient } from "@zooid/wire/testing/raw-client";
import { expect, test } from "vitest";
import { ask } from "../testing/http.ts";
import { startTestServer } from "../testing/server.ts";
import { SUPER } from "../testing/snapshot-endpoint.ts";

const options = { admin: { port: 0 }, superDigest: "super:D/InIHSb7yEEbrWz8b9l71RjZJU=" };

async function fieldsOf(port: number | undefined, command: string) {
  const { status, body } = await ask(port, `/commands/${command}`, { headers: SUPER });
  return { status, ...JSON.parse(body) };
}

test("audit_tail has the writes since the first request, and a cursor gives the newer ones", async () => {
  await using zk = await startTestServer(options);
  await using client = await RawClient.withSession(zk.port);
  await client.ask(OpCode.CREATE, create("/unseen"));
  const first = await fieldsOf(zk.adminPort, "audit_tail");
  expect(first).toMatchObject({ status: 200, server_id: 0, dropped: 0, lines: [], error: null });
  await client.ask(OpCode.CREATE, create("/a"));
  await client.ask(OpCode.CREATE, create("/a"));
  const { lines } = await fieldsOf(zk.adminPort, "audit_tail");
  expect(lines).toMatchObject([
    { number: 1, operation: "create", znode: "/a", ip: "127.0.0.1", result: "success", is_cut: false },
    { number: 2, operation: "create", znode: "/a", result: "failure" },
  ]);
  const newer = await fieldsOf(zk.adminPort, `audit_tail?since=${first.since}&after=1&limit=1`);
  expect(newer.lines).toMatchObject([{ number: 2 }]);
  const other = await fieldsOf(zk.adminPort, "audit_tail?since=1&after=2");
  expect(other.lines).toHaveLength(2);
  expect(await zk.adminReport("audit_tail", { limit: "1" })).toMatchObject({ dropped: 1, lines: [{ number: 2 }] });
});

test("audit_tail refuses parameters that are no numbers, and more lines than it has", async () => {
  await using zk = await startTestServer(options);
  for (const query of [
    "limit=0",
    "limit=501",
    "limit=-1",
    "limit=",
    "after=x",
    "since=1e9",
    "after=9999999999999999",
  ]) {
    expect([query, (await fieldsOf(zk.adminPort, `audit_tail?${query}`)).status]).toEqual([query, 400]);
  }
  expect(await zk.adminReport("audit_tail", { limit: "x" })).toMatchObject({
    error: expect.stringContaining("limit is a whole number"),
  });
});

test("session_clients has the users of each session, without hashes; cons and connections have none", async () => {
  await using zk = await startTestServer({ ...options, fourLetterWords: "*" });
  await using client = await RawClient.withSession(zk.port);
  expect((await client.ask(OpCode.AUTH, auth("digest", "alice:secret"))).code).toBe(0);
  await using _other = await RawClient.withSession(zk.port);
  // A connection without a session is not listed.
  const waiting = connect(zk.port, "127.0.0.1");
  const { status, sessions } = await fieldsOf(zk.adminPort, "session_clients");
  expect(status).toBe(200);
  expect(sessions).toHaveLength(2);
  expect(sessions).toContainEqual(
    expect.objectContaining({ users: ["digest:alice"], user_count: 1, is_secure: false, certificate_subject: null }),
  );
  expect(sessions).toContainEqual(expect.objectContaining({ users: [], user_count: 0 }));
  const open = await ask(zk.adminPort, "/commands/connections");
  expect(`${open.body}${await zk.report("cons")}`).not.toContain("alice");
  waiting.destroy();
});
