import { OPEN_ACL, READ_ONLY_ACL } from "@zooid/model";
import { apacheTransaction } from "@zooid/wire/apache";
import {
  recordOf as record,
  ApacheType as Type,
  transaction,
  type Written,
} from "@zooid/wire/testing/apache-transactions";
import { expect, test } from "vitest";
import { ApacheTree } from "./apache-tree.ts";

/** The digest of the tree of a new server, as Apache ZooKeeper 3.9.5 gives it. */
const FIRST_DIGEST = 1_371_985_504n;
const OWNER = 7n;

function newTree(): ApacheTree {
  const tree = new ApacheTree();
  tree.addBuiltIn();
  return tree;
}

function apply(tree: ApacheTree, ...written: readonly Written[]): void {
  for (const each of written) tree.apply(apacheTransaction(transaction(each)));
}

function create(zxid: bigint, path: string, options: Parameters<typeof record.create>[1] = {}): Written {
  return { zxid, type: Type.CREATE, record: record.create(path, { parentCversion: Number(zxid), ...options }) };
}

function remove(zxid: bigint, path: string): Written {
  return { zxid, type: Type.DELETE, record: record.delete(path) };
}

interface Shown {
  readonly czxid: bigint;
  readonly mzxid: bigint;
  readonly ctime: bigint;
  readonly mtime: bigint;
  readonly version: number;
  readonly cversion: number;
  readonly aversion: number;
  readonly owner: bigint;
  readonly pzxid: bigint;
}

function statOf(tree: ApacheTree, path: string): Shown | undefined {
  const stat = tree.nodes.get(path)?.stat;
  if (stat === undefined) return undefined;
  return {
    czxid: stat.readBigInt64BE(0),
    mzxid: stat.readBigInt64BE(8),
    ctime: stat.readBigInt64BE(16),
    mtime: stat.readBigInt64BE(24),
    version: stat.readInt32BE(32),
    cversion: stat.readInt32BE(36),
    aversion: stat.readInt32BE(40),
    owner: stat.readBigInt64BE(44),
    pzxid: stat.readBigInt64BE(52),
  };
}

function pathsOf(tree: ApacheTree): readonly string[] {
  return [...tree.nodes.keys()].filter((path) => !path.startsWith("/zookeeper"));
}

test("the tree of a new server has the digest that Apache's has", () => {
  expect(newTree().digest).toBe(FIRST_DIGEST);
});

test("a create changes its parent's count and pzxid", () => {
  const tree = newTree();
  apply(tree, create(1n, "/a"), create(2n, "/a/b", { data: "x", parentCversion: 1 }));
  expect(statOf(tree, "/a")).toEqual({
    czxid: 1n,
    mzxid: 1n,
    ctime: 1000n,
    mtime: 1000n,
    version: 0,
    cversion: 1,
    aversion: 0,
    owner: 0n,
    pzxid: 2n,
  });
  expect(tree.nodes.get("/a/b")?.data?.toString()).toBe("x");
});

test("a create of an early version counts its parent's children itself", () => {
  const tree = newTree();
  apply(tree, { zxid: 1n, type: Type.CREATE, record: record.create("/a") });
  expect(statOf(tree, "")).toMatchObject({ cversion: 1, pzxid: 1n });
});

test("a set and a set of the access list take their versions from the transaction", () => {
  const tree = newTree();
  apply(
    tree,
    create(1n, "/a"),
    { zxid: 2n, type: Type.SET_DATA, record: record.set("/a", "y", 5) },
    { zxid: 3n, type: Type.SET_ACL, record: record.setAcl("/a", READ_ONLY_ACL, 3) },
  );
  expect(statOf(tree, "/a")).toMatchObject({ version: 5, aversion: 3, mzxid: 2n, pzxid: 1n });
  expect(tree.nodes.get("/a")).toMatchObject({ data: Buffer.from("y"), acl: READ_ONLY_ACL });
});

