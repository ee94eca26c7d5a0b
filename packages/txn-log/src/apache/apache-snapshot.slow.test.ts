import { createHash } from "node:crypto";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Acl, composeZxid, EPOCH_MAX, epochOf, sliceText } from "@zooid/model";
import { Adler32, type ApacheSnapshotParts } from "@zooid/wire/apache";
import Sqlite from "better-sqlite3";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type ImportOptions, openStore, type Store } from "../sqlite.ts";
import { APACHE_SNAPSHOT } from "../testing/apache-snapshot.ts";
import { promised } from "../testing/promised-log.ts";
import { ApacheSnapshotBuilder } from "./apache-snapshot-builder.ts";
import { ApacheSnapshotDecoder } from "./apache-snapshot-decoder.ts";

const SESSION = 0x100_001e_99a5_0000n;
const BUILT_IN: readonly TestNode[] = [
  ["", ""],
  ["/zookeeper", ""],
  ["/zookeeper/quota", ""],
  ["/zookeeper/config", ""],
];

let directory = "";
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "zooid-apache-"));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

/** A server alone, with its log and state. */
function open(name = "data"): Promise<Store> {
  const ignore = (): void => {};
  const handler = { appended: ignore, roomChanged: ignore, failed: ignore, warned: ignore };
  return openStore({ directory: join(directory, name), sid: 1, takeEpoch: true, handler });
}

/** Takes a snapshot over, as a server does that is about to begin with it. */
async function restore(store: Store, bytes: Uint8Array, pieceBytes = 100, options: ImportOptions = {}): Promise<void> {
  const receiver = await store.importSnapshot(options);
  for (let at = 0; at < bytes.length; at += pieceBytes) await receiver.add(bytes.subarray(at, at + pieceBytes));
  const { position, stateFile, epochs } = await receiver.finish();
  const log = promised(store.log);
  const { identity } = log.durable;
  const epoch = epochOf(position.zxid);
  await log.setPromise({ epoch, sid: identity.sid, incarnation: identity.bootCount });
  await log.beginStage(position);
  await log.installHistory({ epoch, tail: position.zxid, committed: position.zxid, snapshot: { stateFile, epochs } });
  store.adoptState();
}

interface Shown {
  readonly data: string | null;
  readonly acl: Acl;
  /** As text, since a zxid, a time and an owner are longer than a number is exact. */
  readonly stat: string;
}

function nodesOf(store: Store, session = noSession): ReadonlyMap<string, Shown> {
  const paths = new Map<number, string>();
  const shown = new Map<string, Shown>();
  store.loadState({
    session,
    node: ({ id, parentId, name, hasData, data, stat, acl }) => {
      const path = parentId === 0 ? "" : `${paths.get(parentId)}/${sliceText(name)}`;
      paths.set(id, path);
      const bytes = Buffer.from(stat.bytes.subarray(stat.start, stat.end));
      shown.set(path === "" ? "/" : path, {
        data: hasData ? Buffer.from(data.bytes.subarray(data.start, data.end)).toString("latin1") : null,
        acl,
        stat: bytes
          .toString("hex")
          .replace(/(.{16})(.{16})(.{16})(.{16})(.{8})(.{8})(.{8})(.{16})(.{8})(.{8})(.{16})/, "$1 $2 $5 $6 $7 $8 $9"),
      });
    },
  });
  return shown;
}

function noSession(): void {
  throw new Error("no session is taken over");
}

async function exported(store: Store): Promise<Buffer> {
  await using source = await store.exportSnapshot();
  const pieces: Uint8Array[] = [];
  for (let piece = await source.next(); piece !== undefined; piece = await source.next()) pieces.push(piece);
  const bytes = Buffer.concat(pieces);
  expect(bytes.length).toBe(source.sizeBytes);
  return bytes;
}

