import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startServer } from "@zooid/embedded-server";
import { allServe, PATIENT } from "@zooid/embedded-server/testing/patient";
import { freePorts } from "@zooid/wire/testing/free-ports";
import { afterEach, beforeEach, expect, onTestFinished, test } from "vitest";
import { Session } from "../../testing/session.ts";

type Server = Awaited<ReturnType<typeof startServer>>;
type Line = { sid: number; host: string; quorumPort: number; electionPort: number; clientAddress: { port: number } };

const HOST = "127.0.0.1";
const SUPER = "digest super:test";
const SUPER_DIGEST = "super:D/InIHSb7yEEbrWz8b9l71RjZJU=";

let lines: readonly Line[];
let servers: Map<number, Server>;
beforeEach(async () => {
  const ports = await freePorts(12);
  lines = [1, 2, 3, 4].map((sid, at) => {
    const [quorumPort = 0, electionPort = 0, port = 0] = ports.slice(at * 3);
    return { sid, host: HOST, quorumPort, electionPort, clientAddress: { port } };
  });
  servers = new Map();
});
afterEach(async () => {
  await Promise.all([...servers.values()].map((server) => server[Symbol.asyncDispose]()));
});

/** Starts a member that knows the first three and itself. */
async function start(sid: number): Promise<void> {
  const own = lines[sid - 1];
  if (own === undefined) throw new RangeError(`there is no server ${sid}`);
  const known = sid > 3 ? [...lines.slice(0, 3), { ...own, isObserver: true }] : lines.slice(0, 3);
  const options = { port: own.clientAddress.port, reconfigEnabled: true, superDigest: SUPER_DIGEST, tickMs: 200 };
  servers.set(sid, await startServer({ ...options, ensemble: { sid, servers: known, ...PATIENT } }));
}

function place(sid: number): string {
  const line = lines[sid - 1];
  return `${sid}=${HOST}:${line?.quorumPort}:${line?.electionPort};${HOST}:${line?.clientAddress.port}`;
}

/** A session, once the ensemble serves. */
async function open(): Promise<Session> {
  const addresses = lines.map(({ clientAddress }) => `${HOST}:${clientAddress.port}`).join(",");
  await allServe(servers.values());
  return await Session.open(addresses, "json");
}

async function member(
  session: Session,
  ...words: readonly string[]
): Promise<readonly [number, Readonly<Record<string, unknown>>]> {
  const found = await session.run("member", ...words, "--auth", SUPER, "--timeout", "20000");
  return [await found.ended, found.objects.at(-1) ?? {}];
}

/** The lines about a change that is not made. */
async function shown(...words: readonly string[]): Promise<string> {
  await using session = await Session.open(`${HOST}:${lines[0]?.clientAddress.port}`);
  const found = await session.run("member", ...words, "--dry-run", "--auth", SUPER);
  await found.ended;
  return found.stdout;
}

test("one server of three is enough for the status of all, under another name and before the session is connected", async () => {
  await Promise.all([1, 2, 3].map(start));
  await (await open())[Symbol.asyncDispose]();
  const [first, second, third] = lines.map(({ clientAddress }) => clientAddress.port);
  await using session = await Session.open(`localhost:${first}`, "json");
  const found = await session.run("status");
  const named = [`localhost:${first}`, `${HOST}:${second}`, `${HOST}:${third}`].map((server) => ({ server }));
  expect(found.objects).toMatchObject([{ healthy: true, members: named }]);
  expect(await found.ended).toBe(0);
  const [status, listed] = await member(session, "list");
  expect([status, listed]).toMatchObject([0, { members: [{ id: 1 }, { id: 2 }, { id: 3 }] }]);
});

