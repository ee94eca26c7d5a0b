import { type ByteSlice, ErrorCode, OpCode, StatOffset, sliceOf } from "@zooid/model";
import { describe, expect, test } from "vitest";
import { ROOT } from "../nodes/node-row.ts";
import { NodeStore } from "../nodes/node-store.ts";
import { create, remove, setData, TestTree } from "../testing/tree.ts";
import { Quotas } from "./quotas.ts";
import { VirtualNodes } from "./virtual-nodes.ts";

const EPOCH = 2 ** 32;
const QUOTA = "/zookeeper/quota";
const NO_LIMITS = "count=-1,bytes=-1";

/** A tree in which these paths have a quota, laid out as zkCli does it. */
function withQuotas(quotas: Record<string, string>, nodes: Record<string, string> = {}): TestTree {
  const test = new TestTree();
  for (const [path, data] of Object.entries(nodes)) test.commit(create(path, { data }));
  for (const [path, limits] of Object.entries(quotas)) setQuota(test, path, limits);
  return test;
}

function setQuota(test: TestTree, path: string, limits: string): void {
  const steps = path.split("/").slice(1);
  for (let i = 1; i <= steps.length; i++) test.commit(create(`${QUOTA}/${steps.slice(0, i).join("/")}`));
  test.commit(create(`${QUOTA}${path}/zookeeper_limits`, { data: limits }));
  test.commit(create(`${QUOTA}${path}/zookeeper_stats`, { data: "count=0,bytes=0" }));
}

const usage = (test: TestTree, path: string): string | null => test.data(`${QUOTA}${path}/zookeeper_stats`);

