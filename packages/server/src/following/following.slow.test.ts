import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { leader, snapshot } from "@zooid/apache-peer/testing/leader-packets";
import { readStore } from "@zooid/txn-log/sqlite";
import { ApacheType, recordOf } from "@zooid/wire/testing/apache-transactions";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { StartOptions, ZooidServer } from "../server-api.ts";
import { FollowedApache } from "../testing/followed-apache.ts";
import { ask } from "../testing/http.ts";
import { startTestServer } from "../testing/server.ts";
import { SUPER_DIGEST, snapshotOf } from "../testing/snapshot-endpoint.ts";

const SESSION = 0x100000000000007n;

type Started = Awaited<ReturnType<typeof startTestServer>>;

let folder: string;
let apache: FollowedApache;
let failure: PromiseWithResolvers<unknown>;
const servers: ZooidServer[] = [];

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "following-"));
  apache = await FollowedApache.start();
  failure = Promise.withResolvers();
});
afterEach(async () => {
  for (const server of servers.splice(0)) await server.stop();
  await apache[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true });
});

async function started(options: StartOptions = {}): Promise<Started> {
  const server = await startTestServer({
    dataDir: folder,
    // A busy machine keeps a scripted leader silent.
    follow: { hosts: apache.hosts, syncTimeoutMs: 600_000, initTimeoutMs: 600_000 },
    superDigest: SUPER_DIGEST,
    admin: { port: 0, rateLimiterIntervalMs: 0 },
    onFailure: failure.resolve,
    ...options,
  });
  servers.push(server);
  return server;
}

interface Status {
  readonly state: string;
  readonly zxid: string;
  readonly digest: string;
  readonly digests_compared: number;
  readonly snapshots: number;
  readonly lag_transactions: number;
  readonly nodes: number;
  readonly sessions: number;
  readonly tree_digest: string | null;
  readonly chain: string | null;
}

async function status({ adminPort }: Started): Promise<Status> {
  return JSON.parse((await ask(adminPort, "/commands/follow_status")).body) as Status;
}

/** Asks until all that Apache has committed is applied. */
async function level(server: Started): Promise<Status> {
  for (;;) {
    const found = await status(server);
    if (found.zxid === `0x${apache.zxid.toString(16)}` && found.state === "following") return found;
  }
}

/** The tree that the admin port's snapshot has, as Apache's own import reads it. */
async function shownTree(server: Started): Promise<string> {
  const { bytes } = await snapshotOf(server);
  return Buffer.from(bytes).toString("latin1");
}

async function stopped(server: Started): Promise<void> {
  servers.splice(servers.indexOf(server), 1);
  await server.stop();
}

function logged(): { readonly tail: number; readonly ensembleId: string } {
  const { log } = readStore({ directory: folder, logDirectory: folder });
  return { tail: log?.tail.zxid ?? 0, ensembleId: log?.identity.ensembleId ?? "" };
}

async function message(): Promise<string> {
  const error = await failure.promise;
  return error instanceof Error ? error.message : String(error);
}

test("a snapshot becomes the state, transactions are applied and logged under Apache's zxids, and digests are equal", async () => {
  apache.commit(ApacheType.CREATE_SESSION, recordOf.number(8000), { session: SESSION });
  apache.create("/a", "one");
  apache.create("/a/e", "", { session: SESSION });
  const server = await started();
  const link = await apache.serveSnapshot();
  link.send(apache.set("/a", "two"), apache.create("/b"), apache.delete("/b"));
  expect(await level(server)).toMatchObject({ digest: "equal", digests_compared: 3, snapshots: 1 });
  expect(await shownTree(server)).toContain("/a/e");
  expect((await ask(server.adminPort, "/commands/stats")).body).toContain('"server_state" : "observer"');
  expect((await ask(server.adminPort, "/readyz")).status).toBe(200);
  link.socket.destroy();
  const again = await apache.serveSnapshot();
  again.send(apache.set("/a", "three"));
  await level(server);
  expect(server.summary.role).toBe("observing");
  await stopped(server);
  expect(logged()).toEqual({ tail: Number(apache.zxid), ensembleId: "follows-apache" });
});

