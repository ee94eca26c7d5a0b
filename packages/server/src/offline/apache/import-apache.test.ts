import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { OpCode } from "@zooid/model";
import { ApacheTree, apacheTransaction, apacheTreeSnapshot } from "@zooid/txn-log/sqlite";
import {
  apacheLog,
  recordOf as record,
  ApacheType as Type,
  transaction,
} from "@zooid/wire/testing/apache-transactions";
import { RawClient, read as readBody } from "@zooid/wire/testing/raw-client";
import { afterEach, beforeEach, expect, test } from "vitest";
import { startTestServer } from "../../testing/server.ts";
import { snappyStream } from "../../testing/snappy.ts";
import { importApache } from "./import-apache.ts";
import { readApache } from "./read-apache.ts";

let folder = "";
let warnings: string[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "zooid-import-"));
  mkdirSync(join(folder, "apache/version-2"), { recursive: true });
  warnings = [];
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Creates `/n1` to `/n9` by zxids 1 to 9, of which the last is ephemeral. */
const CREATES = Array.from({ length: 9 }, (_, i) => created(BigInt(i + 1)));

function created(zxid: bigint, digest?: bigint): Buffer {
  const counter = Number(zxid & 0xffff_ffffn);
  const isEphemeral = counter === 9;
  return transaction({
    zxid,
    type: Type.CREATE,
    record: record.create(`/n${counter}`, { data: `${zxid}`, isEphemeral, parentCversion: counter }),
    ...(digest === undefined ? {} : { digest }),
  });
}

/** The tree after some of these. */
function treeOf(transactions: readonly Buffer[]): ApacheTree {
  const tree = new ApacheTree();
  tree.addBuiltIn();
  for (const bytes of transactions) tree.apply(apacheTransaction(bytes));
  return tree;
}

function snapshotOf(count: number): Buffer {
  return Buffer.concat([...apacheTreeSnapshot(treeOf(CREATES.slice(0, count)), BigInt(count), "it")]);
}

function put(name: string, bytes: Uint8Array): void {
  writeFileSync(join(folder, "apache/version-2", name), bytes);
}

function read(): ReturnType<typeof readApache> {
  return readApache({ dataDir: join(folder, "apache") }, (text) => void warnings.push(text));
}

async function importTo(name: string, sessions: "keep" | "drop" = "drop"): Promise<number> {
  const state = await read();
  const directories = { dataDir: join(folder, name) };
  const warn = (text: string): void => void warnings.push(text);
  const plan = { epoch: 1025, sessions } as const;
  return (await importApache(state, { directories, command: "import", member: undefined, from: folder, plan, warn }))
    .nodeCount;
}

async function pathsRead(): Promise<readonly string[]> {
  const { nodes } = (await read()).tree;
  return [...nodes.keys()].filter((path) => path.startsWith("/n"));
}

test("a server serves what was imported, with later zxids, and without ephemeral nodes", async () => {
  put("snapshot.4", snapshotOf(4));
  put("log.1", apacheLog(CREATES.slice(0, 4)));
  put("log.5", apacheLog(CREATES.slice(4)));
  expect(await importTo("data")).toBe(4 + 8);
  await using zk = await startTestServer({ dataDir: join(folder, "data") });
  await using client = await RawClient.withSession(zk.port);
  const { body, zxid } = await client.ask(OpCode.GET_DATA, readBody("/n8"));
  expect(body.text()).toBe("8");
  expect(Number(zxid)).toBeGreaterThan(2 ** 32);
  expect((await client.ask(OpCode.GET_DATA, readBody("/n9"))).code).toBe(-101);
});

test("the state says what it is made of", async () => {
  put("snapshot.0", snapshotOf(0));
  put("snapshot.4", snapshotOf(4));
  put("log.1", apacheLog(CREATES.slice(0, 2)));
  put("log.3", apacheLog(CREATES.slice(2, 6)));
  put("log.7", apacheLog(CREATES.slice(6)));
  const { logFiles, snapshotFile, timeMs, tree, zxid } = await read();
  const name = (file = ""): string => file.slice(file.lastIndexOf("/") + 1);
  expect([name(snapshotFile), ...logFiles.map(name)]).toEqual(["snapshot.4", "log.3", "log.7"]);
  expect([zxid, timeMs, tree.ephemeralCount]).toEqual([9n, 1000, 1]);
});