describe("a snapshot of Apache's", () => {
  test("is taken over with all that its nodes have; sessions and their ephemerals stay behind", async () => {
    await using store = await open();
    await restore(store, APACHE_SNAPSHOT);
    const nodes = nodesOf(store);
    expect([...nodes.keys()].sort()).toEqual([
      ...["/", "/a", "/a/s-0000000000", "/a/s-0000000002", "/closed", "/container", "/container/x", "/null", "/ttl"],
      ...["/zookeeper", "/zookeeper/config", "/zookeeper/quota", "/zookeeper/quota/a"],
      ...["/zookeeper/quota/a/zookeeper_limits", "/zookeeper/quota/a/zookeeper_stats", "/ünï"],
    ]);
    const open31 = { perms: 31, scheme: "world", id: "anyone" };
    expect(nodes.get("/a")).toEqual({
      data: "hello again",
      acl: [open31, { perms: 1, scheme: "ip", id: "127.0.0.1" }],
      // czxid, mzxid, version, children ever created, aversion, owner, length of the data.
      stat: "0000000000000002 0000000000000004 00000002 00000004 00000001 0000000000000000 0000000b",
    });
    expect(nodes.get("/closed")?.acl).toEqual([
      { perms: 1, scheme: "digest", id: "alice:iLOgD0zKqnr3T5X0x0cGsEBdqU8=" },
      { perms: 31, scheme: "ip", id: "10.0.0.0/8" },
    ]);
    const ownerOf = (path: string): string | undefined => nodes.get(path)?.stat.split(" ")[5];
    expect([ownerOf("/container"), ownerOf("/ttl")]).toEqual(["8000000000000000", "ff0000000036ee80"]);
    expect([nodes.get("/null")?.data, nodes.get("/ünï")?.data]).toEqual([null, "\x00\xff\x01\xfe"]);
  });

  test("begins an epoch, is there at the next start, and the log continues behind it", async () => {
    {
      await using store = await open();
      expect(store.log.durable.currentEpoch).toBe(1);
      await restore(store, APACHE_SNAPSHOT);
      expect(store.log.durable).toMatchObject({ currentEpoch: 2, stateFile: "state-2.db" });
      expect(store.log.durable.tail.zxid).toBe(composeZxid(2, 1));
    }
    await using store = await open();
    expect(store.log.durable.currentEpoch).toBe(3);
    expect(nodesOf(store).size).toBe(16);
    expect(store.replay(store.state.applied.applied, () => {}).zxid).toBe(composeZxid(2, 1));
    expect(readdirSync(join(directory, "data")).filter((name) => name.startsWith("state"))).toEqual(["state-2.db"]);
  });

  test("is written again without what was left behind, and read again from there", async () => {
    await using store = await open();
    await restore(store, APACHE_SNAPSHOT);
    const bytes = await exported(store);
    await using other = await open("other");
    await restore(other, bytes, 7);
    expect(nodesOf(other)).toEqual(nodesOf(store));
    expect(decoded(bytes)).toBe(BigInt(composeZxid(2, 1)));
    // Its zxids are of epoch 2, so it begins a later one.
    expect(epochOf(other.log.durable.tail.zxid)).toBe(3);
  });

  test("of an unused tree can be taken over too", async () => {
    await using store = await open();
    const bytes = await exported(store);
    await restore(store, bytes);
    expect([...nodesOf(store).keys()]).toEqual(["/", "/zookeeper", "/zookeeper/quota", "/zookeeper/config"]);
  });
});