test("a server that starts again continues behind the last transaction in its log", async () => {
  apache.create("/a", "one");
  const first = await started();
  const link = await apache.serveSnapshot();
  link.send(apache.set("/a", "two"));
  await level(first);
  await stopped(first);
  const last = apache.zxid;
  apache.create("/while-away");
  const second = await started();
  const { position } = await apache.serveDiff();
  expect(position).toBe(last);
  expect(await level(second)).toMatchObject({ digest: "equal", snapshots: 0 });
});

test("digest and chain of what is durable are shown, and are those of the next start", async () => {
  apache.create("/a", "one");
  const first = await started();
  const link = await apache.serveSnapshot();
  link.send(apache.set("/a", "two"));
  await level(first);
  const marked = await durable(first);
  expect(marked).toMatchObject({ tree_digest: expect.stringMatching(/^[0-9a-f]{16}$/), sessions: 0 });
  await stopped(first);
  const second = await started();
  const { tree_digest, chain } = marked;
  expect(await durable(second)).toMatchObject({ tree_digest, chain });
});

/** Asks until the log has what the tree has. */
async function durable(server: Started): Promise<Status> {
  for (;;) {
    const found = await status(server);
    if (found.chain !== null) return found;
  }
}

test("a new leader's epoch is continued", async () => {
  apache.create("/a", "one");
  const server = await started();
  const link = await apache.serveSnapshot();
  link.send(apache.set("/a", "two"));
  await level(server);
  link.socket.destroy();
  apache.epoch = 6;
  apache.counter = 0;
  apache.create("/b");
  await apache.serveDiff();
  expect(await level(server)).toMatchObject({ digest: "equal" });
});

test("what a snapshot lacks, or has too early, comes behind it", async () => {
  apache.create("/a", "one");
  const server = await started();
  const link = await apache.leader.link();
  await link.greet(apache.epoch);
  const zxid = apache.zxid;
  const behind = [
    apache.create("/b", "early"),
    apache.set("/a", "early"),
    apache.create("/b/c"),
    apache.delete("/b/c"),
    apache.delete("/b"),
  ];
  // The snapshot is of after some of them.
  link.send(leader.snap(zxid), apache.snapshot(), ...behind);
  await link.serve(apache.epoch);
  link.send(apache.set("/a", "last"));
  expect(await level(server)).toMatchObject({ digest: "equal", digests_compared: 2 });
});

test("a snapshot that breaks off changes nothing", async () => {
  apache.create("/a", "one");
  const first = await started();
  const link = await apache.serveSnapshot();
  link.send(apache.set("/a", "two"));
  const before = await level(first);
  link.socket.destroy();
  const second = await apache.leader.link();
  await second.greet(apache.epoch);
  apache.create("/b");
  const bytes = apache.snapshot();
  second.send(leader.snap(apache.zxid), bytes.subarray(0, bytes.length - 40));
  second.socket.end();
  await apache.leader.link();
  expect((await status(first)).zxid).toBe(before.zxid);
  await stopped(first);
  expect(logged().tail).toBe(Number(before.zxid));
});

test("a leader whose digest is another one is followed on, and shown, until the digests are equal again", async () => {
  apache.create("/a", "one");
  const server = await started();
  const link = await apache.serveSnapshot();
  link.send(apache.set("/a", "two"), apache.set("/a", "three", 7n));
  expect(await level(server)).toMatchObject({ digest: "different", digests_compared: 2, has_state: true });
  link.send(apache.set("/a", "four", 8n));
  expect(await level(server)).toMatchObject({ digest: "different", digests_compared: 3 });
  link.send(apache.set("/a", "five"));
  expect(await level(server)).toMatchObject({ digest: "equal", digests_compared: 4 });
});

test("without digests, a transaction that does not fit the tree stops the server", async () => {
  await apache[Symbol.asyncDispose]();
  apache = await FollowedApache.start({ hasDigests: false });
  apache.create("/a", "one");
  const server = await started();
  const link = await apache.serveSnapshot();
  link.send(apache.set("/a", "two"));
  expect(await level(server)).toMatchObject({ digest: "none" });
  link.send(apache.delete("/missing"));
  expect(await message()).toContain(
    'transaction 0x500000003 of "/missing" does not fit the tree: the znode is missing',
  );
});