describe("usage", () => {
  test("is counted when its node is created, and with every write below from then on", () => {
    const test = withQuotas({ "/a": NO_LIMITS }, { "/a": "12", "/a/b": "345", "/ab": "other" });
    expect(usage(test, "/a")).toBe("count=2,bytes=5");
    test.commit(create("/a/c", { data: "6" }));
    expect(usage(test, "/a")).toBe("count=3,bytes=6");
    test.commit(setData("/a/b", "7890"));
    expect(usage(test, "/a")).toBe("count=3,bytes=7");
    test.commit(setData("/a/b", null));
    expect(usage(test, "/a")).toBe("count=3,bytes=3");
    test.commit(remove("/a/b"));
    expect(usage(test, "/a")).toBe("count=2,bytes=3");
    test.commit(setData("/ab", ""));
    test.commit(create("/abc"));
    expect(usage(test, "/a")).toBe("count=2,bytes=3");
  });

  test("of a large tree is known without a walk through it, when its node is created and at the start", () => {
    class CountedStore extends NodeStore {
      stepCount = 0;

      override firstChild(node: number): number {
        this.stepCount++;
        return super.firstChild(node);
      }

      override nextSibling(node: number): number {
        this.stepCount++;
        return super.nextSibling(node);
      }
    }
    const store = new CountedStore({ k0: 1, k1: 7 });
    const shown = new VirtualNodes();
    let id = 1;
    const add = (parent: number, name: string, data: string): number => {
      const { bytes, start, end } = sliceOf(name);
      const node = store.create(parent, bytes, start, end, ++id);
      store.setData(node, sliceOf(data).bytes, 0, data.length);
      return node;
    };
    store.createRoot(1);
    const quota = add(add(ROOT, "zookeeper", ""), "quota", "");
    const a = add(ROOT, "a", "12");
    for (let i = 0; i < 1000; i++) add(a, `${i}`, "345");
    const quotaOfA = add(quota, "a", "");
    add(quotaOfA, "zookeeper_limits", NO_LIMITS);
    const quotas = new Quotas(store, shown);
    quotas.begin();
    const stats = add(quotaOfA, "zookeeper_stats", "");
    store.stepCount = 0;

    quotas.created(stats, sliceOf(`${QUOTA}/a/zookeeper_stats`));
    expect([shown.get(stats)?.data.toString(), store.stepCount]).toEqual(["count=1001,bytes=3002", 0]);

    shown.forget(stats);
    new Quotas(store, shown).begin();
    expect(shown.get(stats)?.data.toString()).toBe("count=1001,bytes=3002");
    expect(store.stepCount).toBeLessThan(20);
  });

  test("changes nothing of its node but the data, and wakes no watch", () => {
    const test = withQuotas({ "/a": NO_LIMITS }, { "/a": "" });
    const stats = `${QUOTA}/a/zookeeper_stats`;
    const before = test.stat(stats);
    const digest = test.digest();
    test.tree.watches.armPersistent(Buffer.from(stats), 0, stats.length, 4 as never);
    test.commit(create("/a/b", { data: "x".repeat(1000) }));
    expect(test.stat(stats)).toEqual({ ...before, dataLength: "count=2,bytes=1000".length });
    expect(test.takeEvents()).toEqual([]);
    test.commit(remove("/a/b"));
    test.commit(create("/zookeeper/other"));
    test.commit(remove("/zookeeper/other"));
    expect(usage(test, "/a")).toBe("count=1,bytes=0");
    // Only zxids and the parents' counters differ.
    expect(test.digest()).not.toBe(digest);
  });

  test("is that of the deepest quota only", () => {
    const test = withQuotas({ "/a": NO_LIMITS, "/a/b": NO_LIMITS }, { "/a": "", "/a/b": "" });
    test.commit(create("/a/b/c", { data: "1" }));
    test.commit(create("/a/x", { data: "22" }));
    expect([usage(test, "/a"), usage(test, "/a/b")]).toEqual(["count=3,bytes=2", "count=2,bytes=1"]);
  });

  test("continues from what a client wrote there, and from the truth where that is no usage", () => {
    const test = withQuotas({ "/a": NO_LIMITS }, { "/a": "" });
    test.commit(setData(`${QUOTA}/a/zookeeper_stats`, "count=100,bytes=5;mine=1"));
    expect(usage(test, "/a")).toBe("count=100,bytes=5;mine=1");
    test.commit(create("/a/b", { data: "1" }));
    expect(usage(test, "/a")).toBe("count=101,bytes=6=;mine=1");
    for (const text of ["nonsense", null]) {
      test.commit(setData(`${QUOTA}/a/zookeeper_stats`, text));
      expect(usage(test, "/a")).toBe(text);
      test.commit(setData("/a/b", "22"));
      expect(usage(test, "/a")).toBe("count=2,bytes=2");
    }
  });

  test("stands still while the limits are gone", () => {
    const test = withQuotas({ "/a": NO_LIMITS }, { "/a": "" });
    test.commit(remove(`${QUOTA}/a/zookeeper_limits`));
    test.commit(create("/a/b"));
    expect(usage(test, "/a")).toBe("count=1,bytes=0");
    test.commit(create(`${QUOTA}/a/zookeeper_limits`, { data: NO_LIMITS }));
    test.commit(create("/a/c"));
    expect(usage(test, "/a")).toBe("count=2,bytes=0");
  });

  test("is counted again after a load", () => {
    const test = withQuotas({ "/a": NO_LIMITS, "/a/b": NO_LIMITS }, { "/a": "1", "/a/b": "22" });
    test.commit(create("/a/b/c", { data: "333" }));
    const digest = test.digest();
    test.tree.loadSnapshot([...test.tree.snapshot()]);
    expect(test.digest()).toBe(digest);
    expect([usage(test, "/a"), usage(test, "/a/b")]).toEqual(["count=3,bytes=6", "count=2,bytes=5"]);
    test.commit(create("/a/d"));
    expect(usage(test, "/a")).toBe("count=4,bytes=6");
  });

  test("counts ephemerals that go with their session, and what is reaped", () => {
    const test = withQuotas({ "/a": NO_LIMITS }, { "/a": "" });
    test.proposeSession(1, 1);
    test.commit(create("/a/e", { flags: 1, data: "1" }));
    test.commit(create("/a/t", { op: OpCode.CREATE_TTL, flags: 5, ttlMs: 1 }));
    expect(usage(test, "/a")).toBe("count=3,bytes=1");
    test.proposeClose(1, 1);
    test.applyAll();
    test.proposeReaping(1e12);
    test.applyAll();
    expect(usage(test, "/a")).toBe("count=1,bytes=0");
  });

  test("of a path that does not exist yet is nothing, until it does", () => {
    const test = withQuotas({ "/later": NO_LIMITS });
    expect(usage(test, "/later")).toBe("count=0,bytes=0");
    test.commit(create("/later", { data: "1" }));
    expect(usage(test, "/later")).toBe("count=1,bytes=1");
  });

  test("is not shown by a node that took the place of a deleted one", () => {
    const test = withQuotas({ "/a": NO_LIMITS }, { "/a": "" });
    test.commit(remove(`${QUOTA}/a/zookeeper_stats`));
    test.commit(create("/new", { data: "mine" }));
    expect(test.data("/new")).toBe("mine");
  });
});

