import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CreateMode, composeZxid, derivedPassword, EPOCH_MAX, ErrorCode, OpCode, type SessionId } from "@zooid/model";
import { ApacheTree } from "@zooid/txn-log/sqlite";
import { SnapshotFile } from "@zooid/wire/apache";
import { ApacheType, recordOf } from "@zooid/wire/testing/apache-transactions";
import { create, RawClient, read } from "@zooid/wire/testing/raw-client";
import { afterEach, beforeEach, expect, test } from "vitest";
import { ask } from "../testing/http.ts";
import { startTestServer } from "../testing/server.ts";
import { SUPER, SUPER_DIGEST } from "../testing/snapshot-endpoint.ts";
import { type Answer, StandingEnsemble, type StandingServer, standbyOf } from "../testing/standing-ensemble.ts";

const SESSION = 0x100000000000007n as SessionId;
const HANDSHAKE = { sessionId: SESSION, password: derivedPassword(0x1000000, 7), timeoutMs: 30_000 };
const WAIT = { timeout: 60_000 };

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "zooid-return-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

async function statusOf({ adminPort }: Pick<StandingServer, "adminPort">): Promise<Answer> {
  return JSON.parse((await ask(adminPort, "/commands/return_status")).body) as Answer;
}

async function exportOf(server: Pick<StandingServer, "adminPort">, query: string): Promise<Response> {
  return await fetch(`http://127.0.0.1:${server.adminPort}/commands/export_apache?${query}`, { headers: SUPER });
}

async function refusalOf(server: Pick<StandingServer, "adminPort">, query: string): Promise<unknown> {
  const response = await exportOf(server, query);
  return [response.status, ((await response.json()) as Answer)["error"]];
}

function treeOf(bytes: Buffer): { readonly tree: ApacheTree; readonly last: bigint | undefined } {
  const tree = new ApacheTree();
  const file = new SnapshotFile(tree, (place, found) => new Error(`${place}: ${found}`));
  file.add(bytes);
  return { tree, last: file.end() };
}

/** Until a new leader serves without clients. */
async function closedLeader(standing: StandingEnsemble): Promise<StandingServer> {
  let found: StandingServer | undefined;
  const look = async (): Promise<readonly unknown[]> => {
    const all = await Promise.all(standing.members.map(statusOf));
    found = standing.members[all.findIndex((each) => each["is_leader"] === true)];
    return all.map((each) => [each["clients"], each["is_serving"], each["connections"]]);
  };
  await expect.poll(look, WAIT).toEqual(standing.members.map(() => ["closed-again", true, 0]));
  return found ?? expect.unreachable("a member leads");
}

