import { type Acl, composeZxid, ErrorCode, InvariantError, newTxnOp, OpCode, sliceOf } from "@zooid/model";
import { describe, expect, test } from "vitest";
import { DataTree } from "./data-tree.ts";
import { applyTxn, create, remove, setAcl, setData, TestTree } from "./testing/tree.ts";

const READ_ONLY: Acl = [{ perms: 1, scheme: "world", id: "anyone" }];
const EPOCH = 2 ** 32;

describe("a new tree", () => {
  test("holds what ZooKeeper begins with", () => {
    const test = new TestTree();
    const { tree } = test;
    expect([tree.nodeCount, tree.approximateDataSize, tree.ephemeralCount, tree.sessionCount]).toEqual([5, 44, 0, 0]);
    expect(tree.descendantCount(test.find("/"))).toBe(3);
    expect(test.children("/zookeeper")).toEqual(["config", "quota"]);
    expect(test.data("/zookeeper/config")).toBe("");
    expect(test.stat("/")).toMatchObject({ cversion: -1, numChildren: 1, version: 0 });
    expect(test.stat("/zookeeper")).toMatchObject({ cversion: -2, numChildren: 2 });
    expect(test.stat("/zookeeper/quota")).toMatchObject({ cversion: 0, aversion: 0 });
    expect(test.stat("/zookeeper/config")).toMatchObject({ cversion: 0, aversion: -1 });
    expect(tree.view(test.find("/zookeeper/config")).acl).toEqual(READ_ONLY);
    expect(tree.snapshot().next().value).toEqual({ kind: "tree", level: 1, applied: 0, nextNode: 5 });
  });

  test("has the same digest whatever the seed", () => {
    expect(new TestTree(1).digest()).toBe(new TestTree(2).digest());
  });
});

test("only well-formed paths are found, and the empty one is the root", () => {
  const test = new TestTree();
  test.commit(create("/a"));
  test.commit(create("/a/b"));
  expect(["/", "", "/a", "/a/b"].map((path) => test.find(path) !== 0)).toEqual([true, true, true, true]);
  const missing = ["a", "a/b", "/a/", "//", "/a//b", "/a/b/", "/ab", "/a/c", "/b", "//a", "x"];
  expect(missing.filter((path) => test.find(path) !== 0)).toEqual([]);
});

describe("what moves in Stats", () => {
  test("create, setData, setAcl and delete move what section 5 says", () => {
    const test = new TestTree();
    test.commit(create("/p")); // zxid 1
    test.commit(create("/p/x", { data: "abc" })); // zxid 2
    expect(test.stat("/p/x")).toEqual({
      czxid: EPOCH + 2,
      mzxid: EPOCH + 2,
      ctime: 2000,
      mtime: 2000,
      version: 0,
      cversion: 0,
      aversion: 0,
      ephemeralOwner: 0,
      dataLength: 3,
      numChildren: 0,
      pzxid: EPOCH + 2,
    });
    const afterCreate = test.stat("/p");
    expect(afterCreate).toMatchObject({ pzxid: EPOCH + 2, cversion: 1, numChildren: 1, mzxid: EPOCH + 1, mtime: 1000 });

    const before = test.stat("/p/x");
    test.commit(setData("/p/x", "defgh")); // zxid 3
    expect(test.stat("/p/x")).toEqual({ ...before, version: 1, mzxid: EPOCH + 3, mtime: 3000, dataLength: 5 });
    expect(test.stat("/p")).toEqual(afterCreate);

    const beforeAcl = test.stat("/p/x");
    test.commit(setAcl("/p/x", READ_ONLY)); // zxid 4
    expect(test.stat("/p/x")).toEqual({ ...beforeAcl, aversion: 1 });
    expect(test.stat("/p")).toEqual(afterCreate);

    test.commit(remove("/p/x")); // zxid 5
    expect(test.stat("/p")).toEqual({ ...afterCreate, pzxid: EPOCH + 5, cversion: 2, numChildren: 0 });
  });

  test("the ops of a multi share its zxid and time, and versions add up", () => {
    const test = new TestTree();
    expect(test.proposeMulti([create("/a"), create("/a/b"), setData("/a", "1"), setData("/a", "22")])).toEqual([
      0, 0, 0, 0,
    ]);
    test.applyAll();
    expect(test.stat("/a")).toMatchObject({
      czxid: EPOCH + 1,
      mzxid: EPOCH + 1,
      pzxid: EPOCH + 1,
      version: 2,
      cversion: 1,
    });
  });

  test("containers and TTL nodes hide their owner, and an ephemeral shows it", () => {
    const test = new TestTree();
    test.proposeSession(0x0100_0000, 7);
    test.commit(create("/c", { op: OpCode.CREATE_CONTAINER }));
    test.commit(create("/t", { op: OpCode.CREATE_TTL, flags: 5, ttlMs: 2 ** 33 + 5 }));
    test.commit(create("/e", { flags: 1 }));
    expect(test.stat("/c").ephemeralOwner).toBe(0);
    expect(test.stat("/t").ephemeralOwner).toBe(0);
    expect(test.stat("/e").ephemeralOwner).toBe(0x0100_0000 * 2 ** 32 + 7);
    const owners: Record<string, string> = {};
    for (const record of test.tree.snapshot()) {
      if (record.kind === "node")
        owners[Buffer.from(record.name).toString()] = Buffer.from(record.stat).toString("hex", 44, 52);
    }
    expect(owners).toMatchObject({ c: "8000000000000000", t: "ff00000200000005", e: "0100000000000007" });
    expect(test.tree.ephemeralCount).toBe(1);
    expect(test.commit(create("/c/e", { flags: 1 }))).toBe(ErrorCode.OK);
    expect(test.commit(create("/t/e", { flags: 1 }))).toBe(ErrorCode.OK);
  });

  test("null data is not empty data", () => {
    const test = new TestTree();
    test.commit(create("/n", { data: null }));
    test.commit(create("/e", { data: "" }));
    expect([test.data("/n"), test.data("/e")]).toEqual([null, ""]);
    test.commit(setData("/n", ""));
    test.commit(setData("/e", null));
    expect([test.data("/n"), test.data("/e")]).toEqual(["", null]);
    expect(test.stat("/e").dataLength).toBe(0);
  });

  test("sizes are counted as Apache counts them", () => {
    const test = new TestTree();
    test.commit(create("/größe", { data: "12345" }));
    expect(test.tree.approximateDataSize).toBe(44 + 6 + 5);
    test.commit(setData("/größe", "1"));
    expect(test.tree.approximateDataSize).toBe(44 + 6 + 1);
    expect(test.tree.nodeCount).toBe(6);
    test.commit(remove("/größe"));
    expect([test.tree.approximateDataSize, test.tree.nodeCount]).toEqual([44, 5]);
  });
});