test("three servers grow to four, change votes and shrink by it alone", { timeout: 120_000 }, async () => {
  await Promise.all([1, 2, 3].map(start));
  await using session = await open();

  // Server 4 does not run yet.
  const [status, refused] = await member(session, "add", place(4));
  expect([status, refused]).toMatchObject([
    1,
    { error: { code: "NOT_SYNCED", hint: expect.stringContaining("server.4=") } },
  ]);

  await start(4);
  const [, planned] = await member(session, "add", place(4), "--dry-run", "--wait");
  expect(planned).toMatchObject({ dryRun: true, voters: 4 });
  // Server 4 follows without a vote.
  expect((await member(session, "list"))[1]).toMatchObject({
    members: [{ id: 1 }, { id: 2 }, { id: 3 }],
    unlisted: [4],
  });

  expect((await member(session, "add", place(4), "--wait"))[1]).toMatchObject({ dryRun: false, voters: 4 });
  const [, grown] = await member(session, "list");
  const grownTo = [1, 2, 3, 4].map((id) => ({ id, role: "participant" }));
  expect(grown).toMatchObject({ healthy: true, members: grownTo, unlisted: [] });

  expect((await member(session, "demote", "4", "--wait"))[1]).toMatchObject({ voters: 3 });
  expect(await shown("promote", "4")).toMatch(/^server 4 gets a vote: /m);
  expect(await shown("remove", "4")).toMatch(/^server 4 leaves: /m);
  expect((await member(session, "promote", "4", "--wait"))[1]).toMatchObject({ voters: 4 });

  const [, { leader }] = await member(session, "list");
  const follower = leader === 1 ? 2 : 1;
  const [removed, result] = await member(session, "remove", `${follower}`, "--wait");
  expect([removed, result]).toMatchObject([0, { movesLeader: null, voters: 3 }]);
  expect((await member(session, "list"))[1]).toMatchObject({ healthy: true, leader });
});

test("the leader that is removed is replaced by another voter", { timeout: 120_000 }, async () => {
  await Promise.all([1, 2, 3].map(start));
  await using session = await open();
  await start(4);
  expect((await member(session, "add", place(4), "--wait"))[1]).toMatchObject({ voters: 4 });
  const [, { leader }] = await member(session, "list");
  const [removed, result] = await member(session, "remove", `${leader}`, "--wait");
  expect([removed, result]).toMatchObject([0, { movesLeader: leader, voters: 3 }]);
  const [, after] = await member(session, "list");
  expect(after).toMatchObject({ healthy: true });
  expect(after["leader"]).not.toBe(leader);
});

test("a server takes another one's place, which may be down, and a removal that loses the quorum is refused", {
  timeout: 120_000,
}, async () => {
  await Promise.all([1, 2, 3].map(start));
  await using session = await open();
  const [, { leader }] = await member(session, "list");
  const gone = leader === 3 ? 2 : 3;
  await servers.get(gone)?.[Symbol.asyncDispose]();
  servers.delete(gone);
  const other = [1, 2, 3].find((sid) => sid !== gone && sid !== leader);
  expect(await member(session, "remove", `${other}`)).toMatchObject([1, { error: { code: "NO_QUORUM" } }]);

  await start(4);
  const [status, result] = await member(session, "replace", `${gone}`, "--with", place(4), "--wait");
  expect([status, result]).toMatchObject([0, { voters: 3, changes: [{ leaving: [] }, { leaving: [gone] }] }]);
  const [, list] = await member(session, "list");
  expect(list).toMatchObject({
    healthy: true,
    members: expect.arrayContaining([expect.objectContaining({ id: 4, weight: 1 })]),
  });
});

test("invalid words are answered with what is expected", async () => {
  await using server = await startServer({ port: 0 });
  await using session = await Session.open(server.connectString, "json");
  for (const words of [
    ["grow"],
    ["add"],
    ["add", "4"],
    ["remove", "four"],
    ["replace", "1"],
    ["list", "--auth", "secret"],
  ]) {
    const found = await session.run("member", ...words);
    expect([words, await found.ended, found.objects]).toMatchObject([words, 2, [{ error: { code: "USAGE" } }]]);
  }
  const alone = await session.run("member", "list");
  expect([await alone.ended, alone.objects]).toMatchObject([1, [{ error: { code: "UNREADABLE_ANSWER" } }]]);
});

test("a configuration file keeps its groups and weights", async () => {
  await Promise.all([1, 2, 3].map(start));
  await using session = await open();
  const folder = mkdtempSync(join(tmpdir(), "reconfig-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "members.cfg");
  const others = ["group.1=1:2:3", "weight.1=1", "weight.2=1", "weight.3=3"];
  writeFileSync(file, [...[1, 2, 3].map((sid) => `server.${place(sid)}`), ...others, ""].join("\n"));
  const authenticated = await session.run("addauth", "digest", SUPER.slice("digest ".length));
  expect(await authenticated.ended).toBe(0);
  const changed = await session.run("reconfig", "-file", file);
  expect(await changed.ended).toBe(0);
  const config = String(changed.objects.at(-1)?.["config"]).split("\n");
  expect(config).toEqual(expect.arrayContaining(others));
});