const SET = { zxid: 9n, timeMs: 9000n };
test.each<readonly [change: string, written: Written, node: Partial<Shown>, parent: Partial<Shown>]>([
  [
    "set",
    { ...SET, type: Type.SET_DATA, record: record.set("/p/n", "y", 5) },
    { version: 5, mzxid: 9n, mtime: 9000n },
    {},
  ],
  ["setAcl", { ...SET, type: Type.SET_ACL, record: record.setAcl("/p/n", READ_ONLY_ACL, 3) }, { aversion: 3 }, {}],
  [
    "create",
    { ...SET, type: Type.CREATE, record: record.create("/p/n/c", { parentCversion: 1 }) },
    { cversion: 1, pzxid: 9n },
    {},
  ],
  [
    "create beside it",
    { ...SET, type: Type.CREATE, record: record.create("/p/m", { parentCversion: 2 }) },
    {},
    { cversion: 2, pzxid: 9n },
  ],
  ["delete beside it", { ...SET, type: Type.DELETE, record: record.delete("/p/o") }, {}, { pzxid: 9n }],
])("a %s changes these numbers of a node and its parent, and no other", (_, written, node, parent) => {
  const tree = newTree();
  apply(tree, create(1n, "/p"), create(2n, "/p/o", { parentCversion: 1 }), create(3n, "/p/n", { parentCversion: 1 }));
  const before = [statOf(tree, "/p/n"), statOf(tree, "/p")];
  apply(tree, written);
  expect([statOf(tree, "/p/n"), statOf(tree, "/p")]).toEqual([
    { ...before[0], ...node },
    { ...before[1], ...parent },
  ]);
});

test("a delete changes its parent's pzxid alone", () => {
  const tree = newTree();
  apply(tree, create(1n, "/a"), remove(2n, "/a"));
  expect(pathsOf(tree)).toEqual([""]);
  expect(statOf(tree, "")).toMatchObject({ cversion: 1, pzxid: 2n });
});

test("containers and nodes with a time to live have an owner that is no session", () => {
  const tree = newTree();
  apply(
    tree,
    { zxid: 1n, type: Type.CREATE_CONTAINER, record: record.container("/c", 1) },
    { zxid: 2n, type: Type.CREATE_TTL, record: record.ttl("/t", 2, 5000n) },
  );
  expect(statOf(tree, "/c")?.owner).toBe(-(2n ** 63n));
  expect(statOf(tree, "/t")?.owner).toBe(BigInt.asIntN(64, 0xff00_0000_0000_1388n));
  expect(tree.ephemeralCount).toBe(0);
  apply(tree, { zxid: 3n, type: Type.DELETE_CONTAINER, record: record.delete("/c") });
  expect(pathsOf(tree)).toEqual(["", "/t"]);
});

test("a multi changes all, and a failed one nothing", () => {
  const parts = [
    [Type.CREATE2, record.create("/a", { parentCversion: 1 })],
    [Type.CHECK, record.set("/a", "", 1).subarray(0, 10)],
    [Type.SET_DATA, record.set("/a", "x", 1)],
  ] as const;
  const tree = newTree();
  apply(tree, {
    zxid: 1n,
    type: Type.MULTI,
    record: record.multi([parts[0], parts[2], [Type.ERROR, record.number(-2)]]),
  });
  expect(pathsOf(tree)).toEqual([""]);
  apply(tree, { zxid: 2n, type: Type.MULTI, record: record.multi(parts) });
  expect(statOf(tree, "/a")).toMatchObject({ czxid: 2n, version: 1 });
});

test.each([
  ["names its nodes", record.paths(["/e"]), undefined],
  ["names none", Buffer.alloc(0), undefined],
  ["names none, and has a digest", Buffer.alloc(0), 1n],
  ["names a node that is gone", record.paths(["/gone"]), 1n],
])("the end of a session that %s deletes all of them", (_, closed, digest) => {
  const tree = newTree();
  apply(tree, create(1n, "/e", { isEphemeral: true }), { ...create(2n, "/f", { isEphemeral: true }), session: 8n });
  expect(tree.ephemeralCount).toBe(2);
  const end = { zxid: 3n, type: Type.CLOSE_SESSION, record: closed, session: OWNER };
  apply(tree, digest === undefined ? end : { ...end, digest });
  expect(pathsOf(tree)).toEqual(["", "/f"]);
  expect(statOf(tree, "")).toMatchObject({ pzxid: 3n, cversion: 2 });
  expect(tree.ephemeralCount).toBe(1);
});

