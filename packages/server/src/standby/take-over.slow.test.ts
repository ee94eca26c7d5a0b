import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { derivedPassword, ErrorCode, OpCode, type SessionId } from "@zooid/model";
import { ApacheType, recordOf } from "@zooid/wire/testing/apache-transactions";
import { RawClient, read } from "@zooid/wire/testing/raw-client";
import { afterEach, beforeEach, expect, test } from "vitest";
import { StandingEnsemble, type StandingServer, standbyOf } from "../testing/standing-ensemble.ts";

const SESSION = 0x100000000000007n as SessionId;
/** Apache's epoch is 5. */
const EPOCH = 5 + 1024;

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "zooid-take-over-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

async function codeOf(server: StandingServer, path: string): Promise<number> {
  await using client = await RawClient.withSession(server.port);
  return (await client.ask(OpCode.GET_DATA, read(path))).code;
}

test("the state that all members have ready becomes theirs, and sessions are kept", async () => {
  await using standing = await StandingEnsemble.start(folder, (apache) => {
    apache.commit(ApacheType.CREATE_SESSION, recordOf.number(30_000), { session: SESSION });
    apache.create("/a", "one");
    apache.create("/a/of-the-session", "", { session: SESSION });
  });
  const { apache, members } = standing;
  expect((await standing.post("take_over?zxid=0x1&digest=0000000000000000&epoch=2000"))["error"]).toContain(
    "no state ready",
  );
  const link = await standing.follow();
  link.send(apache.set("/a", "two"), apache.create("/b"));
  const { zxid, digest } = await standing.level();
  const refused = async (query: string): Promise<unknown> => (await standing.post(`take_over?${query}`))["error"];
  expect(await refused("zxid=0x1&digest=1&epoch=1")).toContain("digest is that of the state");
  expect(await refused(`zxid=0x1&digest=${digest}&epoch=${EPOCH}`)).toContain(`this server stands at ${zxid}`);
  expect(await refused(`zxid=${zxid}&digest=${digest}&epoch=${EPOCH - 1}`)).toContain("too near to Apache's");
  expect((await standing.post("open_clients"))["error"]).toContain("nothing was taken over");
  const taken = await standing.post(`take_over?zxid=${zxid}&digest=${digest}&epoch=${EPOCH}`);
  const at = `0x${(EPOCH - 1).toString(16)}00000001`;
  expect(taken).toMatchObject({ epoch: EPOCH, zxid: at, digest, missing: [], is_complete: true, error: null });
  expect(await refused(`zxid=${zxid}&digest=${digest}&epoch=${EPOCH}`)).toContain("taken over already");
  for (const member of members)
    expect(await standbyOf(member)).toMatchObject({
      clients: "closed",
      standby: null,
      taken_over: { zxid: at, digest },
    });
  // Chunks were not sent: each member had the state.
  expect(members.flatMap(({ lines }) => lines).filter((line) => line.includes("is not sent"))).toEqual([]);
  expect(await standing.post("open_clients")).toMatchObject({ clients: "open" });
  for (const member of members) {
    await expect.poll(() => codeOf(member, "/b").catch(() => -1), { timeout: 60_000 }).toBe(ErrorCode.OK);
    await using client = await RawClient.open(member.port);
    const { timeoutMs } = await client.handshake({
      sessionId: SESSION,
      password: derivedPassword(0x1000000, 7),
      timeoutMs: 30_000,
    });
    expect(timeoutMs).toBe(30_000);
    expect((await client.ask(OpCode.EXISTS, read("/a/of-the-session"))).code).toBe(ErrorCode.OK);
  }
  expect((await standing.post("drop_standby"))["error"]).toBe("the ensemble serves clients");
}, 300_000);

test("a state that was taken over is dropped again, and another take-over follows", async () => {
  await using standing = await StandingEnsemble.start(folder, (apache) => apache.create("/a", "one"));
  const { apache, members } = standing;
  const link = await standing.follow();
  const first = await standing.level();
  const take = ({ zxid, digest }: typeof first) =>
    standing.post(`take_over?zxid=${zxid}&digest=${digest}&epoch=${EPOCH}`);
  expect(await take(first)).toMatchObject({ epoch: EPOCH, is_complete: true });
  const [leader] = await Promise.all([standing.leader()]);
  const follower = members.find((member) => member !== leader) as StandingServer;
  expect(await standing.post("drop_standby")).toMatchObject({ dropped: "taken-over", error: null });
  await expect.poll(async () => (await standbyOf(follower))["taken_over"], { timeout: 60_000 }).toBe(null);
  link.send(apache.create("/later"));
  const again = await take(await standing.level());
  expect(again).toMatchObject({ is_complete: true, error: null });
  expect(again["epoch"]).toBeGreaterThan(EPOCH);
  expect(await standing.post("open_clients")).toMatchObject({ clients: "open" });
  await expect.poll(() => codeOf(leader, "/later").catch(() => -1), { timeout: 60_000 }).toBe(ErrorCode.OK);
}, 300_000);

test("a member without the state ready keeps the others from taking it over", async () => {
  await using standing = await StandingEnsemble.start(folder, (apache) => apache.create("/a", "one"));
  await standing.follow();
  const { zxid, digest } = await standing.level();
  const leader = await standing.leader();
  const { members } = standing;
  const away = members.findIndex((member) => member !== leader);
  const [gone] = members.splice(away, 1);
  await gone?.stop();
  const refused = await standing.post(`take_over?zxid=${zxid}&digest=${digest}&epoch=${EPOCH}`);
  expect(refused["error"]).toContain(`server ${away + 1} is not ready: it does not follow`);
  members.splice(away, 0, await standing.startMember(away + 1));
  // It has its state from before the restart.
  await standing.level();
  expect(await standing.post(`take_over?zxid=${zxid}&digest=${digest}&epoch=${EPOCH}`)).toMatchObject({
    is_complete: true,
  });
}, 300_000);
