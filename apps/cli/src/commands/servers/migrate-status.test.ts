import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startServer } from "@zooid/embedded-server";
import { freePort } from "@zooid/wire/testing/free-ports";
import { afterEach, beforeEach, expect, test } from "vitest";
import { Session } from "../../testing/session.ts";

// A follower of a real ensemble is asked by the trial apache-follow-server.

const FOLLOW_STATUS = {
  state: "following",
  server: "zk1:2888",
  epoch: 7,
  zxid: "0x700000020",
  has_state: true,
  lag_transactions: 0,
  lag_ms: 0,
  nodes: 10,
  sessions: 2,
  tree_digest: "aa",
  chain: "bb",
  digest: "equal",
  digests_compared: 12,
  transactions: 32,
  snapshots: 1,
  resyncs: 0,
  spool_bytes: 0,
  last_error: null,
};
const STANDBY = {
  clients: "closed",
  standby: { zxid: "0x700000020", chain: "bb", digest: "aa", nodes: 10, sessions: 2, ensemble_id: "e1", behind_ms: 9 },
  last_error: null,
};

let place: string;
const ports: Server[] = [];
beforeEach(() => {
  place = mkdtempSync(join(tmpdir(), "migrate-status-"));
});
afterEach(() => {
  for (const each of ports.splice(0)) {
    each.close();
    each.closeAllConnections();
  }
  rmSync(place, { recursive: true, force: true });
});