test("files are found in the directory itself too, and logs in another one", async () => {
  mkdirSync(join(folder, "logs"));
  writeFileSync(join(folder, "logs", "log.1"), apacheLog(CREATES.slice(0, 1)));
  put("snapshot.0", snapshotOf(0));
  const directories = { dataDir: join(folder, "apache/version-2"), logDir: join(folder, "logs") };
  expect((await readApache(directories, () => {})).zxid).toBe(1n);
});

test.each([
  ["gz", gzipSync(snapshotOf(4))],
  ["snappy", snappyStream(snapshotOf(4))],
])("a snapshot by %s is read", async (suffix, bytes) => {
  put(`snapshot.4.${suffix}`, bytes);
  expect(await pathsRead()).toEqual(["/n1", "/n2", "/n3", "/n4"]);
});

test.each([
  ["cut off", "snapshot.4", snapshotOf(4).subarray(0, 300)],
  ["empty", "snapshot.4", Buffer.alloc(0)],
  ["damaged", "snapshot.4", snapshotOf(4).fill(1, 300, 301)],
  ["compressed and cut off", "snapshot.4.gz", gzipSync(snapshotOf(4)).subarray(0, 100)],
  ["not compressed as its name says", "snapshot.4.gz", snapshotOf(4)],
  ["by snappy and cut off", "snapshot.4.snappy", snappyStream(snapshotOf(4)).subarray(0, 100)],
  ["not by snappy as its name says", "snapshot.4.snappy", snapshotOf(4)],
])("a snapshot that is %s is left for the one before it", async (_, name, bytes) => {
  put("snapshot.2", snapshotOf(2));
  put(name, bytes);
  put("log.1", apacheLog(CREATES));
  expect((await read()).zxid).toBe(9n);
  expect(warnings).toEqual([expect.stringMatching(/snapshot\.4.* is damaged at .*; the snapshot before it is taken/)]);
});

test("logs without a snapshot are read from the first transaction on", async () => {
  put("log.1", apacheLog(CREATES));
  expect(await pathsRead()).toHaveLength(9);
});

test("a log may begin with the next epoch, and have an entry twice", async () => {
  put("snapshot.4", snapshotOf(4));
  put("log.5", apacheLog([CREATES[4] ?? Buffer.alloc(0), CREATES[4] ?? Buffer.alloc(0), created(0x1_0000_0001n)]));
  expect((await read()).zxid).toBe(0x1_0000_0001n);
});

test("an entry that was being written is left out, with a warning", async () => {
  put("log.1", apacheLog(CREATES, 0).subarray(0, -5));
  expect((await read()).zxid).toBe(8n);
  expect(warnings).toEqual([expect.stringContaining("no whole entry begins at byte")]);
});

test("a digest is compared, also before transactions that change nothing", async () => {
  const { digest } = treeOf([created(1n)]);
  const session = transaction({ zxid: 2n, type: Type.CREATE_SESSION, record: record.number(6000) });
  put("log.1", apacheLog([created(1n, digest), session]));
  expect((await read()).isDigestChecked).toBe(true);
});

test("there is nothing to compare with behind a change without a digest", async () => {
  put("log.1", apacheLog([created(1n, 5n), created(2n)]));
  expect((await read()).isDigestChecked).toBe(false);
});

test("the digest of a path with other characters than ASCII's is not compared where it differs", async () => {
  const bytes = transaction({ zxid: 1n, type: Type.CREATE, record: record.create("/é"), digest: 5n });
  put("log.1", apacheLog([bytes]));
  expect((await read()).isDigestChecked).toBe(false);
  expect(warnings).toEqual([expect.stringContaining("before Java 18")]);
});

