import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, expect, test } from "vitest";
import { Session } from "../../testing/session.ts";

// Upgrades of an ensemble are in upgrade.slow.test.ts.

let admin: Server;
let asked: string[];
/** The next answers, the last one for all further questions. */
let answers: { readonly status: number; readonly body: object }[];
beforeEach(async () => {
  asked = [];
  admin = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    const { status, body } = (answers.length > 1 ? answers.shift() : answers[0]) ?? { status: 500, body: {} };
    response.writeHead(status, { "Content-Type": "application/json" });
    response.end(JSON.stringify({ command: "upgrade", error: null, ...body }));
  });
  admin.listen(0, "127.0.0.1");
  await once(admin, "listening");
});
afterEach(() => {
  admin.close();
  admin.closeAllConnections();
});

/** Stands for the flag with the port that was asked. */
const ADMIN = "--admin URL";

async function run(words: string, ...replies: typeof answers) {
  answers = replies;
  await using session = await Session.open("127.0.0.1:1");
  const { port } = admin.address() as AddressInfo;
  const found = await session.run("upgrade", ...words.split(" "), "--admin", `http://127.0.0.1:${port}`);
  const out = found.stdout.replaceAll(`--admin http://127.0.0.1:${port}`, ADMIN).trim().split("\n");
  return { status: await found.ended, out, err: found.stderr };
}

const OK = (body: object) => ({ status: 200, body });
/** The formats of a version that knows levels 1 and 2. */
const BOTH = { log: [3, 4], state: [3, 4], snapshot: [1] };
const FIRST = { log: 3, state: 3, snapshot: 1 };
const SECOND = { log: 4, state: 4, snapshot: 1 };
const member = (server_id: number, more: object = {}) => ({
  server_id,
  is_observer: false,
  version: "0.2.0",
  lowest_level: 1,
  highest_level: 2,
  formats: BOTH,
  is_synced: true,
  blocks: null,
  ...more,
});
const STATUS = {
  level: 1,
  formats: FIRST,
  lowest_level: 1,
  highest_level: 2,
  is_leader: true,
  leader_id: 1,
  next_formats: null,
  raising_level: null,
};

test("upgrade status shows each member, and the members that the level waits for", async () => {
  const members = [
    member(1),
    member(2, {
      version: "0.1.0",
      highest_level: 1,
      formats: { log: [3], state: [3], snapshot: [1] },
      blocks: "older",
    }),
    member(3, { is_synced: false, blocks: "not-synced" }),
    member(4, {
      is_observer: true,
      version: null,
      lowest_level: null,
      highest_level: null,
      formats: null,
      blocks: "absent",
    }),
  ];
  expect(await run("status", OK({ ...STATUS, next_level: 2, next_formats: SECOND, members }))).toEqual({
    status: 0,
    err: "",
    out: [
      "SERVER  ROLE      VERSION  LEVELS  FORMATS                               STATE",
      "1       voter     0.2.0    1 to 2  log 3 or 4, state 3 or 4, snapshot 1  ready",
      "2       voter     0.1.0    1       log 3, state 3, snapshot 1            to be upgraded",
      "3       voter     0.2.0    1 to 2  log 3 or 4, state 3 or 4, snapshot 1  not synchronized",
      "4       observer  ?        ?       ?                                     does not follow",
      "written at level 1: log 3, state 3, snapshot 1",
      "written at level 2: log 4, state 4, snapshot 1",
      "feature level 1; level 2 waits for server 2 (to be upgraded), server 3 (not synchronized), observer 4 (does not follow)",
      "next: restart server 2 with a version that knows level 2",
      `next: wait until server 3 has the history, then zooid-cli upgrade status ${ADMIN}`,
      "next: start observer 4, or zooid-cli member remove 4",
    ],
  });
});

test("upgrade status names the next command once nothing blocks", async () => {
  const { out } = await run("status", OK({ ...STATUS, next_level: 2, members: [member(1), member(2)] }));
  expect(out.slice(-2)).toEqual([
    "feature level 1; level 2 can be raised, and versions that do not know it cannot come back",
    `next: zooid-cli upgrade finalize ${ADMIN}`,
  ]);
});

test("upgrade status asked of a server of an earlier version shows no formats that it does not know", async () => {
  const later = { formats: null, blocks: null };
  const { out } = await run("status", OK({ ...STATUS, next_level: 2, members: [member(1, later)] }));
  expect(out).toContain("1       voter  0.2.0    1 to 2  ?        ready");
  expect(out).toContain("written at level 2: ?");
});

test.each<[string, object, string]>([
  [
    "the highest level",
    { level: 2, next_level: null, members: [member(1)] },
    "feature level 2, the highest that the members know: nothing to raise",
  ],
  [
    "a raise that is under way",
    { next_level: 2, raising_level: 2, members: [member(1)] },
    "feature level 1; level 2 is being raised",
  ],
  [
    "a server that does not lead",
    { is_leader: false, leader_id: 3, next_level: null, members: null },
    "server 3, which leads, knows the versions of all members: name its admin port with --admin",
  ],
  [
    "a server without a leader",
    { is_leader: false, leader_id: null, next_level: null, members: null },
    "the leader knows the versions of all members: name its admin port with --admin",
  ],
])("upgrade status: %s", async (_, fields, line) => {
  const { status, out } = await run("status", OK({ ...STATUS, ...fields }));
  expect([status, out.at(-1)]).toEqual([0, line]);
});

test.each<[string, object, string[], string[]]>([
  [
    "finalize",
    { level: 2, level_before: 1 },
    ["feature level 2 is in force, was 1"],
    ["POST /commands/finalize_upgrade"],
  ],
  [
    "finalize --wait",
    { level: 2, level_before: 2 },
    ["feature level 2 is in force: nothing to raise"],
    ["POST /commands/finalize_upgrade"],
  ],
  [
    "finalize --dry-run",
    { level: 2, level_before: 1, is_dry_run: true },
    ["level 1 can be raised to 2", "nothing is changed: --dry-run"],
    ["POST /commands/finalize_upgrade?dryRun=true"],
  ],
])("upgrade %s", async (words, body, out, requests) => {
  expect(await run(words, OK(body))).toEqual({ status: 0, out, err: "" });
  expect(asked).toEqual(requests);
});

test("upgrade finalize --wait asks again while the server refuses for now, and not where a member blocks", async () => {
  const later = { status: 503, body: { error: "level 2 is being raised already" } };
  const found = await run("finalize --wait", later, later, OK({ level: 2, level_before: 2 }));
  expect(found).toMatchObject({
    status: 0,
    out: ["waiting: level 2 is being raised already", "feature level 2 is in force: nothing to raise"],
  });
  expect(asked).toHaveLength(3);
  asked.length = 0;
  const blocked = await run("finalize --wait", {
    status: 409,
    body: { error: "level 2 cannot be raised: observer 4 does not follow, so that its version is not known" },
  });
  expect(blocked.status).toBe(1);
  expect(blocked.err).toContain("observer 4 does not follow, so that its version is not known");
});
