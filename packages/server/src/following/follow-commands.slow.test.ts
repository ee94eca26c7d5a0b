import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { leader, packet, SERVERS } from "@zooid/apache-peer/testing/leader-packets";
import type { ScriptedLink } from "@zooid/apache-peer/testing/scripted-leader";
import { openTarget, verifyBackup } from "@zooid/backup";
import { ApacheType, recordOf } from "@zooid/wire/testing/apache-transactions";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { AuditRecord } from "../operators/audit-trail.ts";
import type { StartOptions, ZooidServer } from "../server-api.ts";
import { FollowedApache } from "../testing/followed-apache.ts";
import { ask } from "../testing/http.ts";
import { startTestServer } from "../testing/server.ts";
import { SUPER, SUPER_DIGEST } from "../testing/snapshot-endpoint.ts";

const SESSION = 0x100000000000007n;

type Started = Awaited<ReturnType<typeof startTestServer>>;
type Fields = Readonly<Record<string, unknown>>;

let folder: string;
let target: string;
let apache: FollowedApache;
const servers: ZooidServer[] = [];

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "follow-commands-"));
  target = join(folder, "backup");
  mkdirSync(target);
  apache = await FollowedApache.start();
});
afterEach(async () => {
  for (const server of servers.splice(0)) await server.stop();
  await apache[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true });
});

async function started(options: StartOptions = {}): Promise<Started> {
  const server = await startTestServer({
    dataDir: join(folder, "data"),
    follow: { hosts: apache.hosts, syncTimeoutMs: 600_000, initTimeoutMs: 600_000 },
    superDigest: SUPER_DIGEST,
    admin: { port: 0, rateLimiterIntervalMs: 0 },
    history: { retainMs: 3_600_000 },
    backup: { target },
    ...options,
  });
  servers.push(server);
  return server;
}

async function stopped(server: Started): Promise<void> {
  servers.splice(servers.indexOf(server), 1);
  await server.stop();
}

async function get({ adminPort }: Started, command: string): Promise<Fields> {
  return JSON.parse((await ask(adminPort, `/commands/${command}`)).body) as Fields;
}

async function post(
  { adminPort }: Started,
  command: string,
): Promise<{ readonly status: number; readonly fields: Fields }> {
  const { status, body } = await ask(adminPort, `/commands/${command}`, { method: "POST", headers: SUPER });
  return { status, fields: JSON.parse(body) as Fields };
}

const zxidText = (): string => `0x${apache.zxid.toString(16)}`;

/** Asks until all that Apache has committed is applied. */
async function level(server: Started): Promise<void> {
  await expect.poll(() => get(server, "follow_status")).toMatchObject({ state: "following", zxid: zxidText() });
}

/** A follower that has a session, and two nodes. */
async function followed(): Promise<{ readonly server: Started; readonly link: ScriptedLink }> {
  apache.commit(ApacheType.CREATE_SESSION, recordOf.number(8000), { session: SESSION });
  apache.commit(ApacheType.CREATE_SESSION, recordOf.number(6000), { session: SESSION + 1n });
  apache.create("/a", "one");
  const server = await started();
  const link = await apache.serveSnapshot();
  await level(server);
  return { server, link };
}

/** The next packet that asks for a SYNC, or answers a ping. */
async function syncAnswered(link: ScriptedLink, ...before: readonly Buffer[]): Promise<void> {
  expect(await link.next()).toMatchObject({ name: "REQUEST" });
  link.send(...before, leader.synced());
}

test("a SYNC's answer counts what came since the last one", async () => {
  const { server, link } = await followed();
  const first = post(server, "follow_sync");
  await syncAnswered(link, apache.set("/a", "two"));
  expect(await first).toMatchObject({ status: 200, fields: { zxid: zxidText(), after: null, requests: 1 } });
  const after = zxidText();
  const second = post(server, "follow_sync");
  await syncAnswered(link, apache.create("/b"));
  expect((await second).fields).toMatchObject({
    zxid: zxidText(),
    after,
    sessions_expired: 0,
    reaped: 0,
    reconfigs: 0,
    requests: 1,
    first_requests: [{ zxid: zxidText(), session: "0x0", type: ApacheType.CREATE2 }],
  });
});

test("each session is touched, with its timeout", async () => {
  const { server, link } = await followed();
  expect(await get(server, "follow_sessions")).toMatchObject({ sessions: 2, shortest_timeout_ms: 6000 });
  expect(await post(server, "follow_touch")).toMatchObject({ status: 200, fields: { sessions: 2 } });
  await expect
    .poll(async () => {
      link.send(packet(5, apache.zxid));
      const { data } = await link.next();
      return data === null || data.length === 0 ? [] : [data.readBigInt64BE(0), data.readInt32BE(8), data.length];
    })
    .toEqual([SESSION, 8000, 24]);
});