test("data that no client could read stops the server, with the path", async () => {
  apache.create("/a", "one");
  await started({ frameBytesMax: 2000 });
  const link = await apache.serveSnapshot();
  link.send(apache.create("/large", "x".repeat(2001)));
  expect(await message()).toContain(
    '"/large" at 0x500000002 cannot be kept: its 2001 bytes of data are more than the 2000 of jute.maxbuffer',
  );
});

test("a snapshot of a version before 3.5 stops the server: it has no configuration", async () => {
  apache.tree.nodes.delete("/zookeeper/config");
  await started();
  const link = await apache.leader.link();
  await link.greet(apache.epoch);
  link.send(leader.snap(apache.zxid), apache.snapshot());
  expect(await message()).toMatch(
    /no node "\/zookeeper\/config", as those of versions before 3\.5 .*: upgrade the ensemble first$/,
  );
});

test("a session's end with thousands of nodes is one transaction", async () => {
  apache.commit(ApacheType.CREATE_SESSION, recordOf.number(8000), { session: SESSION });
  apache.create("/e");
  const paths = Array.from({ length: 3000 }, (_, i) => `/e/${i}`);
  for (const path of paths) apache.tree.apply({ ...only(path), zxid: apache.zxid });
  const server = await started();
  const link = await apache.serveSnapshot();
  link.send(apache.commit(ApacheType.CLOSE_SESSION, recordOf.paths(paths), { session: SESSION }));
  expect(await level(server)).toMatchObject({ digest: "equal" });
  await stopped(server);
  const again = await started();
  await apache.serveDiff();
  expect(await level(again)).toMatchObject({ snapshots: 0 });
});

function only(path: string): Parameters<FollowedApache["tree"]["apply"]>[0] {
  const change = { kind: "create", path, data: Buffer.from(""), acl: [], owner: SESSION, parentCversion: -1 } as const;
  return { session: SESSION, cxid: 0, type: 1, zxid: 0n, timeMs: 1n, error: 0, changes: [change], digest: undefined };
}

test("a change of the ensemble's configuration, and what failed, take a zxid and nothing else", async () => {
  apache.create("/a", "one");
  const server = await started();
  const link = await apache.serveSnapshot();
  link.send(
    apache.commit(ApacheType.RECONFIG, recordOf.set("/zookeeper/config", "server.1=other:1:2", -1)),
    apache.commit(ApacheType.ERROR, recordOf.number(-110)),
    apache.set("/a", "two"),
  );
  expect(await level(server)).toMatchObject({ digest: "equal" });
  expect(await shownTree(server)).not.toContain("server.1=other");
});

test("another ensemble than last time stops the server, and nothing is changed", async () => {
  for (let i = 0; i < 5; i++) apache.create(`/a${i}`);
  const first = await started();
  const link = await apache.serveSnapshot();
  link.send(apache.create("/b"));
  await level(first);
  await stopped(first);
  const epochs = readFileSync(join(folder, "apache-epochs.json"), "utf8");
  const { tail } = logged();
  await apache[Symbol.asyncDispose]();
  apache = await FollowedApache.start({ atMs: 999 });
  for (let i = 0; i < 50; i++) apache.create(`/a${i}`);
  apache.epoch = 6;
  apache.counter = 0;
  await started();
  void apache.serveSnapshot().catch(() => {});
  expect(await message()).toMatch(
    /that of another ensemble .*6 znodes of it are older than 0x500000006, .* nothing was changed/,
  );
  for (const server of servers.splice(0)) await server.stop();
  expect(logged().tail).toBe(tail);
  expect(readFileSync(join(folder, "apache-epochs.json"), "utf8")).toBe(epochs);
});

test("a leader that is lost behind each of its packets is followed to the end", async () => {
  for (let i = 0; i < 3; i++) apache.create(`/a${i}`, "one");
  const server = await started();
  const conversation = (): readonly Buffer[] => [
    leader.info(apache.epoch),
    leader.snap(apache.zxid),
    apache.snapshot(),
    apache.set("/a0", "behind"),
    leader.newLeader(apache.epoch),
    apache.set("/a1", "early"),
    leader.upToDate(),
    apache.set("/a2", "late"),
  ];
  const packets = conversation();
  for (let count = 0; count <= packets.length; count++) {
    const link = await apache.leader.link();
    await link.next();
    link.socket.end(Buffer.concat(conversation().slice(0, count)));
    apache.epoch++;
    apache.counter = 0;
    apache.create(`/lost-${count}`);
  }
  const last = await apache.serveSnapshot();
  last.send(apache.set("/a0", "last"));
  expect(await level(server)).toMatchObject({ digest: "equal" });
  expect(await shownTree(server)).toContain("/lost-8");
});