describe("what is not a whole snapshot is refused", () => {
  test("wherever it is cut off, but for the ends that earlier versions wrote", () => {
    const whole = APACHE_SNAPSHOT.length;
    const ends = new Map([
      [whole, 0x14n],
      [whole - 21, undefined],
      [whole - 21 - 33, undefined],
    ]);
    for (let end = 0; end <= whole; end++) {
      const cut = (): bigint | undefined => decoded(APACHE_SNAPSHOT.subarray(0, end));
      if (ends.has(end)) expect(cut()).toBe(ends.get(end));
      else expect(cut, `${end}`).toThrow("a snapshot was refused at");
    }
  });

  test("whatever bit of it is another one, and however it comes", () => {
    for (let at = 0; at < APACHE_SNAPSHOT.length; at++) {
      const damaged = Buffer.from(APACHE_SNAPSHOT);
      damaged[at] = (damaged[at] ?? 0) ^ (1 << (at % 8));
      expect(() => decoded(damaged, 1 + (at % 300)), `${at}`).toThrow("a snapshot was refused at");
    }
  });

  test.each([
    ["gzip", Buffer.concat([Buffer.from([0x1f, 0x8b, 8, 0]), Buffer.alloc(100)]), "it is compressed by gzip"],
    ["something else", Buffer.from("PK\x03\x04 and so on, and on, and on"), "it is no snapshot of Apache"],
    ["nothing", Buffer.alloc(0), "nothing more came"],
    ["more behind its end", Buffer.concat([APACHE_SNAPSHOT, Buffer.alloc(2000)]), "more follows its end"],
    ["a little more behind its end", Buffer.concat([APACHE_SNAPSHOT, Buffer.alloc(1)]), "55 bytes are left"],
  ])("%s says so", (_, bytes, text) => {
    expect(() => decoded(bytes)).toThrow(text);
  });

  test("and leaves nothing of it, nor changes what is there", async () => {
    await using store = await open();
    const before = { files: readdirSync(join(directory, "data")).sort(), nodes: nodesOf(store) };
    for (const bytes of [APACHE_SNAPSHOT.subarray(0, 1500), Buffer.from("nothing like it, in no way, at all")]) {
      await expect(restore(store, bytes)).rejects.toMatchObject({ detail: { code: "SNAPSHOT_REFUSED" } });
    }
    const given = await store.importSnapshot();
    await given.add(APACHE_SNAPSHOT.subarray(0, 1000));
    await given.abandon();
    expect({ files: readdirSync(join(directory, "data")).sort(), nodes: nodesOf(store) }).toEqual(before);
    await restore(store, APACHE_SNAPSHOT);
    expect(nodesOf(store).size).toBe(16);
  });

  test.each([
    [
      "a parent that is missing",
      [
        ["", ""],
        ["/a/b", ""],
      ],
      "its parent is missing",
    ],
    [
      "a node twice",
      [
        ["", ""],
        ["/a", ""],
        ["/a", ""],
      ],
      "it comes twice",
    ],
    [
      "two roots",
      [
        ["", ""],
        ["", ""],
      ],
      "a second root",
    ],
    ["no root", [["/a", ""]], "its parent is missing"],
    [
      "no path",
      [
        ["", ""],
        ["/a/../b", ""],
      ],
      "no path",
    ],
    [
      "a path with a NUL",
      [
        ["", ""],
        ["/a\0", ""],
      ],
      "no path",
    ],
    [
      "a path without a slash",
      [
        ["", ""],
        ["a", ""],
      ],
      "no path",
    ],
    ["no reserved nodes", [["", ""]], "it has no node /zookeeper"],
    ["a zxid that is none", [["", "", { czxid: -1n }]], "a zxid of 0xffffffffffffffff"],
    ["a zxid of an epoch that is too late", [["", "", { czxid: 1n << 53n }]], "a zxid of 0x20000000000000"],
    ["a time that is none", [["", "", { ctime: 1n << 60n }]], "a time of"],
    ["a list that is missing", [["", "", { key: 7n }]], "its access list 7 is missing"],
  ] as readonly (readonly [string, readonly TestNode[], string])[])(
    "though its sums are right: %s",
    (_, nodes, text) => {
      expectRefused(snapshotOf(nodes), "drop", text);
    },
  );

  test.each<readonly [string, readonly TestSession[], readonly TestNode[], string]>([
    [
      "a session twice",
      [
        [SESSION, 4000],
        [SESSION, 5000],
      ],
      BUILT_IN,
      "the session 0x100001e99a50000: it comes twice",
    ],
    ["a timeout that is none", [[SESSION, -1]], BUILT_IN, "the session 0x100001e99a50000: a timeout of -1 ms"],
    [
      "a session with the id of no client",
      [[0n, 4000]],
      BUILT_IN,
      "the session 0x0: its id marks nodes of another kind",
    ],
    ["a session with an id that marks TTL nodes", [[-1n, 4000]], BUILT_IN, "its id marks nodes of another kind"],
    ["an ephemeral root", [], [["", "", { owner: SESSION }]], "the root is ephemeral"],
    [
      "a child of an ephemeral node",
      [[SESSION, 4000]],
      [...BUILT_IN, ["/e", "", { owner: SESSION }], ["/e/child", ""]],
      'the node "/e/child": its parent is ephemeral',
    ],
    [
      "an ephemeral node in place of one that every tree has",
      [[SESSION, 4000]],
      [...BUILT_IN.slice(0, -1), ["/zookeeper/config", "", { owner: SESSION }]],
      "its node /zookeeper/config is ephemeral",
    ],
    [
      "no epoch that is left",
      [],
      [...BUILT_IN, ["/late", "", { czxid: BigInt(EPOCH_MAX - 1) << 32n }]],
      `it is of epoch ${EPOCH_MAX - 1}, and no epoch would be left`,
    ],
  ])("though its sessions were to be kept: %s", (_, sessions, nodes, text) => {
    expectRefused(snapshotOf(nodes, sessions), "keep", text);
  });

  function expectRefused(bytes: Buffer, sessions: "keep" | "drop", text: string): void {
    const expected = { epochMin: 2, epochGap: 2, sessions, ensembleId: "", level: 1 };
    const builder = new ApacheSnapshotBuilder(join(directory, "state-2.db"), expected);
    const build = (): void => {
      builder.add(bytes);
      builder.finish();
    };
    expect(build).toThrow(text);
    builder.abandon();
    expect(readdirSync(directory)).toEqual([]);
  }
});

