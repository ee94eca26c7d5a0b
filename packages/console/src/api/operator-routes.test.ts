import { connect, digest, formatSessionId } from "@zooid/client";
import { startServer } from "@zooid/embedded-server";
import { expect, test } from "vitest";
import { type EnsembleStage, startEnsembleStage } from "../testing/ensemble-stage.ts";
import type { HttpAnswer } from "../testing/requesters.ts";
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

/** A member that has no leader at the moment, as on a busy machine, is asked again. */
async function answered(stage: EnsembleStage, path: string): Promise<HttpAnswer["json"]> {
  let answer = await stage.api("GET", path);
  await expect
    .poll(async () => {
      if (answer.status !== 200) answer = await stage.api("GET", path);
      return answer;
    })
    .toMatchObject({ status: 200 });
  return answer.json;
}

test("each member gives the writes of its clients, and the users of its sessions; others give a reason", {
  timeout: 120_000,
}, async () => {
  await using stage = await startEnsembleStage();
  const since = new Map<number, string>();
  for (const sid of [1, 2, 3]) {
    const json = await answered(stage, `/audit?sid=${sid}`);
    expect([json.entries, auditTail.parse(json)]).toEqual([[], json]);
    since.set(sid, json.since);
  }
  const clients = await Promise.all(
    [1, 2, 3].map(async (sid) => {
      const user = digest(`user${sid}`, "secret");
      const client = await connect(stage.servers.get(sid)?.connectString ?? "", { auth: [user] });
      await client.create(`/of-${sid}`, "");
      return client;
    }),
  );
  for (const sid of [1, 2, 3]) {
    const json = await answered(stage, `/audit?sid=${sid}&since=${since.get(sid)}`);
    const written = json.entries.filter(({ operation }: { operation: string }) => operation === "create");
    expect(written).toMatchObject([{ operation: "create", path: `/of-${sid}`, result: "success", isCut: false }]);
    expect(written[0].user.split(",")).toContain(`user${sid}`);
    const newer = await stage.api("GET", `/audit?sid=${sid}&since=${json.since}&after=${json.entries.length}`);
    expect(newer.json.entries).toEqual([]);
  }
  const { sessions, notes } = (await stage.api("GET", "/sessions?clients=true")).json;
  expect(notes).toEqual([]);
  for (const [i, client] of clients.entries()) {
    const found = sessions.find(({ id }: { id: string }) => id === formatSessionId(client.sessionId));
    expect(found).toMatchObject({ users: [`digest:user${i + 1}`], client: "without TLS" });
  }
  expect((await stage.api("GET", "/sessions")).json.sessions[0]).toMatchObject({ users: null, client: null });
  // A user whom the root does not name is refused by each member, and a member that is stopped is
  // not reached.
  const asOther = { headers: { Authorization: "digest other:secret" } };
  expect(await stage.api("GET", "/audit?sid=1", asOther)).toMatchObject({ status: 403, json: { code: "ADMIN_AUTH" } });
  const refused = (await stage.api("GET", "/sessions?clients=true", asOther)).json;
  expect(refused.sessions.every(({ users }: { users: unknown }) => users === null)).toBe(true);
  expect(refused.notes).toHaveLength(3);
  await Promise.all(clients.map((client) => client.close()));
  await stage.stop([...stage.servers].find(([, { summary }]) => summary.role === "following")?.[0] ?? 0);
  const answers = await Promise.all([1, 2, 3].map((sid) => stage.api("GET", `/audit?sid=${sid}`)));
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 502]);
});

test("the server in this process reports without credentials, and others by their admin ports", async () => {
  const asked: unknown[] = [];
  let answer: Record<string, unknown> = { since: 7, dropped: 1, lines: [] };
  await using stage = await startStage({
    ownServer: {
      sid: 0,
      report: (name, query) => {
        asked.push([name, query]);
        return Promise.resolve(answer);
      },
    },
  });
  expect((await stage.api("GET", "/session")).json.features.clientReports).toBe(true);
  expect((await stage.api("GET", "/audit?sid=0&since=7&after=3")).json).toEqual({
    sid: 0,
    since: "7",
    entries: [],
    droppedCount: 1,
  });
  expect(asked).toEqual([["audit_tail", { since: "7", after: "3", limit: "500" }]]);
  expect(await stage.api("GET", "/audit?sid=2")).toMatchObject({ status: 501, json: { code: "NO_ADMIN_PORT" } });
  answer = { error: "not now" };
  expect(await stage.api("GET", "/audit?sid=0")).toMatchObject({ status: 409, json: { detail: "not now" } });
  for (const hostile of [
    {},
    { since: 7, dropped: 0, lines: [{ number: "1" }] },
    { since: 7, dropped: -1, lines: [] },
  ]) {
    answer = hostile;
    expect(await stage.api("GET", "/audit?sid=0")).toMatchObject({ status: 502, json: { code: "NO_ADMIN_ANSWER" } });
  }
});

test("a console that knows no admin port has neither writes nor users of sessions", async () => {
  await using stage = await startStage();
  expect((await stage.api("GET", "/session")).json.features.clientReports).toBe(false);
  expect(await stage.api("GET", "/audit?sid=0")).toMatchObject({ status: 501, json: { code: "NO_ADMIN_PORT" } });
  const { sessions, notes } = (await stage.api("GET", "/sessions?clients=true")).json;
  expect(sessions[0]).toMatchObject({ users: null, client: null });
  expect(notes).toEqual([expect.stringContaining("Configure the admin port of server 0")]);
});

test("a member reads its configuration again, or says what would change", async () => {
  const asked: unknown[] = [];
  const answer = {
    problems: [],
    changed: ["maxCnxns is 5"],
    notApplied: ["tickTime waits"],
    warnings: ["a key is unknown"],
  };
  await using member = await startServer({
    port: 0,
    superDigest: "super:D/InIHSb7yEEbrWz8b9l71RjZJU=",
    admin: { port: 0 },
    reload: ({ isDryRun }) => {
      asked.push(isDryRun);
      return answer;
    },
  });
  await using stage = await startStage({ adminUrls: { 0: `http://127.0.0.1:${member.adminPort}` } });
  const headers = { Authorization: "digest super:test" };
  for (const isDryRun of [true, false]) {
    expect(await stage.api("POST", "/config/reload", { headers, body: { sid: 0, isDryRun } })).toMatchObject({
      status: 200,
      json: { sid: 0, isDryRun, ...answer },
    });
  }
  expect(asked).toEqual([true, false]);
  const elsewhere = await stage.api("POST", "/config/reload", { headers, body: { sid: 9 } });
  expect(elsewhere).toMatchObject({ status: 501, json: { code: "NO_ADMIN_PORT" } });
  const asOther = { headers: { Authorization: "digest other:secret" }, body: { sid: 0 } };
  expect(await stage.api("POST", "/config/reload", asOther)).toMatchObject({ status: 403 });
  expect(asked).toHaveLength(2);
});

test("only operators see watches, words and the audit tail, and end sessions", async () => {
  await using stage = await startStage({ address: "0.0.0.0" });
  for (const path of ["/sessions/watches?id=0x1", "/words?word=srvr", "/audit?sid=0"]) {
    expect(await stage.api("GET", path)).toMatchObject({ status: 403, json: { code: "ROLE" } });
  }
  const { sessions } = (await stage.api("GET", "/sessions?clients=true")).json;
  expect(sessions[0]).toMatchObject({ users: null, client: null, ephemerals: null });
  const end = await stage.api("POST", "/sessions/end", { body: { id: "0x1" } });
  expect(end).toMatchObject({ status: 403, json: { code: "ROLE" } });
});