/** An admin port that gives these answers; another command is unknown there. @returns its URL */
async function adminPort(answers: Readonly<Record<string, () => object>>): Promise<string> {
  const server = createServer((request, response) => {
    const name = request.url?.slice("/commands/".length) ?? "";
    const answer = answers[name]?.();
    const error = answer === undefined ? `Unknown command: ${name}` : null;
    response.writeHead(answer === undefined ? 404 : 200).end(JSON.stringify({ ...answer, command: name, error }));
  });
  ports.push(server);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function status(...words: readonly string[]) {
  await using session = await Session.open("127.0.0.1:1", "json");
  const run = await session.run("migrate", "status", ...words);
  return { status: await run.ended, report: run.objects[0], notes: run.stderr };
}

async function statusText(...words: readonly string[]) {
  await using session = await Session.open("127.0.0.1:1");
  const run = await session.run("migrate", "status", ...words);
  return { status: await run.ended, lines: run.stdout.trim().split("\n") };
}

test("a follower and members that are level: a table, and the next command", async () => {
  const follower = await adminPort({ follow_status: () => FOLLOW_STATUS });
  const member = await adminPort({ standby: () => STANDBY });
  const { status: exit, lines } = await statusText("--follower", `${follower}/`, "--members", member);
  expect(exit).toBe(0);
  expect(lines).toEqual([
    `follower ${follower}: following zk1:2888 in epoch 7`,
    "at 0x700000020; behind: 0 transactions, 0 ms; digests: equal, 12 compared",
    "since its start: snapshots 1, links that ended 0",
    expect.stringMatching(/^MEMBER +CLIENTS +ZXID +DIGEST +CHAIN +NODES +SESSIONS +BEHIND$/),
    expect.stringMatching(/^http:\S+ +closed +0x700000020 +aa +bb +10 +2 +9 ms$/),
    "all members have the same state",
    "nothing found here blocks a take-over",
    `next: zooid-cli migrate take-over --follower ${follower} --members ${member} --plan`,
  ]);
});

test("what blocks has a status of its own, and a member of another version is named", async () => {
  const follower = await adminPort({
    follow_status: () => ({ ...FOLLOW_STATUS, state: "searching", last_error: "no" }),
  });
  const older = await adminPort({});
  const found = await status("--follower", follower, "--members", older);
  expect(found).toMatchObject({
    status: 1,
    report: {
      ready: false,
      equal: null,
      blockers: [
        "the follower does not follow the ensemble now, it is searching: no",
        `${older}: its version does not know standby: upgrade it`,
      ],
    },
  });
});

test("members at different transactions are looked at again, until they are at one", async () => {
  const follower = await adminPort({ follow_status: () => FOLLOW_STATUS });
  let looks = 0;
  const moving = {
    standby: () => ({ ...STANDBY, standby: { ...STANDBY.standby, zxid: looks++ < 2 ? "0x700000001" : "0x700000020" } }),
  };
  const members = [await adminPort({ standby: () => STANDBY }), await adminPort(moving)].join(",");
  expect(await status("--follower", follower, "--members", members)).toMatchObject({
    status: 0,
    report: { ready: true, equal: true },
  });
});

test("with --watch the report is printed again when another sentence is true", async () => {
  let state = "following";
  const follower = await adminPort({ follow_status: () => ({ ...FOLLOW_STATUS, state }) });
  await using session = await Session.open("127.0.0.1:1", "json");
  const run = session.start("migrate", "status", "--follower", follower, "--watch");
  await run.shows('"ready":true');
  state = "searching";
  await run.shows('"ready":false');
  run.giveUp();
  await run.ended;
  expect(run.objects.slice(0, 2)).toMatchObject([{ ready: true }, { ready: false }]);
});

test("a follower of ours is understood, and one that serves clients is none", async () => {
  const [port, other] = [await freePort(), await freePort()];
  const admin = (adminPort: number) => ({ port: adminPort, address: "127.0.0.1", rateLimiterIntervalMs: 0 });
  await using _follower = await startServer({
    dataDir: join(place, "follower"),
    follow: { hosts: `127.0.0.1:${await freePort()}` },
    admin: admin(port),
  });
  await using _ordinary = await startServer({ port: 0, admin: admin(other) });
  const found = await status("--follower", `http://127.0.0.1:${port}`);
  expect(found).toMatchObject({
    status: 1,
    report: { follower: { zxid: "0x0", snapshots: 0 }, blockers: [expect.stringContaining("it is searching")] },
  });
  const none = await status("--follower", `http://127.0.0.1:${other}`);
  expect(none).toMatchObject({
    status: 3,
    report: { blockers: [expect.stringContaining("this server follows no Apache ensemble")] },
  });
});

test("a follower that does not answer has a status of its own", async () => {
  const found = await status("--follower", `http://127.0.0.1:${await freePort()}`);
  expect(found).toMatchObject({ status: 3, report: { ready: false, blockers: [expect.stringContaining("refused")] } });
});

test("a member whose delay is not known yet blocks nothing", async () => {
  const follower = await adminPort({ follow_status: () => FOLLOW_STATUS });
  const standby = { ...STANDBY.standby, behind_ms: null };
  const member = await adminPort({ standby: () => ({ ...STANDBY, standby, taken_over: null }) });
  const { status: exit, lines } = await statusText("--follower", follower, "--members", member);
  expect([exit, lines[4]]).toEqual([0, expect.stringMatching(/ 2 +\?$/)]);
});

test("an answer without the fields of a follower is refused", async () => {
  const follower = await adminPort({ follow_status: () => ({ state: "following" }) });
  const found = await status("--follower", follower);
  expect(found).toMatchObject({ status: 3, report: { blockers: [expect.stringContaining("has no field epoch")] } });
});

test.each([
  [[], "takes --follower"],
  [["--follower", "host:8080"], "expected a URL such as"],
  [["--follower", "http://a:1,http://b:1"], "takes one URL, found 2"],
  [["--follower", "http://a:1", "--members", "http://b:1,http://b:1/"], "names http://b:1 twice"],
  [["--follower", "http://a:1", "--apache", "zk1:2181"], "--apache is for migrate compare"],
  [["--follower", "http://a:1", "more"], "names servers by --follower and --members"],
])("%j is refused", async (words, reason) => {
  const found = await status(...words);
  expect(found.status).toBe(2);
  expect(JSON.stringify(found.report)).toContain(reason);
});