test("an ensemble that took over is closed again, exported, and opened with all its sessions", async () => {
  await using standing = await StandingEnsemble.start(folder, (apache) => {
    apache.commit(ApacheType.CREATE_SESSION, recordOf.number(30_000), { session: SESSION });
    apache.create("/a", "one");
    apache.create("/a/of-the-session", "", { session: SESSION });
  });
  const { members } = standing;
  await standing.follow();
  const { zxid, digest } = await standing.level();
  expect(await standing.post("close_clients")).toMatchObject({ error: expect.stringContaining("served no clients") });
  expect((await standing.post(`take_over?zxid=${zxid}&digest=${digest}&epoch=1029`))["error"]).toBe(null);
  expect(await standing.post("open_clients")).toMatchObject({ clients: "open", clients_before: "closed" });
  const [member] = members;
  if (member === undefined) expect.unreachable("there are three members");
  await expect.poll(async () => await statusOf(member), WAIT).toMatchObject({ clients: "open" });
  await using client = await RawClient.withSession(member.port);
  expect((await client.ask(OpCode.CREATE, create("/own", "", CreateMode.EPHEMERAL))).code).toBe(ErrorCode.OK);
  expect((await client.ask(OpCode.CREATE, create("/kept", "by a client"))).code).toBe(ErrorCode.OK);
  expect(await statusOf(member)).toMatchObject({ sessions: 2, kept_sessions: 1, closed_at: null });

  const closed = await standing.post("close_clients");
  expect(closed).toMatchObject({ clients: "closed-again", clients_before: "open", error: null });
  const leader = await closedLeader(standing);
  const status = await statusOf(leader);
  expect(status).toMatchObject({ closed_at: closed["closed_at"], apache_epoch_note: null });
  expect(await client.rest()).toEqual(Buffer.alloc(0));
  expect(await standing.post("close_clients")).toMatchObject({ clients_before: "closed-again" });
  // Nothing of the take-over applies to an ensemble with clients' data.
  expect((await standing.post("drop_standby"))["error"]).toContain("has served clients");
  expect((await standbyOf(leader))["taken_over"]).toBe(null);

  const epoch = Number(status["apache_epoch"]);
  const query = `epoch=${epoch}&closed=${String(status["closed_at"])}`;
  const follower = members.find((each) => each !== leader) ?? expect.unreachable("there are followers");
  expect(await refusalOf(follower, query)).toEqual([409, expect.stringContaining("does not lead")]);
  expect(await refusalOf(leader, query.replace(/closed=.*/, "closed=0x1"))).toEqual([
    409,
    expect.stringContaining("and not at 0x1"),
  ]);
  expect(await refusalOf(leader, `epoch=${epoch - 1}&${query.split("&")[1]}`)).toEqual([
    409,
    expect.stringContaining("too near"),
  ]);
  expect(await refusalOf(leader, `epoch=${EPOCH_MAX}&closed=0x1`)).toEqual([400, expect.stringContaining("epoch is")]);
  expect(await refusalOf(leader, "epoch=7&closed=z")).toEqual([400, expect.stringContaining("closed is")]);
  const response = await exportOf(leader, query);
  const bytes = Buffer.from(await response.arrayBuffer());
  expect(Object.fromEntries(response.headers)).toMatchObject({
    snapshot_size: `${bytes.length}`,
    sessions_kept: "1",
    sessions_ended: "1",
    ephemerals_removed: "1",
    shortest_timeout_ms: "30000",
    last_zxid: `0x${composeZxid(epoch, 1).toString(16)}`,
  });
  const { tree, last } = treeOf(bytes);
  expect([last, [...tree.sessions]]).toEqual([BigInt(composeZxid(epoch, 1)), [[SESSION, 30_000]]]);
  expect([...tree.nodes.keys()].filter((path) => !path.startsWith("/zookeeper")).toSorted()).toEqual([
    ...["", "/a", "/a/of-the-session", "/kept"],
  ]);

  // A member that restarts stays closed.
  const place = members.indexOf(follower);
  await follower.stop();
  const reopened = await standing.startMember(place + 1);
  members[place] = reopened;
  await closedLeader(standing);
  expect(await standing.post("open_clients")).toMatchObject({ clients: "open", clients_before: "closed-again" });
  await expect.poll(async () => await statusOf(reopened), WAIT).toMatchObject({ clients: "open", sessions: 2 });
  await expect
    .poll(async () => {
      await using again = await RawClient.open(reopened.port);
      return (await again.handshake(HANDSHAKE).catch(() => undefined))?.timeoutMs;
    }, WAIT)
    .toBe(30_000);
  await using other = await RawClient.withSession(reopened.port);
  expect((await other.ask(OpCode.EXISTS, read("/own"))).code).toBe(ErrorCode.OK);
}, 300_000);

test("a server alone names the offline export", async () => {
  await using zk = await startTestServer({ superDigest: SUPER_DIGEST, admin: { port: 0 } });
  const { body } = await ask(zk.adminPort, "/commands/close_clients", { method: "POST", headers: { ...SUPER } });
  expect((JSON.parse(body) as Answer)["error"]).toContain("zooid-server export --apache OUT");
  expect(await refusalOf(zk, "epoch=2000&closed=0x1")).toEqual([409, expect.stringContaining("--sessions keep")]);
  expect(await statusOf(zk)).toMatchObject({ clients: "open", servers: null });
});