describe("a limit", () => {
  const codes = (test: TestTree, ...requests: readonly Parameters<TestTree["commit"]>[0][]) =>
    requests.map((request) => test.commit(request));
  const { OK, QUOTA_EXCEEDED } = ErrorCode;

  test("that is hard refuses the node or the byte that is one too many", () => {
    const limits = "count=-1,bytes=-1=;byteHardLimit=3;countHardLimit=3";
    const test = withQuotas({ "/a": limits }, { "/a": "" });
    expect(
      codes(
        test,
        create("/a/b", { data: "123" }),
        create("/a/c", { data: "4" }),
        create("/a/c"),
        create("/a/d"),
        setData("/a/c", "4"),
        setData("/a/b", "abc"),
        setData("/a/b", "ab"),
        setData("/a/c", "4"),
        remove("/a/c"),
        create("/a/d"),
      ),
    ).toEqual([OK, QUOTA_EXCEEDED, OK, QUOTA_EXCEEDED, QUOTA_EXCEEDED, OK, OK, OK, OK, OK]);
    expect(usage(test, "/a")).toBe("count=3,bytes=2");
    const refused = { kind: "quota", isHard: true, path: "/a", unit: "nodes", limit: 3, usage: 4 };
    expect(test.overQuota[1]).toEqual(refused);
  });

  test("that is soft is reported, and refuses nothing", () => {
    const test = withQuotas({ "/a": "count=1,bytes=2" }, { "/a": "" });
    expect(codes(test, create("/a/b", { data: "123" }))).toEqual([OK]);
    expect(test.overQuota).toEqual([
      { kind: "quota", isHard: false, path: "/a", unit: "nodes", limit: 1, usage: 2 },
      { kind: "quota", isHard: false, path: "/a", unit: "bytes", limit: 2, usage: 3 },
    ]);
  });

  test("is judged by what is applied, and data by what they will be", () => {
    const test = withQuotas({ "/a": "count=-1,bytes=-1=;byteHardLimit=3;countHardLimit=2" }, { "/a": "12" });
    // None of these is counted yet when the next is judged.
    expect([create("/a/b"), create("/a/c")].map((request) => test.propose(request))).toEqual([OK, OK]);
    // But the data that are replaced are those of the write before.
    expect([setData("/a", "123"), setData("/a", "1234")].map((request) => test.propose(request))).toEqual([OK, OK]);
    test.applyAll();
    expect(usage(test, "/a")).toBe("count=3,bytes=4");
    expect(codes(test, setData("/a", "abcd"), setData("/a", "abcde"))).toEqual([OK, QUOTA_EXCEEDED]);
  });

  test("comes behind all other reasons to refuse a create, and before the version of a setData", () => {
    const test = withQuotas({ "/a": "count=-1,bytes=-1=;byteHardLimit=0;countHardLimit=0" }, { "/a": "", "/a/b": "" });
    expect(test.commit(create("/a/b"))).toBe(ErrorCode.NODE_EXISTS);
    expect(test.commit(create("/a/x/y"))).toBe(ErrorCode.NO_NODE);
    expect(test.commit(create("/a/c"))).toBe(QUOTA_EXCEEDED);
    expect(test.commit(setData("/a/b", "1", 7))).toBe(QUOTA_EXCEEDED);
    expect(test.commit(setData("/a/x", "1", 7))).toBe(ErrorCode.NO_NODE);
  });

  test("that cannot be read refuses what it would judge, as in Apache", () => {
    const test = withQuotas({ "/a": "many" }, { "/a": "" });
    expect(codes(test, create("/a/b"), setData("/a", "1"))).toEqual([
      ErrorCode.MARSHALLING_ERROR,
      ErrorCode.MARSHALLING_ERROR,
    ]);
    expect(codes(test, setData(`${QUOTA}/a/zookeeper_limits`, NO_LIMITS), create("/a/b"))).toEqual([OK, OK]);
  });

  test("is read once for each version of its text", () => {
    let readCount = 0;
    class CountedStore extends NodeStore {
      override data(node: number, into: ByteSlice): void {
        readCount++;
        super.data(node, into);
      }
    }
    const store = new CountedStore({ k0: 1, k1: 7 });
    let id = 1;
    const write = (node: number, text: string): void => {
      store.setData(node, sliceOf(text).bytes, 0, text.length);
      store.setStatInt(node, StatOffset.version, store.statInt(node, StatOffset.version) + 1);
    };
    const add = (parent: number, name: string): number => {
      const { bytes, start, end } = sliceOf(name);
      return store.create(parent, bytes, start, end, ++id);
    };
    store.createRoot(1);
    const quotaOfA = add(add(add(ROOT, "zookeeper"), "quota"), "a");
    add(ROOT, "a");
    const limits = add(quotaOfA, "zookeeper_limits");
    add(quotaOfA, "zookeeper_stats");
    const quotas = new Quotas(store, new VirtualNodes());
    const judged = () => quotas.judge(sliceOf("/a/b"), 1, 0)?.length;
    write(limits, "count=1,bytes=-1");
    quotas.begin();
    readCount = 0;

    expect([judged(), judged(), judged(), readCount]).toEqual([1, 1, 1, 1]);
    write(limits, "count=2,bytes=-1");
    expect([judged(), judged(), readCount]).toEqual([0, 0, 2]);
    store.remove(limits);
    write(add(quotaOfA, "zookeeper_limits"), "nonsense");
    expect([judged(), judged(), readCount]).toEqual([undefined, undefined, 3]);
  });

  test("has a text of at most 1 KiB, as usage has", () => {
    const test = withQuotas({ "/a": NO_LIMITS }, { "/a": "" });
    test.commit(create(`${QUOTA}/b`));
    const { BAD_ARGUMENTS } = ErrorCode;
    for (const name of ["zookeeper_limits", "zookeeper_stats"]) {
      const data = `count=1,bytes=1,more=${"1".repeat(1024)}`;
      const short = data.slice(0, 1024);
      expect(codes(test, create(`${QUOTA}/b/${name}`, { data }), setData(`${QUOTA}/a/${name}`, data))).toEqual([
        BAD_ARGUMENTS,
        BAD_ARGUMENTS,
      ]);
      expect(codes(test, create(`${QUOTA}/b/${name}`, { data: short }), create(`/${name}`, { data }))).toEqual([
        OK,
        OK,
      ]);
      expect(codes(test, setData(`/${name}`, data), setData(`${QUOTA}/b`, data))).toEqual([OK, OK]);
    }
    expect(test.overQuota[0]).toEqual({ kind: "quota-text", sizeBytes: 1045, bytesMax: 1024 });
  });

  test("without a node for usage limits nothing", () => {
    const test = withQuotas({ "/a": "count=0,bytes=0=;byteHardLimit=0;countHardLimit=0" }, { "/a": "" });
    test.commit(remove(`${QUOTA}/a/zookeeper_stats`));
    expect(codes(test, create("/a/b", { data: "1" }))).toEqual([OK]);
  });

  test("of the whole tree cannot be made", () => {
    const test = new TestTree();
    expect(test.commit(create(`${QUOTA}/zookeeper_limits`, { data: NO_LIMITS }))).toBe(ErrorCode.BAD_ARGUMENTS);
  });

  test("means nothing unless quotas are enforced", () => {
    const test = withQuotas({ "/a": "count=0,bytes=0=;byteHardLimit=0;countHardLimit=0" }, { "/a": "" });
    Object.assign(test.context, { isQuotaEnforced: false });
    expect(codes(test, create("/a/b", { data: "1" }))).toEqual([OK]);
    expect(test.overQuota).toEqual([]);
  });

  test("is the truth again when a multi that wrote data is taken back", () => {
    const test = withQuotas({ "/a": "count=-1,bytes=-1=;byteHardLimit=10;countHardLimit=-1" }, { "/a": "12" });
    test.propose(setData("/a", "ab"));
    expect(test.proposeMulti([setData("/a", "x".repeat(9)), remove("/missing")])).toEqual([OK, ErrorCode.NO_NODE]);
    // From two bytes, not from nine: it is one more than may be.
    expect(test.propose(setData("/a", "x".repeat(11)))).toBe(QUOTA_EXCEEDED);
    test.applyAll();
    expect(test.stat("/a")).toMatchObject({ mzxid: EPOCH + 5, dataLength: 2 });
  });
});