describe("sessions that are kept", () => {
  const OTHER = 0x64a2_0690_60f1_0000n;
  const NODES: readonly TestNode[] = [
    ...BUILT_IN,
    ["/locks", ""],
    ["/locks/a", "held", { owner: SESSION }],
    ["/locks/b", "left", { owner: OTHER }],
    ["/locks/c", "left", { owner: OTHER }],
  ];

  test("have their timeouts, their ephemerals, and the passwords that Apache derives", async () => {
    await using store = await open();
    await restore(
      store,
      snapshotOf(NODES, [
        [SESSION, 4000],
        [OTHER, 30_000],
      ]),
      50,
      { sessions: "keep" },
    );
    expect(sessionsOf(store)).toEqual([
      ["100001e99a50000", 4000, hashOf("b121fe56ea8f3ab6774ef473439bdafa")],
      ["64a2069060f10000", 30_000, hashOf("7562bf165e3b63a8db863fc0d775bbbf")],
    ]);
    expect(pathsOf(store)).toEqual(["/locks", "/locks/a", "/locks/b", "/locks/c"]);
  });

  test("leave those that ended, whose ephemerals wait for a leader that deletes them", async () => {
    await using store = await open();
    await restore(store, snapshotOf(NODES, [[SESSION, 4000]]), 50, { sessions: "keep" });
    expect(sessionsOf(store).map(([id, timeoutMs]) => [id, timeoutMs])).toEqual([
      ["100001e99a50000", 4000],
      ["64a2069060f10000", 0],
    ]);
    expect(pathsOf(store)).toEqual(["/locks", "/locks/a", "/locks/b", "/locks/c"]);
  });

  test("are as many as there are, beside as many ephemerals", async () => {
    await using store = await open();
    const ids = Array.from({ length: 3000 }, (_, i) => SESSION + BigInt(i));
    const nodes = ids.map((id, i): TestNode => [`/n${i}`, "", { owner: id }]);
    const [kept, ended] = [ids.slice(0, 2000), ids.slice(2000)];
    const bytes = snapshotOf(
      [...BUILT_IN, ["/plain", ""], ...nodes, ["/plain/child", ""]],
      kept.map((id) => [id, 4000]),
    );
    await restore(store, bytes, 70_000, { sessions: "keep" });
    const timeouts = sessionsOf(store).map(([, timeoutMs]) => timeoutMs);
    expect(timeouts.filter((each) => each === 0)).toHaveLength(ended.length);
    expect(timeouts).toHaveLength(ids.length);
    expect(pathsOf(store)).toHaveLength(3002);
  });

  test("may be none", async () => {
    await using store = await open();
    await restore(store, snapshotOf(BUILT_IN), 100, { sessions: "keep" });
    expect(sessionsOf(store)).toEqual([]);
  });

  test("belong to a history that begins in the epoch that was asked for, or above the snapshot", async () => {
    await using store = await open();
    await restore(store, snapshotOf(BUILT_IN), 100, { sessions: "keep", epochMin: 2000 });
    expect(store.log.durable.currentEpoch).toBe(1999);
    await using other = await open("other");
    const late: TestNode = ["/late", "", { czxid: 7n << 32n }];
    await restore(other, snapshotOf([...BUILT_IN, late]), 100, { sessions: "keep", epochGap: 1024 });
    expect(other.log.durable.currentEpoch).toBe(7 + 1023);
  });

  function sessionsOf(store: Store): readonly (readonly [id: string, timeoutMs: number, hash: string])[] {
    const found: (readonly [string, number, string])[] = [];
    store.loadState({
      session: ({ idHigh, idLow, timeoutMs, passwordHash }) => {
        const id = (BigInt(idHigh) << 32n) | BigInt(idLow >>> 0);
        found.push([id.toString(16), timeoutMs, Buffer.from(passwordHash).toString("hex")]);
      },
      node: () => {},
    });
    return found;
  }

  function pathsOf(store: Store): readonly string[] {
    return [...nodesOf(store, () => {}).keys()].filter((path) => path !== "/" && !path.startsWith("/zookeeper"));
  }

  function hashOf(password: string): string {
    return createHash("sha256").update(Buffer.from(password, "hex")).digest("hex").slice(0, 32);
  }
});