describe("a multi", () => {
  test("sees its own earlier parts", () => {
    const test = new TestTree();
    const parts = [create("/a"), create("/a/s", { flags: 2 }), create("/a/s", { flags: 2 }), setData("/a", "x", 0)];
    expect(test.proposeMulti([...parts, remove("/a/s0000000000", 0)])).toEqual([0, 0, 0, 0, 0]);
    test.applyAll();
    expect(test.children("/a")).toEqual(["s0000000001"]);
  });

  test("that fails leaves no trace, and sequence numbers continue as if it had never been", () => {
    const test = new TestTree();
    test.commit(create("/q"));
    test.commit(create("/q/old"));
    test.propose(create("/q/s", { flags: 2 }));
    test.propose(setData("/q/old", "pending"));
    const parts = [
      create("/q/s", { flags: 2 }),
      create("/q/sub"),
      create("/q/sub/x", { flags: 1 }),
      setData("/q/old", "multi", 1),
      setAcl("/q", [{ perms: 15, scheme: "world", id: "anyone" }]),
      remove("/q/old"),
      setData("/", "root"),
      remove("/missing"),
    ];
    const pending = test.tree.pendingCount;
    expect(test.proposeMulti(parts)).toEqual([0, 0, 0, 0, 0, 0, 0, ErrorCode.NO_NODE]);
    expect(test.tree.pendingCount).toBe(pending);
    expect(test.propose(setData("/q/old", "after", 1))).toBe(ErrorCode.OK);
    expect(test.propose(create("/q/s", { flags: 2 }))).toBe(ErrorCode.OK);
    expect(test.propose(create("/q/sub"))).toBe(ErrorCode.OK);
    expect(test.proposeClose(1, 1)).toEqual([]);
    test.applyAll();
    expect(test.children("/q")).toEqual(["old", "s0000000001", "s0000000002", "sub"]);
    expect(test.tree.pendingCount).toBe(0);
    const ids = test.history.flatMap((txn) => txn.ops).filter((op) => op.op === OpCode.CREATE);
    expect(ids.map((op) => op.node)).toEqual([5, 6, 7, 8, 9]);
  });

  test("whose records an earlier transaction still holds keeps those", () => {
    const test = new TestTree();
    test.commit(create("/a"));
    test.propose(setData("/a", "1"));
    test.proposeMulti([setData("/a", "2"), setData("/missing", "x")]);
    test.applyNext();
    expect(test.tree.pendingCount).toBe(0);
  });
});