test("a transaction that is missing, or comes twice, is made up for by a snapshot", async () => {
  apache.create("/a", "one");
  const server = await started();
  const first = await apache.serveSnapshot();
  apache.set("/a", "missing");
  first.send(apache.set("/a", "behind"));
  const second = await apache.serveSnapshot();
  const twice = apache.set("/a", "twice");
  second.send(twice, twice);
  const third = await apache.serveSnapshot();
  third.send(apache.set("/a", "last"));
  expect(await level(server)).toMatchObject({ digest: "equal", snapshots: 3 });
});

test("a snapshot without an end stops the server at its bound, and nothing is changed", async () => {
  apache.create("/a", "one");
  await started({ follow: { hosts: apache.hosts, spoolBytesMax: 1024 * 1024 } });
  const link = await apache.leader.link();
  await link.greet(apache.epoch);
  const data = "x".repeat(50_000);
  const nodes = Array.from({ length: 30 }, (_, i) => [`/n${i}`, data] as const);
  link.send(leader.snap(apache.zxid), snapshot({ nodes: [["", ""], ...nodes] }));
  expect(await message()).toContain("larger than the 1048576 bytes that may wait to be read");
  for (const server of servers.splice(0)) await server.stop();
  expect(logged().tail).toBe(0);
});

describe("a stop ends the server", () => {
  test.each<[string, () => Promise<unknown>]>([
    ["while no leader is found", async () => apache.leader[Symbol.asyncDispose]()],
    ["before the leader names its epoch", () => apache.leader.link().then((link) => link.next())],
    [
      "while a snapshot comes",
      async () => {
        const link = await apache.leader.link();
        await link.greet(apache.epoch);
        link.send(leader.snap(apache.zxid), apache.snapshot().subarray(0, 60));
        return await follows("synchronizing");
      },
    ],
    ["while a snapshot is installed", () => apache.serveSnapshot()],
  ])("%s", async (_, reach) => {
    apache.create("/a", "one");
    const server = await started();
    await reach();
    await stopped(server);
    expect(readdirSync(folder)).not.toContain("spool");
  });
});

/** Asks the only server until it is in a state. */
async function follows(state: string): Promise<void> {
  const [server] = servers;
  while (server !== undefined && (await status(server as Started)).state !== state) {
    // It is asked again.
  }
}

test("an ordinary server refuses the directory, and a follower refuses an ordinary one", async () => {
  const follower = await started();
  await stopped(follower);
  await expect(startTestServer({ dataDir: folder })).rejects.toThrow("follows an Apache ensemble");
  const ordinary = mkdtempSync(join(tmpdir(), "ordinary-"));
  const server = await startTestServer({ dataDir: ordinary });
  await server.stop();
  await expect(started({ dataDir: ordinary })).rejects.toThrow("name a dataDir that is empty");
  rmSync(ordinary, { recursive: true });
});

test("commands that act on clients or data are refused", async () => {
  const server = await started();
  const { status: code, body } = await ask(server.adminPort, "/commands/drain", { method: "POST" });
  expect([code, JSON.parse(body).error]).toEqual([409, expect.stringContaining("follows an Apache ensemble")]);
});

test("the folder of what waits to be applied goes with the server", async () => {
  const server = await started();
  await stopped(server);
  expect(readdirSync(folder)).not.toContain("spool");
});

test.each([
  [{ hosts: "" }, "zooid.follow is missing"],
  [{ hosts: "a" }, "zooid.follow: the hosts must be host:port"],
  [{ hosts: "a:2888", sid: 255 }, "zooid.follow.sid is a whole number from 1 to 254, found 255"],
  [{ hosts: "a:2888", user: "u" }, "zooid.follow.passwordFile is missing"],
  [{ hosts: "a:2888", tlsKeyFile: "/none" }, "zooid.follow.tlsCertFile is missing"],
])("options that are none are refused: %o", async (follow, problem) => {
  await expect(started({ follow })).rejects.toThrow(problem);
});