test("a state with a row that is damaged is not sent, not even its beginning", async () => {
  {
    await using store = await open();
    await restore(store, APACHE_SNAPSHOT);
  }
  const database = new Sqlite(join(directory, "data", "state-2.db"));
  database.exec("UPDATE nodes SET node = zeroblob(length(node)) WHERE id = 9");
  database.close();
  await using store = await open();
  await expect(store.exportSnapshot()).rejects.toMatchObject({
    detail: { code: "DAMAGED", place: "table nodes, row 9" },
  });
});

test("a thousand nodes below one another and beside each other keep their paths", async () => {
  await using store = await open();
  const nodes: TestNode[] = [
    ["", ""],
    ["/zookeeper", ""],
    ["/zookeeper/quota", ""],
    ["/zookeeper/config", ""],
  ];
  let deep = "";
  for (let i = 0; i < 300; i++) {
    deep += `/d${i}`;
    nodes.push([deep, `${i}`]);
  }
  for (let i = 0; i < 400; i++) nodes.push([`/wide-${i}`, `${i}`]);
  for (let i = 0; i < 400; i++) nodes.push([`/wide-${i}/child`, "x".repeat(i % 1000)]);
  await restore(store, snapshotOf(nodes), 64 * 1024);
  const found = nodesOf(store);
  expect(found.size).toBe(nodes.length);
  for (const [path, data] of nodes.slice(1)) expect(found.get(path)?.data).toBe(data);
  await using other = await open("other");
  await restore(other, await exported(store), 50_000);
  expect(nodesOf(other)).toEqual(found);
});

/** Takes a snapshot apart without keeping anything; returns the zxid that it ends with. */
function decoded(bytes: Buffer, pieceBytes = 100): bigint | undefined {
  const parts: ApacheSnapshotParts = { acl: () => {}, node: () => {}, rest: () => {} };
  const decoder = new ApacheSnapshotDecoder(parts);
  for (let at = 0; at < bytes.length; at += pieceBytes) decoder.add(bytes.subarray(at, at + pieceBytes));
  return decoder.end();
}

type TestNode = readonly [
  path: string,
  data: string,
  more?: { readonly czxid?: bigint; readonly ctime?: bigint; readonly key?: bigint; readonly owner?: bigint },
];
type TestSession = readonly [id: bigint, timeoutMs: number];

/**
 * A snapshot of these nodes and sessions, without ACL lists and what later versions have behind the
 * first checksum.
 */
function snapshotOf(nodes: readonly TestNode[], sessions: readonly TestSession[] = []): Buffer {
  const long = (value: bigint): Buffer => {
    const bytes = Buffer.alloc(8);
    bytes.writeBigInt64BE(value);
    return bytes;
  };
  const int = (value: number): Buffer => {
    const bytes = Buffer.alloc(4);
    bytes.writeInt32BE(value);
    return bytes;
  };
  const text = (value: string): Buffer => Buffer.concat([int(Buffer.byteLength(value)), Buffer.from(value)]);
  const parts = [Buffer.from("ZKSN"), int(2), long(-1n), int(sessions.length)];
  for (const [id, timeoutMs] of sessions) parts.push(long(id), int(timeoutMs));
  parts.push(int(0));
  for (const [path, data, { czxid = 1n, ctime = 1n, key = -1n, owner = 0n } = {}] of nodes) {
    const stat = [czxid, 1n, ctime, 1n].map(long);
    parts.push(text(path), text(data), long(key), ...stat, Buffer.alloc(12), long(owner), long(1n));
  }
  parts.push(text("/"));
  const body = Buffer.concat(parts);
  const sum = new Adler32();
  sum.add(body, 0, body.length);
  return Buffer.concat([body, long(BigInt(sum.value)), text("/")]);
}

test("the checksum is Java's", () => {
  const sum = new Adler32();
  const bytes = Buffer.alloc(100_000, 0xff);
  sum.add(bytes, 0, 3);
  sum.add(bytes, 3, bytes.length);
  expect(sum.value).toBe(0x149a_302c);
});