test("an ACL that no node has any more is forgotten", () => {
  const test = new TestTree();
  const own = (id: string): Acl => [
    ...READ_ONLY,
    { perms: 31, scheme: "world", id: "anyone" },
    { perms: 31, scheme: "ip", id },
  ];
  expect(test.tree.aclCount).toBe(2);
  test.commit(create("/a", { acl: own("1") }));
  test.commit(create("/b", { acl: own("1") }));
  expect(test.tree.aclCount).toBe(3);
  test.commit(setAcl("/a", own("2")));
  test.commit(setAcl("/a", own("3")));
  expect(test.tree.aclCount).toBe(4);
  test.commit(remove("/a"));
  expect(test.tree.aclCount).toBe(3);
  test.commit(remove("/b"));
  expect(test.tree.aclCount).toBe(2);
});

test("what does not fit the tree is a defect", () => {
  const test = new TestTree();
  test.commit(create("/a"));
  const [created] = test.history;
  expect(() => applyTxn(test.tree, { header: { ...created.header }, ops: created.ops })).toThrow(InvariantError);
  const op = { ...newTxnOp(), path: sliceOf("/a"), node: 99, parent: 1 };
  for (const kind of [OpCode.DELETE, OpCode.SET_DATA, OpCode.SET_ACL]) {
    expect(() => test.tree.apply(created.header, { ...op, op: kind }, undefined)).toThrow(InvariantError);
  }
  expect(() => test.tree.finish(created.header)).toThrow(InvariantError);
});

test("descendants are counted however deep they lie, in a tree that was loaded too", () => {
  const test = new TestTree();
  for (const path of ["/a", "/a/b", "/a/b/c", "/a/b/d", "/a/e", "/f", "/f/g"]) test.commit(create(path));
  test.commit(remove("/a/b/d"));
  const loaded = new DataTree({ hashKey: { k0: 8, k1: 7 } });
  loaded.loadSnapshot(test.tree.snapshot());
  for (const tree of [test.tree, loaded]) {
    const counts = ["/a", "/a/b", "/f/g", "/"].map((path) => {
      const { bytes, start, end } = sliceOf(path);
      return tree.descendantCount(tree.find(bytes, start, end));
    });
    expect(counts).toEqual([3, 1, 0, 9]);
  }
});

test("the configuration is shown in place of what is stored, and is part of nothing that is replicated", () => {
  const test = new TestTree();
  const config = "/zookeeper/config";
  const digest = test.digest();
  test.tree.showConfiguration("server.1=…", composeZxid(1, 0), 5000);
  const length = Buffer.byteLength("server.1=…");
  expect(test.data(config)).toBe("server.1=…");
  expect(test.stat(config)).toMatchObject({
    version: -1,
    aversion: -1,
    mzxid: 0,
    ctime: 0,
    mtime: 5000,
    dataLength: length,
  });
  expect(test.digest()).toBe(digest);
  expect([...test.tree.snapshot()]).toEqual([...new TestTree().tree.snapshot()]);
});

test("a configuration is shown without its comments, here and where it is loaded, and is stored with them", () => {
  const test = new TestTree();
  const config = "/zookeeper/config";
  const text = "server.1=h:1:2:participant\n#disk.1=0a\nversion=100000001";
  const shown = "server.1=h:1:2:participant\nversion=100000001";
  test.proposeReconfig(text);
  test.applyNext();
  expect([test.data(config), test.stat(config).dataLength]).toEqual([shown, shown.length]);
  const stored = [...test.tree.snapshot()].flatMap((record) => (record.kind === "node" ? [record.data] : []));
  expect(stored.map((data) => new TextDecoder().decode(data ?? undefined))).toContain(text);
  const loaded = new TestTree();
  loaded.tree.loadSnapshot(test.tree.snapshot());
  expect([loaded.data(config), loaded.digest()]).toEqual([shown, test.digest()]);
  test.proposeReconfig(shown);
  test.applyNext();
  expect([test.data(config), test.stat(config).dataLength]).toEqual([shown, shown.length]);
});

test("the digest follows nodes that change in turn, also where there are many", () => {
  const test = new TestTree();
  for (let i = 0; i < 4200; i++) test.commit(create(`/n-${i}`));
  const [first, second] = ["/n-5", "/n-4101"];
  expect(test.find(second) - test.find(first)).toBe(4096);
  for (const path of [first, second, first, first, second]) test.commit(setData(path, `${path} again`));
  test.commit(remove(first));
  test.commit(setData(second, "the last one"));
  const loaded = new DataTree({ hashKey: { k0: 4, k1: 7 } });
  loaded.loadSnapshot(test.tree.snapshot());
  expect([loaded.digestHigh, loaded.digestLow]).toEqual([test.tree.digestHigh, test.tree.digestLow]);
});