test("a session and an error change nothing", () => {
  const tree = newTree();
  apply(
    tree,
    { zxid: 1n, type: Type.CREATE_SESSION, record: record.number(6000), digest: 1n },
    { zxid: 2n, type: Type.ERROR, record: record.number(-101) },
  );
  expect(tree.digest).toBe(FIRST_DIGEST);
});

test("a digest is read behind any record, and is unsigned", () => {
  const { digest } = apacheTransaction(transaction({ ...create(1n, "/a"), digest: 2n ** 64n - 1n }));
  expect(digest).toBe(2n ** 64n - 1n);
  expect(apacheTransaction(transaction(create(1n, "/a"))).digest).toBeUndefined();
});

test.each<[string, Written]>([
  ["an unknown type", { zxid: 1n, type: 99, record: Buffer.alloc(0) }],
  ["a path that is longer than the entry", { zxid: 1n, type: Type.DELETE, record: record.number(100) }],
  ["more parts than the entry can have", { zxid: 1n, type: Type.MULTI, record: record.number(100) }],
  ["a record that is cut off", { zxid: 1n, type: Type.SET_DATA, record: record.delete("/a") }],
])("a transaction with %s is refused", (_, written) => {
  expect(() => apacheTransaction(transaction(written))).toThrow(RangeError);
});

// What a fuzzy snapshot has of the transactions that are replayed on it.

test("a create of a node that exists replaces its access list, and keeps the rest", () => {
  const tree = newTree();
  apply(tree, create(5n, "/a", { data: "new", acl: READ_ONLY_ACL, parentCversion: 3 }));
  apply(tree, create(1n, "/a", { data: "old", acl: OPEN_ACL, parentCversion: 1 }));
  expect(tree.nodes.get("/a")).toMatchObject({ data: Buffer.from("new"), acl: OPEN_ACL });
  expect(statOf(tree, "")).toMatchObject({ cversion: 3, pzxid: 5n });
});

test("a create of a node that exists brings an older parent forward", () => {
  const tree = newTree();
  apply(tree, create(1n, "/a", { parentCversion: 1 }), create(2n, "/a", { parentCversion: 2 }));
  expect(statOf(tree, "")).toMatchObject({ cversion: 2, pzxid: 2n });
});

test("a create below a newer parent does not set it back", () => {
  const tree = newTree();
  apply(tree, create(5n, "/b", { parentCversion: 5 }), create(2n, "/a", { parentCversion: 2 }));
  expect(statOf(tree, "")).toMatchObject({ cversion: 5, pzxid: 5n });
  expect(pathsOf(tree)).toEqual(["", "/b", "/a"]);
});

test("changes below or of a missing node are left out", () => {
  const tree = newTree();
  apply(
    tree,
    create(1n, "/gone/a"),
    { zxid: 2n, type: Type.SET_DATA, record: record.set("/gone", "x", 1) },
    { zxid: 3n, type: Type.SET_ACL, record: record.setAcl("/gone", OPEN_ACL, 1) },
  );
  expect(tree.digest).toBe(FIRST_DIGEST);
});

test("a delete of a missing node raises its parent's pzxid, and never lowers it", () => {
  const tree = newTree();
  apply(tree, remove(5n, "/gone"), remove(3n, "/gone"));
  expect(statOf(tree, "")).toMatchObject({ pzxid: 5n, cversion: 0 });
});

test("the end of a session deletes a listed node that has another owner by then", () => {
  const tree = newTree();
  apply(tree, { ...create(1n, "/e", { isEphemeral: true }), session: 8n });
  apply(tree, { zxid: 2n, type: Type.CLOSE_SESSION, record: record.paths(["/e"]), session: OWNER });
  expect(pathsOf(tree)).toEqual([""]);
  expect(tree.ephemeralCount).toBe(0);
});

test("a node whose access list is missing gets it by a transaction", () => {
  const tree = newTree();
  tree.node(Buffer.from("/a"), null, 9n, Buffer.alloc(60));
  expect(tree.nodes.get("/a")?.acl).toBeUndefined();
  apply(tree, { zxid: 1n, type: Type.SET_ACL, record: record.setAcl("/a", OPEN_ACL, 1) });
  expect(tree.nodes.get("/a")?.acl).toEqual(OPEN_ACL);
});