test("the ensemble's servers are shown, and those before a change, also by the next start", async () => {
  const { server, link } = await followed();
  expect(await get(server, "follow_status")).toMatchObject({ servers: SERVERS, servers_before: null });
  const alone = "server.1=a:2888:3888:participant\nversion=500000009";
  link.send(apache.commit(ApacheType.RECONFIG, recordOf.set("/zookeeper/config", alone, -1)));
  await level(server);
  const expected = { servers: alone, servers_before: SERVERS };
  expect(await get(server, "follow_status")).toMatchObject(expected);
  await stopped(server);
  expect(await get(await started(), "follow_status")).toMatchObject(expected);
});

test("a following that has ended applies nothing more, has the backup level, and continues when it is begun again", async () => {
  const { server, link } = await followed();
  link.send(apache.set("/a", "two"), apache.create("/b"));
  await level(server);
  const end = zxidText();
  const archived = await post(server, "follow_archive");
  expect(archived).toMatchObject({ status: 200, fields: { zxid: end, sessions: 2 } });
  const finished = await post(server, `follow_finish?zxid=${end}`);
  expect(finished).toMatchObject({
    status: 200,
    fields: {
      zxid: end,
      chain: expect.stringMatching(/^[0-9a-f]{16}$/),
      digest: expect.stringMatching(/^[0-9a-f]{16}$/),
    },
  });
  expect([finished.fields["chain"], finished.fields["digest"]]).toEqual([
    archived.fields["chain"],
    archived.fields["digest"],
  ]);
  link.send(apache.set("/a", "later"));
  expect(await get(server, "follow_status")).toMatchObject({ state: "finished", zxid: end });
  const verified = await verifyBackup(openTarget({ target }), join(folder, "scratch"));
  expect(`0x${verified.end?.toString(16)}`).toBe(end);
  for (const command of ["follow_sync", "follow_touch"])
    expect(await post(server, command)).toMatchObject({ status: 503 });

  await stopped(server);
  const again = await started();
  expect(await get(again, "follow_status")).toMatchObject({ state: "finished", zxid: end });
  const { since_sync: _, ...same } = finished.fields;
  expect((await post(again, `follow_finish?zxid=${end}`)).fields).toMatchObject(same);
  expect(await post(again, "follow_resume")).toMatchObject({ status: 200, fields: { zxid: end } });
  const { position } = await apache.serveDiff();
  expect(`0x${position.toString(16)}`).toBe(end);
  await level(again);
  expect(await get(again, "follow_status")).toMatchObject({ digest: "equal" });
});

test("a following ends where it stands, and nowhere else", async () => {
  const { server } = await followed();
  for (const [query, status, error] of [
    ["", 400, "zxid is needed"],
    ["?zxid=7x", 400, "7x"],
    ["?zxid=0x700000001", 409, "0x700000001 was expected"],
    ["?zxid=0x500000002", 409, "0x500000002 was expected"],
  ] as const)
    expect(await post(server, `follow_finish${query}`)).toMatchObject({
      status,
      fields: { error: expect.stringContaining(error) },
    });
  expect(await get(server, "follow_status")).toMatchObject({ state: "following" });
});

test("without a backup a following does not end", async () => {
  apache.create("/a", "one");
  const server = await startTestServer({
    dataDir: join(folder, "data"),
    follow: { hosts: apache.hosts, syncTimeoutMs: 600_000, initTimeoutMs: 600_000 },
    superDigest: SUPER_DIGEST,
    admin: { port: 0, rateLimiterIntervalMs: 0 },
  });
  servers.push(server);
  await apache.serveSnapshot();
  await level(server);
  expect(await post(server, `follow_finish?zxid=${zxidText()}`)).toMatchObject({
    status: 409,
    fields: { error: expect.stringContaining("zooid.backup.target is not set") },
  });
});

test("requests without credentials, and to a server that follows nothing, are refused, and acts are audited", async () => {
  const { server } = await followed();
  const records: AuditRecord[] = [];
  server.audit$.subscribe((turn) => records.push(...turn));
  for (const command of ["follow_touch", "follow_sync", "follow_archive", "follow_finish", "follow_resume"]) {
    expect((await ask(server.adminPort, `/commands/${command}`, { method: "POST" })).status).toBe(401);
    expect((await ask(server.adminPort, `/commands/${command}`, { headers: SUPER })).status).toBe(405);
  }
  await post(server, "follow_touch");
  await post(server, "follow_finish?zxid=0x1");
  expect(records.map(({ operation, result }) => [operation, result])).toEqual([
    ["followTouch", "success"],
    ["followFinish", "failure"],
  ]);
  const ordinary = await startTestServer({ superDigest: SUPER_DIGEST, admin: { port: 0 } });
  servers.push(ordinary);
  expect(await post(ordinary, "follow_touch")).toMatchObject({
    status: 409,
    fields: { error: "this server follows no Apache ensemble" },
  });
});

test("a record of the following that is none stops the start, with its file", async () => {
  const { server } = await followed();
  await stopped(server);
  const file = join(folder, "data", "apache-followed.json");
  writeFileSync(file, '{"finished":7}\n');
  await expect(started()).rejects.toThrow(`${file} must have`);
});