test.each<[string, () => void, RegExp]>([
  ["no files", () => {}, /^.*apache is no data directory of Apache ZooKeeper: .*$/],
  ["a data directory of ours", ownFiles, /^.*apache is no data directory of Apache ZooKeeper: .*$/],
  ["a damaged snapshot alone", () => put("snapshot.4", snapshotOf(4).subarray(0, 300)), /^.*snapshot\.4 is damaged at/],
  [
    "logs that begin later",
    () => put("log.2", apacheLog(CREATES.slice(1))),
    /^there is no snapshot, and the logs begin with 0x2 in/,
  ],
  ["an empty log alone", () => put("log.1", apacheLog([])), /has no snapshot, and its logs have no transaction$/],
  [
    "a gap in a log",
    () => put("log.1", apacheLog([...CREATES.slice(0, 3), ...CREATES.slice(5)])),
    /^.*log\.1 is damaged at transaction 0x6: it follows 0x3, and what was between them is missing$/,
  ],
  [
    "a gap behind the snapshot",
    () => {
      put("snapshot.4", snapshotOf(4));
      put("log.6", apacheLog(CREATES.slice(5)));
    },
    /transaction 0x6: it follows 0x4/,
  ],
  [
    "a gap at the begin of an epoch",
    () => put("log.1", apacheLog([...CREATES, created(0x1_0000_0002n)])),
    /transaction 0x100000002: it follows 0x9/,
  ],
  [
    "a log that goes back",
    () => put("log.1", apacheLog([...CREATES, ...CREATES.slice(2, 4)])),
    /transaction 0x3: it follows 0x9$/,
  ],
  [
    "a log with another sum",
    () => put("log.1", apacheLog(CREATES).fill(1, 40, 41)),
    /log\.1 is damaged at the entry at byte 16: its sum/,
  ],
  [
    "a transaction of an unknown type",
    () => put("log.1", apacheLog([transaction({ zxid: 1n, type: 99, record: Buffer.alloc(8) })])),
    /log\.1 is damaged at 0x1: a transaction of type 99 is not known$/,
  ],
  [
    "another digest",
    () => put("log.1", apacheLog([created(1n, 5n)])),
    /log\.1 is damaged at the state at 0x1: its digest is 0x[0-9a-f]+, and the server noted 0x5$/,
  ],
])("%s is refused in a sentence, and nothing is left behind", async (_, make, problem) => {
  make();
  const before = contentOf();
  const failure = await importTo("data").then(
    () => "imported",
    (error: unknown) => (error instanceof Error ? error.message : error),
  );
  expect(failure).toMatch(problem);
  expect(String(failure)).not.toContain("\n");
  expect(contentOf()).toEqual(before);
  expect(existsSync(join(folder, "data"))).toBe(false);
});

test.each<[string, (tree: ApacheTree) => void, RegExp]>([
  [
    "an access list that is missing",
    (tree) => tree.node(Buffer.from("/x"), null, 9n, Buffer.alloc(60)),
    /"\/x": its access list is missing$/,
  ],
  [
    "a node without a parent",
    (tree) => tree.node(Buffer.from("/x/y"), null, -1n, Buffer.alloc(60)),
    /"\/x\/y": it has no parent$/,
  ],
  ["a path that is none", (tree) => tree.node(Buffer.from("/x//y"), null, -1n, Buffer.alloc(60)), /is damaged at/],
])("%s is refused, and nothing is left behind", async (_, damage, problem) => {
  put("snapshot.4", snapshotOf(4));
  const state = await read();
  damage(state.tree);
  const directories = { dataDir: join(folder, "data"), logDir: join(folder, "log") };
  const plan = { epoch: 1025, sessions: "drop" } as const;
  const options = { directories, command: "import", member: undefined, from: folder, plan, warn: () => {} };
  await expect(importApache(state, options)).rejects.toThrow(problem);
  expect(readdirSync(folder)).toEqual(["apache"]);
});

test("a directory with files is refused, and keeps them", async () => {
  put("snapshot.4", snapshotOf(4));
  mkdirSync(join(folder, "data"));
  writeFileSync(join(folder, "data", "mine"), "");
  await expect(importTo("data")).rejects.toThrow("data is not empty");
  expect(readdirSync(join(folder, "data"))).toEqual(["mine"]);
});

function ownFiles(): void {
  put("log.db", Buffer.from("SQLite format 3"));
  put("state-1.db", Buffer.from("SQLite format 3"));
}

function contentOf(): readonly (readonly [string, string])[] {
  const directory = join(folder, "apache/version-2");
  return readdirSync(directory).map((name) => [name, readFileSync(join(directory, name), "latin1")]);
}
